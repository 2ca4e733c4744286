/**
 * The stories of the demo: each comes true with nothing but this runtime, and the operator's live
 * page shows how it ended.
 */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { freePort } from '../../tools/testbed/ports.ts';
import { DEMO_SCENARIOS } from '../../src/cli/demo-scenarios.ts';
import { describeWithBrowser, openPage } from '../support/browser.ts';
import { startTidegate, type TidegateProcess } from '../support/tidegate-process.ts';

const PATIENT_MS = 60_000;
/** Half a minute, where nobody else wants the processor. */
const STORY_MS = 240_000;

/** A state that an actor of some machine comes into. */
interface Sight {
  readonly kind: string;
  readonly state: string;
}

/** What the page shows of each story when it is over. */
const SIGHTS: Readonly<Record<string, Sight>> = {
  'scale-up': { kind: 'nodeDrain', state: 'work.drained' },
  'tight-budget': { kind: 'nodeDrain', state: 'work.drained' },
  'outage': { kind: 'fleetSession', state: 'connected' },
  'stuck-node': { kind: 'nodeDrain', state: 'work.failed' },
};

const said = (demo: TidegateProcess): string =>
  demo.logs().map(({ msg }) => String(msg)).join('\n');

/** Opens an actor that is in a state, and sees that state lit. */
const seeLit = async (page: Page, url: string, { kind, state }: Sight): Promise<void> => {
  await page.goto(`${url}#/${kind}?state=${state}`);
  await page.locator('.line a').first().click({ timeout: PATIENT_MS });
  await page.locator(`[data-state="${state}"].lit, [data-state="${state}"].around`).first()
    .waitFor({ timeout: PATIENT_MS });
};

describeWithBrowser('the demo', (browser) => {
  it.each(Object.entries(DEMO_SCENARIOS))(
    'tells the story "%s" to its end, and the live page shows how it ended',
    async (name, { title, moral }) => {
      const url = `http://127.0.0.1:${await freePort()}/`;
      const demo = startTidegate({
        name: `demo ${name}`,
        args: ['demo', `--scenario=${name}`, '--serve', `--inspect-addr=${new URL(url).host}`],
      });
      await demo.untilLog(({ msg }) => String(msg).includes(moral), {
        what: 'how the story ends',
        timeoutMs: STORY_MS,
      });
      expect(said(demo)).toContain(title);
      const sight = SIGHTS[name];
      if (sight === undefined) throw new Error(`Nobody says what the page shows of "${name}"`);
      const page = await openPage(browser(), url);
      await seeLit(page, url, sight);
      await page.goto('about:blank');
      await demo.stop();
      expect(await demo.exited).toBe(0);
    },
  );
});
