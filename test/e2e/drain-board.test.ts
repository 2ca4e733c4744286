/**
 * The drain board in a browser: its first screen answers what is stuck, why, and who can act, on
 * any width, without a click.
 *
 * With PAGE_PICTURES=docs/pictures the documentation's pictures are taken on the way.
 */
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { SceneActor } from '../support/board/board-scene.ts';
import { scenePage } from '../support/board/scene-page.ts';
import { CROWD, FAILED, MANY, NODE, STUCK, UNREACHABLE } from '../support/board/scenes.ts';
import {
  describeWithBrowser,
  openPage,
  seriousFaults,
  seriousFaultsInBothSchemes,
} from '../support/page/browser.ts';
import { answersOnFirstScreen, isOnFirstScreen } from '../support/page/first-screen.ts';
import { savePicture } from '../support/page/picture.ts';

const NARROW = { width: 390, height: 844 };
const PATIENT_MS = 60_000;
const soon = <Value>(look: () => Promise<Value>) => expect.poll(look, { timeout: PATIENT_MS });

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

/** What reaches beyond an element, and would be cut off; its list scrolls down. */
const cutOffIn = (page: Page, selector: string): Promise<readonly string[]> =>
  page.locator(selector).first().evaluate((element) => {
    const { right, bottom } = element.getBoundingClientRect();
    return [...element.querySelectorAll('*')].filter((inner) => {
      const box = inner.getBoundingClientRect();
      const isBelow = inner.closest('li') === null && box.bottom > bottom + 1;
      return box.right > right + 1 || isBelow;
    }).map((inner) => inner.textContent);
  });

/** Whether its list is scrolled to it. */
const isWithinList = (option: Locator): Promise<boolean> =>
  option.evaluate((element) => {
    const list = element.closest('ul')?.getBoundingClientRect();
    return list !== undefined && element.getBoundingClientRect().bottom <= list.bottom + 1;
  });

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
  it.each(
    [
      ['a budget that never opens', 'board-stuck', STUCK, {
        look: {},
        answers: ['4 pods cannot leave: budget default/db', 'The owner of the application'],
      }],
      ['a budget that never opens, 390 px wide', 'board-390', STUCK, {
        look: NARROW,
        answers: ['4 pods cannot leave: budget default/db', 'The owner of the application'],
      }],
      ['a budget that never opens, in the dark', 'board-dark', STUCK, {
        look: { scheme: 'dark' },
        answers: ['4 pods cannot leave: budget default/db', 'The owner of the application'],
      }],
      ['a failed drain', 'board-failed', FAILED, {
        look: {},
        answers: ['The deadline passed first: 2 pods remain', 'The owner of the application'],
      }],
      ['an unreachable shard', 'board-unreachable', UNREACHABLE, {
        look: {},
        answers: ['ECONNREFUSED', 'The platform team'],
      }],
      ['10,000 actors', 'board-10000', CROWD, {
        look: {},
        answers: ['100 pods cannot leave: budget default/db', 'The owner of the application'],
      }],
    ] as const,
  )(
    'answers what is stuck, why and who can act on its first screen: %s',
    async (_, name, scene, { look, answers }) => {
      const page = await opened(browser(), scene, look);
      expect(await answersOnFirstScreen(page)).toEqual([]);
      for (const answer of answers) {
        expect([answer, await isOnFirstScreen(page.getByText(answer))]).toEqual([answer, true]);
      }
      expect(await collisions(page, '.card, .headline, .health li')).toEqual([]);
      expect(await cutOff(page)).toEqual([]);
      expect(await seriousFaults(page)).toEqual([]);
      await savePicture(page, name);
    },
  );

  it.each(
    [
      ['Ok', [], /^Tidegate/, '#1f7a4d'],
      ['Waiting', MANY.slice(0, 6), /^Tidegate/, '#0b6a78'],
      ['Blocked', STUCK, /^\(1\) Tidegate/, '#c96a00'],
      ['Failed', FAILED, /^\(1\) Tidegate/, '#b3261e'],
    ] as const,
  )(
    'has the color of the severity %s in its headline and in the icon of its window',
    async (severity, scene, title, color) => {
      const page = await opened(browser(), scene);
      expect(await page.locator('.headline').getAttribute('class')).toContain(
        severity.toLowerCase(),
      );
      await soon(() => page.title()).toMatch(title);
      const icon = await page.locator('link[rel=icon]').getAttribute('href');
      expect(decodeURIComponent(icon ?? '')).toContain(color);
    },
  );

  it('says of a drain what the board says, in its panel and in the list', async () => {
    const page = await opened(browser(), STUCK);
    await page.goto(`${new URL(page.url()).origin}/#/nodeDrain`);
    await soon(() => page.locator('.line', { hasText: 'ip-10-42' }).innerText())
      .toContain('BudgetNeverAllows');
    await page.locator('.line a', { hasText: 'ip-10-42' }).click();
    await soon(() => page.locator('.panel .why').innerText())
      .toMatch(/budget default\/db never allows.*The owner of the application/s);
  });

  it('goes to any view or actor by a few letters', async () => {
    const page = await opened(browser(), STUCK);
    await page.keyboard.press('Control+k');
    const options = page.getByRole('option');
    await soon(() => options.count()).toBeGreaterThan(10);
    await savePicture(page, 'board-palette');
    expect(await cutOffIn(page, '.palette')).toEqual([]);
    const count = await options.count();
    for (let down = 1; down < count; down += 1) await page.keyboard.press('ArrowDown');
    await soon(() => options.last().getAttribute('aria-selected')).toBe('true');
    await soon(() => isWithinList(options.last())).toBe(true);
    await page.keyboard.type('no such thing');
    await soon(() => page.locator('.palette .hints').innerText()).toContain(
      'Nothing has this name',
    );
    await page.keyboard.press('Control+a');
    await page.keyboard.type('node drain node-2');
    await soon(() => options.count()).toBe(1);
    expect(await seriousFaults(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await soon(() => page.locator('.panel h2').innerText()).toContain('node-2');
  });

  it('has no serious accessibility violations when it is light or dark', async () => {
    for (const scene of [STUCK, FAILED, UNREACHABLE, MANY.slice(0, 12)]) {
      const page = await opened(browser(), scene);
      expect(await seriousFaultsInBothSchemes(page)).toEqual([]);
      await page.close();
    }
  });

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
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    expect(await copied()).toMatch(/^kubectl patch pdb db/);
    await page.keyboard.press('y');
    await soon(copied).toBe(NODE);
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
    const name = page.locator('.line .middle').first();
    expect(await name.getAttribute('title')).toBe(await name.textContent());
  });

  it('names a demand by its pod, and statecharts Lifecycles', async () => {
    const page = await opened(browser(), [{
      id: 'podDemand/0f3c',
      state: 'waiting',
      context: { pod: { uid: '0f3c', namespace: 'shop', name: 'cart-7f9c-abcde' } },
    }]);
    await page.goto(`${new URL(page.url()).origin}/#/podDemand`);
    await soon(() => page.locator('.line .middle').first().getAttribute('title'))
      .toBe('shop/cart-7f9c-abcde');
    expect(await page.locator('.kinds h2').innerText()).toBe('Lifecycles');
  });

  it('draws only so many cards, and says how many more there are', async () => {
    const page = await opened(browser(), MANY);
    expect(await page.locator('.card').count()).toBe(30);
    expect(await page.locator('.card').first().locator('.dot').count()).toBe(40);
    expect(await collisions(page, '.card')).toEqual([]);
  });
});
