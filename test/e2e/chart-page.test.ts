/**
 * The chart of an actor in a browser: it opens legibly on the lit state, can be moved and zoomed,
 * and shows what happened last, what may happen next, and which delays run.
 *
 * With PAGE_PICTURES=docs/pictures the documentation's pictures are taken on the way.
 */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { NOW_MS } from '../support/board/board-scene.ts';
import { scenePage } from '../support/board/scene-page.ts';
import { RECLAIM, RETRYING } from '../support/board/scenes.ts';
import { describeWithBrowser, openPage, seriousFaults } from '../support/page/browser.ts';
import { savePicture } from '../support/page/picture.ts';

const PATIENT_MS = 60_000;
const soon = <Value>(look: () => Promise<Value>) => expect.poll(look, { timeout: PATIENT_MS });

const LAPTOP = { width: 1400, height: 900 };
const SMALLEST_PX = 11;
/** Less than the silence after which a page takes a stream for lost. */
const PAUSE_MS = 8000;

type Browser = Parameters<typeof openPage>[0];
type Look = Parameters<typeof openPage>[2];

const openedAt = async (
  browser: Browser,
  id: string,
  { look = LAPTOP, now = () => NOW_MS }: { readonly look?: Look; readonly now?: () => number } = {},
): Promise<Page> => {
  const page = await openPage(browser, `${await scenePage(RECLAIM, now)}#/${id}`, look);
  await page.locator('[data-state].lit').first().waitFor();
  return page;
};

/** Holds the answers to some requests of a page; returns what lets them go on. */
const held = async (page: Page, isHeld: (address: URL) => boolean): Promise<() => void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(isHeld, async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
};

/** Texts whose letters are smaller on the screen than they may be. */
const tinyTexts = (page: Page): Promise<readonly string[]> =>
  page.locator('body').evaluate((body, least) => {
    const sizeOf = (element: Element): number => {
      const size = parseFloat(getComputedStyle(element).fontSize);
      return element instanceof SVGGraphicsElement ? size * (element.getScreenCTM()?.a ?? 1) : size;
    };
    const texts = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
    const tiny: string[] = [];
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      const element = text.parentElement;
      if (element === null || (text.textContent ?? '').trim() === '') continue;
      if (element.closest('title, script, style') !== null) continue;
      if (sizeOf(element) < least - 0.1) tiny.push(`${sizeOf(element)}: ${text.textContent}`);
    }
    return tiny;
  }, SMALLEST_PX);

/** Where the middle of an element is, as a share of the drawing's visible part. */
const placeOf = (page: Page, selector: string): Promise<readonly [x: number, y: number]> =>
  page.locator(selector).first().evaluate((element): readonly [number, number] => {
    const box = element.getBoundingClientRect();
    const holder = document.querySelector('.drawing')?.getBoundingClientRect() ?? box;
    return [
      (box.left + box.width / 2 - holder.left) / holder.width,
      (box.top + box.height / 2 - holder.top) / holder.height,
    ];
  });

const widthOf = async (page: Page, selector: string): Promise<number> =>
  (await page.locator(selector).first().boundingBox())?.width ?? 0;

const middleOf = async (page: Page, selector: string) => {
  const { x = 0, y = 0, width = 0, height = 0 } =
    await page.locator(selector).first().boundingBox() ?? {};
  return { x: x + width / 2, y: y + height / 2 };
};

const LIT = '[data-state="heldUp.unsettled"].lit';

