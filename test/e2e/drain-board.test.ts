/**
 * The drain board in a browser: its first screen answers what is stuck, why, and who can act, on
 * any width, without a click.
 *
 * With PAGE_PICTURES=docs/pictures the documentation's pictures are taken on the way.
 */
import process from 'node:process';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { SceneActor } from '../support/board/board-scene.ts';
import { MANY, scenePage, STUCK, UNREACHABLE } from '../support/board/scene-page.ts';
import { describeWithBrowser, openPage, seriousFaults } from '../support/page/browser.ts';

const NARROW = { width: 390, height: 844 };
const PATIENT_MS = 60_000;
const soon = <Value>(look: () => Promise<Value>) => expect.poll(look, { timeout: PATIENT_MS });

const picture = async (page: Page, name: string): Promise<void> => {
  const folder = process.env['PAGE_PICTURES'];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
};

/** Pairs of elements that cover one another, and elements that are wider than the window. */
const collisions = (page: Page, selector: string): Promise<readonly string[]> =>
  page.locator(selector).evaluateAll((elements) => {
    const boxes = elements.map((element) => element.getBoundingClientRect());
    const wide = boxes.flatMap(({ right }, at) =>
      right > innerWidth + 1 ? [`${at} ends at ${right}`] : []
    );
    const over = boxes.flatMap((one, at) =>
      boxes.slice(at + 1).flatMap((other, after) =>
        one.left < other.right - 1 && other.left < one.right - 1 &&
          one.top < other.bottom - 1 && other.top < one.bottom - 1
          ? [`${at} and ${at + 1 + after}`]
          : []
      )
    );
    return [...wide, ...over];
  });

/** What reaches beyond its card, and would be cut off. */
const cutOff = (page: Page): Promise<readonly string[]> =>
  page.locator('.card').evaluateAll((cards) =>
    cards.flatMap((card) => {
      const { right } = card.getBoundingClientRect();
      return [...card.querySelectorAll('.middle, .deadline, .command, dd')]
        .filter((inner) => inner.getBoundingClientRect().right > right)
        .map((inner) => inner.textContent);
    })
  );

const isOnScreen = async (page: Page, text: string): Promise<boolean> => {
  const box = await page.getByText(text).first().boundingBox();
  const { height = 0 } = page.viewportSize() ?? {};
  return box !== null && box.y >= 0 && box.y + box.height <= height;
};

const opened = async (
  browser: Parameters<typeof openPage>[0],
  scene: readonly SceneActor[],
  look: Parameters<typeof openPage>[2] = {},
): Promise<Page> => {
  const page = await openPage(browser, await scenePage(scene), look);
  await page.locator('.headline').waitFor();
  return page;
};

describeWithBrowser('the drain board', (browser) => {
  it.each([['wide', {}], ['390 px wide', NARROW]] as const)(
    'answers what is stuck, why and who can act on a first screen that is %s',
    async (width, look) => {
      const page = await opened(browser(), STUCK, look);
      const first = page.locator('.card').first();
      expect(await first.locator('h3 a').getAttribute('data-item')).toContain('ip-10-42-117-203');
      for (const answer of ['4 pods cannot leave: budget default/db', 'The owner of the appl']) {
        expect([answer, await isOnScreen(page, answer)]).toEqual([answer, true]);
      }
      expect(await collisions(page, '.card, .headline, .health li')).toEqual([]);
      expect(await cutOff(page)).toEqual([]);
      expect(await page.title()).toMatch(/^\(1\) /);
      await picture(page, width === 'wide' ? 'board-stuck' : 'board-390');
    },
  );

  it('shows a shard that cannot be reached first, with the reason and who can act', async () => {
    const page = await opened(browser(), UNREACHABLE);
    const card = page.locator('.card').first();
    expect(await card.innerText()).toContain('ECONNREFUSED');
    expect(await card.locator('.who').innerText()).toBe('The platform team');
    await picture(page, 'board-unreachable');
  });

  it.each(['light', 'dark'] as const)(
    'has no serious accessibility violations when it is %s',
    async (scheme) => {
      for (const scene of [STUCK, UNREACHABLE, MANY.slice(0, 12)]) {
        const page = await opened(browser(), scene, { scheme });
        expect(await seriousFaults(page)).toEqual([]);
        await page.close();
      }
      const page = await opened(browser(), STUCK, { scheme });
      await page.locator('.card h3 a').first().click();
      await page.locator('.timeline').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
    },
  );

  it('moves from card to card by key, and has the command of each', async () => {
    const page = await opened(browser(), STUCK);
    const current = () =>
      page.evaluate(() =>
        document.activeElement instanceof HTMLElement
          ? document.activeElement.dataset['command'] ?? ''
          : ''
      );
    await page.keyboard.press('j');
    expect(await current()).toMatch(/^kubectl patch pdb db/);
    await page.keyboard.press('ArrowDown');
    expect(await current()).toBe('kubectl describe node node-2');
    await page.keyboard.press('k');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.keyboard.press('x');
    await soon(() => page.locator('.notice').innerText()).toMatch(/kubectl patch pdb db/);
    await page.keyboard.press('Enter');
    await soon(() => page.locator('.panel').count()).toBe(1);
  });

  it('shows an actor above everything else on a narrow screen', async () => {
    const page = await opened(browser(), STUCK, { width: 1100, height: 900 });
    await page.locator('.card h3 a').first().click();
    const panel = await page.locator('.panel').boundingBox();
    const main = await page.locator('main').boundingBox();
    expect(panel?.y).toBeLessThan(main?.y ?? 0);
  });

  it('lists rows that neither overlap nor lose the end of a name', async () => {
    const page = await opened(browser(), MANY, NARROW);
    await page.goto(`${new URL(page.url()).origin}/#/podEviction`);
    await page.locator('.line').first().waitFor();
    expect(await collisions(page, '.line')).toEqual([]);
    const tail = page.locator('.line .middle-tail').first();
    expect(await tail.evaluate((element) => element.scrollWidth <= element.clientWidth + 1))
      .toBe(true);
  });

  it('draws only so many cards, and says how many more there are', async () => {
    const page = await opened(browser(), MANY);
    expect(await page.locator('.card').count()).toBe(30);
    expect(await page.locator('.card').first().locator('.dot').count()).toBe(40);
    expect(await collisions(page, '.card')).toEqual([]);
  });
});
