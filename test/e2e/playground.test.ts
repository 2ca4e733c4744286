/**
 * The playground in a browser, as a file: it runs statecharts, takes faults, keeps what was fired
 * in its address, and asks no network.
 *
 * With PAGE_PICTURES=docs/pictures the documentation's pictures are taken on the way.
 */
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { runReplay } from '../../src/cli/replay/replay.ts';
import { realTime } from '../../src/effects/real-time.ts';
import {
  describeWithBrowser,
  openPage,
  seriousFaultsInBothSchemes,
} from '../support/page/browser.ts';
import { PLAIN_TERMINAL } from '../support/terminal/plain-terminal.ts';

const FILE = `file://${fileURLToPath(new URL('../../docs/playground.html', import.meta.url))}`;
const POD = '#/podEviction/default/db-0';
const PATIENT_MS = 60_000;
const soon = <Value>(look: () => Promise<Value>) => expect.poll(look, { timeout: PATIENT_MS });

const picture = async (page: Page, name: string): Promise<void> => {
  const folder = process.env['PAGE_PICTURES'];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
};

const choose = (page: Page, name: RegExp): Promise<void> =>
  page.locator('.choices').getByRole('button', { name }).click();
const lit = (page: Page): Promise<readonly string[]> =>
  page.locator('[data-state].lit')
    .evaluateAll((all) => all.map((one) => one.getAttribute('data-state') ?? ''));
const fired = (page: Page): Promise<string> => page.locator('.fired').innerText();

describeWithBrowser('the playground', (browser) => {
  it('runs a statechart: fires events, answers its calls, and injects faults', async () => {
    const page = await openPage(browser(), FILE);
    await page.getByLabel('Actor', { exact: true }).selectOption({
      label: 'A pod behind a budget',
    });
    await soon(() => lit(page)).toEqual(['queued']);
    await choose(page, /dispatcher sends/);
    await soon(() => lit(page)).toEqual(['calling']);
    await choose(page, /^403: an admission webhook/);
    await soon(() => lit(page)).toEqual(['heldUp.refusedByPolicy']);
    await soon(() => page.locator('.panel .why').innerText()).toContain('PolicyRefused');
    await picture(page, 'playground');
    await choose(page, /^refusal backoff/);
    await soon(() => lit(page)).toEqual(['queued']);
    expect(await fired(page)).toBe('3 events fired');
  });

  it('shares what was fired by its address, and goes back', async () => {
    const page = await openPage(browser(), FILE + POD);
    await choose(page, /dispatcher sends/);
    await choose(page, /^503/);
    await soon(() => lit(page)).toEqual(['heldUp.backingOff']);
    const address = page.url();
    expect(address).toContain('trace=0.0!0.19');

    const other = await openPage(browser(), address);
    await soon(() => lit(other)).toEqual(['heldUp.backingOff']);
    await other.getByRole('button', { name: 'Undo' }).click();
    await soon(() => lit(other)).toEqual(['calling']);
    await other.getByRole('link', { name: 'Drain board' }).click();
    await other.locator('.card').waitFor();
    expect(other.url()).toContain('trace=0.0');
    await other.getByRole('button', { name: 'Start over' }).click();
    await soon(() => fired(other)).toBe('0 events fired');
    expect(other.url()).not.toContain('trace');
  });

  it('shows its past, in which nothing can be fired', async () => {
    const page = await openPage(browser(), `${FILE}${POD}?trace=0.0!0.19`);
    await soon(() => lit(page)).toEqual(['heldUp.backingOff']);
    await page.keyboard.press(',');
    await soon(() => lit(page)).toEqual(['calling']);
    await page.keyboard.press(',');
    await page.keyboard.press('.');
    await soon(() => lit(page)).toEqual(['calling']);
    expect(await page.locator('.choices button').first().isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Return to the present' }).click();
    await soon(() => lit(page)).toEqual(['heldUp.backingOff']);
  });

  it('hands out a recording that a replay opens', async () => {
    const page = await openPage(browser(), `${FILE}${POD}?trace=0.0!0.19`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the last ten minutes' }).click(),
    ]);
    const printed: string[] = [];
    const code = await runReplay({
      file: await download.path(),
      until: undefined,
      actor: undefined,
      format: 'table',
      inspectAddress: undefined,
      speed: '1',
    }, {
      print: (text) => void printed.push(text),
      report: (line) => expect.fail(line),
      ...PLAIN_TERMINAL,
    }, realTime);
    expect(code).toBe(0);
    expect(printed.join('')).toMatch(/podEviction\/default\/db-0 +heldUp\.backingOff/);
  });

  it('asks no network, and may not', async () => {
    const page = await openPage(browser(), 'about:blank');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(FILE + POD);
    await soon(() => lit(page)).toEqual(['queued']);
    expect(asked.filter((url) => !url.startsWith('data:'))).toEqual([FILE]);
    expect(await page.locator('meta[http-equiv]').getAttribute('content'))
      .toMatch(/^default-src 'none';(?!.*connect-src)/);
  });

  it.each([1500, 390])('is accessible and inside a window of %i px', async (width) => {
    const page = await openPage(browser(), FILE, { width });
    await page.locator('.card').waitFor();
    expect(await seriousFaultsInBothSchemes(page)).toEqual([]);
    await page.goto(FILE + POD);
    await soon(() => lit(page)).toEqual(['queued']);
    expect(await seriousFaultsInBothSchemes(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    if (width === 390) await picture(page, 'playground-390');
  });
});