describeWithBrowser('the chart of an actor', (browser) => {
  it.each([RETRYING.id, 'nodeDrain/node-2', 'reclaimInstruction/reclaim-1'])(
    'opens %s on the lit state at 1400 px, and draws no text under 11 px',
    async (id) => {
      const page = await openedAt(browser(), id);
      const lit = page.locator('[data-state].lit');
      const places = await Promise.all(
        (await lit.all()).map((_, at) => placeOf(page, `:nth-match([data-state].lit, ${at + 1})`)),
      );
      expect(places.filter(([x, y]) => x > 0 && x < 1 && y > 0 && y < 1)).not.toEqual([]);
      expect(await tinyTexts(page)).toEqual([]);
    },
  );

  it('puts the only lit state into the middle', async () => {
    const page = await openedAt(browser(), RETRYING.id);
    const [x, y] = await placeOf(page, LIT);
    expect(Math.abs(x - 0.5)).toBeLessThan(0.1);
    expect(Math.abs(y - 0.5)).toBeLessThan(0.1);
    await savePicture(page, 'page-actor');
  });

  it('moves with the pointer, and does not take a drag for a click', async () => {
    const page = await openedAt(browser(), RETRYING.id);
    const from = await middleOf(page, LIT);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(from.x - 90, from.y - 40, { steps: 5 });
    await page.mouse.up();
    const to = await middleOf(page, LIT);
    expect([Math.round(to.x - from.x), Math.round(to.y - from.y)]).toEqual([-90, -40]);
    await page.goto(`${new URL(page.url()).origin}/#/podEviction`);
    await page.locator('[data-state].peopled').first().waitFor();
    await savePicture(page, 'page-overview');
    const box = await middleOf(page, '.drawing');
    await page.mouse.move(box.x, box.y);
    await page.mouse.down();
    await page.mouse.move(box.x - 60, box.y, { steps: 5 });
    await page.mouse.up();
    expect(page.url()).not.toContain('state=');
  });

  it('zooms with the wheel at the pointer, and back with a button', async () => {
    const page = await openedAt(browser(), RETRYING.id);
    const [before, width] = [await middleOf(page, LIT), await widthOf(page, LIT)];
    await page.mouse.move(before.x, before.y);
    await page.mouse.wheel(0, -100);
    await soon(() => widthOf(page, LIT)).toBeGreaterThan(width * 1.1);
    const after = await middleOf(page, LIT);
    expect(Math.hypot(after.x - before.x, after.y - before.y)).toBeLessThan(4);
    await page.mouse.wheel(0, 100);
    await page.mouse.wheel(0, 100);
    await soon(() => widthOf(page, LIT)).toBeLessThan(width);
    await page.getByRole('button', { name: '1:1, legible size' }).click();
    await soon(() => widthOf(page, LIT)).toBeCloseTo(width, 0);
  });

  it('has a minimap that shows and moves the visible part, unless all of it is visible', async () => {
    const page = await openedAt(browser(), RETRYING.id);
    const map = page.locator('.minimap');
    const [, before] = await placeOf(page, LIT);
    const { x = 0, y = 0, width = 0 } = await map.boundingBox() ?? {};
    const view = await page.locator('.minimap .view').boundingBox();
    expect(view?.width).toBeLessThan(width);
    await page.mouse.click(x + width / 2, y + 5);
    await soon(async () => (await placeOf(page, LIT))[1]).toBeGreaterThan(before);
    await page.goto(`${new URL(page.url()).origin}/#/actorRestart`);
    await page.locator('[data-state="backingOff"]').first().waitFor();
    await soon(() => map.isVisible()).toBe(false);
  });

  it('lights the last transition through states that only decide, and greys the next', async () => {
    const page = await openedAt(browser(), RETRYING.id);
    const arrows = (name: string) =>
      page.locator(`.arrow.${name}`).evaluateAll((all) =>
        all.map((arrow) => `${arrow.getAttribute('data-from')} ${arrow.getAttribute('data-to')}`)
      );
    await soon(() => arrows('taken')).toEqual([
      'calling evaluating',
      'evaluating heldUp.unsettled',
    ]);
    await page.goto(
      `${new URL(page.url()).origin}/#/podEviction/default/checkout-api-7f9c6d5b4-a3`,
    );
    await soon(() => arrows('next')).toEqual(['queued leavingBackends', 'queued calling']);
    const next = page.locator('.next-events');
    expect(await next.innerText()).toContain('eviction.dispatched → calling');
    const path = page.locator('.arrow.next > path').first();
    expect(await path.evaluate((drawn) => getComputedStyle(drawn).strokeDasharray)).not.toBe(
      'none',
    );
  });

  it('counts a running delay down in a ring, which ends with it', async () => {
    let nowMs = NOW_MS;
    const page = await openedAt(browser(), RETRYING.id, { now: () => nowMs });
    const ring = page.locator('.ring');
    const text = page.locator('.ring-text');
    await soon(() => text.textContent()).toBe('4s');
    expect(await page.locator('.next-events').innerText()).toMatch(/after recheckDelay.*\n?in 4s/);
    nowMs += 3000;
    await soon(() => text.textContent()).toBe('1s');
    const share = await page.locator('.ring-left').getAttribute('stroke-dasharray');
    expect(parseFloat(share ?? '')).toBeCloseTo(0.25);
    nowMs += 2000;
    await soon(() => ring.count()).toBe(0);
  });

  it('draws the ring when the connection and the drawing are there within one frame', async () => {
    const url = await scenePage(RECLAIM);
    const page = await openPage(browser(), 'about:blank', LAPTOP);
    await page.clock.install();
    const sendDrawing = await held(page, ({ pathname }) => pathname.startsWith('/charts/'));
    const connect = await held(page, ({ pathname, search }) => pathname + search === '/live');
    await page.goto(`${url}#/${RETRYING.id}`);
    await page.locator('.panel .ages').waitFor();
    await page.clock.pauseAt(await page.evaluate(() => Date.now()) + PAUSE_MS);
    connect();
    await page.locator('.connection.live').waitFor();
    const drawing = page.waitForResponse((response) => response.url().endsWith('.svg'));
    sendDrawing();
    await (await drawing).finished();
    await page.evaluate(async () => (await fetch('/catalogue.json')).text());
    await page.clock.resume();
    await page.locator('.ring').waitFor();
  });

  it.each(['light', 'dark'] as const)(
    'shows a reclaim as a waterfall without serious accessibility violations when it is %s',
    async (scheme) => {
      const page = await openedAt(browser(), 'reclaimInstruction/reclaim-1', {
        look: { ...LAPTOP, scheme },
      });
      await page.locator('.timeline').waitFor();
      const rows = page.locator('.timeline li');
      await soon(() => rows.count()).toBe(7);
      expect(await rows.locator('.bar.budget').count()).toBeGreaterThan(0);
      const overlaps = await rows.evaluateAll((all) =>
        all.slice(1).filter((row, at) =>
          row.getBoundingClientRect().top <
            (all[at]?.getBoundingClientRect().bottom ?? 0) - 1
        ).length
      );
      expect(overlaps).toBe(0);
      expect(await seriousFaults(page)).toEqual([]);
      await savePicture(page, scheme === 'light' ? 'page-drain' : 'page-drain-dark');
    },
  );
});
