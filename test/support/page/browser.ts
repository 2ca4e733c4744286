/**
 * A headless Chromium for tests of the live page.
 *
 * Promises: without one, the suite is reported as not run, with the reason, never as passed; in CI
 * it fails instead. Any console output or page error fails the test.
 */
import { existsSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isContinuousIntegration } from '../../../tools/testbed/environment.ts';

/**
 * Debian's package chromium-headless-shell, which has no window to draw and takes half of the
 * processor time, or else its package chromium.
 */
const [SHELL, WHOLE] = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const CHROMIUM = existsSync(SHELL) ? SHELL : WHOLE;

/** Without these it contacts remote servers for updates and settings. */
const BROWSER_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** For what takes a second on calm cores. */
const PATIENT_MS = 120_000;

/** Starts it. The caller closes it. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: BROWSER_FLAGS, timeout: PATIENT_MS });

/** Why there is no browser here; undefined when there is one. */
export const browserProblem = existsSync(CHROMIUM)
  ? undefined
  : `neither "${SHELL}" nor "${WHOLE}" is there: install Debian's package chromium-headless-shell`;

/** A suite with its own browser. */
export const describeWithBrowser = (
  title: string,
  suite: (browser: () => Browser) => void,
): void => {
  if (browserProblem !== undefined) {
    const reason = browserProblem;
    if (isContinuousIntegration()) {
      describe(title, () => {
        it('must run in CI', () => expect.fail(reason));
      });
      return;
    }
    process.stderr.write(`NOT RUN: ${title}: ${reason}\n`);
    describe.skip(`${title} (not run: ${reason})`, () => {});
    return;
  }
  describe(title, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      browser = await startBrowser();
    });
    afterAll(async () => {
      await browser?.close();
    });
    suite(() => {
      if (browser === undefined) throw new Error('The browser is there only while tests run');
      return browser;
    });
  });
};

/** How a page is looked at. */
export interface Look {
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
}

/** A page, and what it complained of so far. The caller closes it. */
export interface ObservedPage {
  readonly page: Page;
  readonly complaints: readonly string[];
  readonly close: () => Promise<void>;
}

/** An empty page. */
export const emptyPage = async (browser: Browser, look: Look = {}): Promise<ObservedPage> => {
  const { scheme = 'light', width = 1500, height = 900 } = look;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
  context.setDefaultTimeout(PATIENT_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  return { page, complaints, close: () => context.close() };
};

/** Opens a page for one test; its complaints fail that test. */
export const openPage = async (browser: Browser, url: string, look: Look = {}): Promise<Page> => {
  const { page, complaints, close } = await emptyPage(browser, look);
  onTestFinished(async () => {
    await close();
    expect(complaints).toEqual([]);
  });
  await page.goto(url);
  return page;
};

/** Of axe's rules, those that the color scheme can break. */
const ABOUT_COLORS = {
  runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
};

const faultsBy = async (page: Page, rules: object): Promise<readonly string[]> => {
  const axe = new AxeBuilder({ page }).setLegacyMode()
    .options({ resultTypes: ['violations'], ...rules });
  const { violations } = await axe.analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
};

/**
 * Serious accessibility violations, by every rule. The page has no frames, so that it needs no
 * second page to join their results; and a rule that holds lists no elements, of which a page of
 * ten thousand actors has tens of thousands.
 */
export const seriousFaults = (page: Page): Promise<readonly string[]> => faultsBy(page, {});

/** Those of a page that is light, and those that it has when it becomes dark. */
export const seriousFaultsInBothSchemes = async (page: Page): Promise<readonly string[]> => {
  const whenLight = await seriousFaults(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  const whenDark = await faultsBy(page, ABOUT_COLORS);
  await page.emulateMedia({ colorScheme: 'light' });
  return [...whenLight, ...whenDark.map((fault) => `in the dark: ${fault}`)];
};
