/**
 * The time scrubber in a browser: the page as it was, by mouse and by key, and back; the last
 * minutes as a recording that a replay opens.
 *
 * With PAGE_PICTURES=docs/pictures the documentation's pictures are taken on the way.
 */
import process from 'node:process';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { runReplay } from '../../src/cli/replay/replay.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { MOMENTS, pastPage } from '../support/page/past-page.ts';
import {
  describeWithBrowser,
  openPage,
  seriousFaultsInBothSchemes,
} from '../support/page/browser.ts';
import { scenePage } from '../support/board/scene-page.ts';
import { STUCK } from '../support/board/scenes.ts';
import { PLAIN_TERMINAL } from '../support/terminal/plain-terminal.ts';

const PATIENT_MS = 60_000;
const soon = <Value>(look: () => Promise<Value>) => expect.poll(look, { timeout: PATIENT_MS });

const picture = async (page: Page, name: string): Promise<void> => {
  const folder = process.env['PAGE_PICTURES'];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
};

const slider = (page: Page) => page.getByRole('slider', { name: 'Moment that the page shows' });
const spoken = (page: Page) => slider(page).getAttribute('aria-valuetext');
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const headline = (page: Page) => page.locator('.headline').innerText();

const opened = async (
  browser: Parameters<typeof openPage>[0],
  look: Parameters<typeof openPage>[2] = {},
) => {
  const past = await pastPage();
  const page = await openPage(browser, past.url, look);
  await slider(page).waitFor();
  return { ...past, page };
};

/** Moves the thumb, as a drag does. */
const drag = (page: Page, atMs: number): Promise<void> => slider(page).fill(String(atMs));

describeWithBrowser('the time scrubber', (browser) => {
  it('shows the board, the lists and the chart as they were, and returns to live', async () => {
    const { page, url } = await opened(browser());
    expect(await headline(page)).toBe('No node drains. No action needed.');
    await drag(page, MOMENTS.blockedMs + 1000);
    await soon(() => headline(page)).toContain('needs a person. 1 node drains.');
    expect(await page.locator('.card .badge').innerText()).toBe('Blocked');
    expect(await page.locator('.connection').innerText()).toBe('in the past');
    expect(await page.title()).not.toContain('(1)');
    await picture(page, 'page-past');

    await page.goto(`${url}#/podEviction/default/a`);
    await soon(() => page.locator('[data-state].lit').first().getAttribute('data-state'))
      .toBe('asking');
    await drag(page, MOMENTS.endedMs + 1);
    await soon(() => page.locator('[data-state].lit').first().getAttribute('data-state'))
      .toBe('gone');
    await drag(page, MOMENTS.beganMs - 1);
    await soon(() => page.locator('.panel p').first().innerText()).toContain('No such actor');
    await page.goto(`${url}#/nodeDrain/node-1`);
    await drag(page, MOMENTS.blockedMs);
    await soon(() => page.locator('.timeline-rows li').count()).toBeGreaterThan(1);
    expect(await page.locator('.timeline .axis').innerText()).toContain('11:57:00');

    await button(page, /^Live/).click();
    await soon(() => page.locator('.connection').innerText()).toBe('live');
    await soon(() => page.locator('.panel .now b').last().innerText()).toBe('drained');
  });

  it('moves by key: seconds, changes, milestones, the ends, and back to live', async () => {
    const { page } = await opened(browser());
    await slider(page).focus();
    await page.keyboard.press('ArrowLeft');
    expect(await spoken(page)).toBe('11:59:59.000, 1s ago');
    await page.keyboard.press('PageDown');
    await page.keyboard.press('ArrowRight');
    expect(await spoken(page)).toBe('11:59:50.000, 10s ago');
    await page.keyboard.press(',');
    await soon(() => spoken(page)).toBe('11:59:00.000, 1m ago');
    await page.keyboard.press(',');
    await soon(() => spoken(page)).toBe('11:57:00.000, 3m ago');
    await page.keyboard.press(',');
    await page.keyboard.press('.');
    await page.keyboard.press('.');
    await soon(() => spoken(page)).toBe('11:59:00.000, 1m ago');
    await page.keyboard.press('Home');
    expect(await spoken(page)).toBe('11:55:00.000, 5m ago');
    await page.keyboard.press('L');
    expect(await spoken(page)).toBe('live');
    await page.locator('main').click();
    await page.keyboard.press(',');
    await soon(() => spoken(page)).toBe('11:59:00.000, 1m ago');
    await page.keyboard.press('l');
    expect(await spoken(page)).toBe('live');
  });

  it('jumps to where drains began, were blocked and ended', async () => {
    const { page } = await opened(browser());
    const milestones = page.locator('.milestones');
    expect(await milestones.getAttribute('aria-label'))
      .toBe('In this history: 1 drain began, 1 drain blocked, 1 drain ended');
    await button(page, 'Previous milestone: the drain of node-1 ended at 11:59:00').click();
    await button(page, 'Previous milestone: the drain of node-1 was blocked at 11:57:00').click();
    await soon(() => page.locator('.card .badge').innerText()).toBe('Blocked');
    await button(page, 'Previous milestone: the drain of node-1 began at 11:56:00').click();
    await soon(() => page.locator('.card .badge').innerText()).toBe('Draining');
    expect(await button(page, 'Previous milestone: none').isDisabled()).toBe(true);
  });

  it('pauses, plays at a speed, and is live when it has caught up', async () => {
    const { page } = await opened(browser());
    await button(page, 'Pause').click();
    await soon(() => page.locator('.connection').innerText()).toBe('in the past');
    await drag(page, MOMENTS.nowMs - 40_000);
    await page.getByLabel('Speed').selectOption('20');
    await button(page, 'Play').click();
    await soon(() => page.locator('.connection').innerText()).toBe('live');
    expect(await spoken(page)).toBe('live');
  });

  it('goes on with what happens while the past is shown', async () => {
    const { page, clock } = await opened(browser());
    await drag(page, MOMENTS.blockedMs);
    await soon(() => headline(page)).toContain('needs a person');
    clock.nowMs += 60_000;
    await soon(() => spoken(page)).toBe('11:57:00.000, 4m ago');
    expect(await headline(page)).toContain('needs a person');
  });

  it('downloads a recording that a replay opens', async () => {
    const { page, board } = await opened(browser());
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the last ten minutes' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('tidegate-2026-01-01T12-00-00Z.jsonl');
    const printed: string[] = [];
    const reported: string[] = [];
    const code = await runReplay({
      file: await download.path(),
      until: undefined,
      actor: undefined,
      format: 'json',
      inspectAddress: undefined,
      speed: '1',
    }, {
      print: (text) => void printed.push(text),
      report: (line) => void reported.push(line),
      ...PLAIN_TERMINAL,
    }, realTime);
    expect([code, reported]).toEqual([0, []]);
    expect(JSON.parse(printed.join('')).actors).toEqual(board.rows());
  });

  it.each([1500, 390])('is accessible and inside a window of %i px', async (width) => {
    const { page } = await opened(browser(), { width });
    expect(await seriousFaultsInBothSchemes(page)).toEqual([]);
    await drag(page, MOMENTS.blockedMs);
    await soon(() => headline(page)).toContain('needs a person');
    expect(await seriousFaultsInBothSchemes(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    if (width === 390) await picture(page, 'page-past-390');
  });

  it('is not there for a process without a history', async () => {
    const page = await openPage(browser(), await scenePage(STUCK));
    await page.locator('.headline').waitFor();
    expect(await page.locator('.scrubber').count()).toBe(0);
  });
});
