/**
 * Runs a demo scenario while its live page follows one actor and everything is recorded.
 *
 * Promises: the page is open before the scenario reaches the actor, or as soon as it exists; the
 * operator itself makes the recording, not its page.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { RecordLine } from '../../../src/api/actor-record.ts';
import { DEMO_SCENARIOS } from '../../../src/cli/demo/demo-scenarios.ts';
import { routeIn } from '../../../src/web/page/address.ts';
import { freePort } from '../../../tools/testbed/ports.ts';
import { eventually } from '../eventually.ts';
import { spawnTidegate, type TidegateProcess } from '../processes/tidegate-child.ts';
import { emptyPage, type ObservedPage } from './browser.ts';
import { forgetLitStates, watchLitStates } from './lit-states.ts';
import { recordedLines } from './recorded-actors.ts';

/** Half a minute on an idle machine. */
const DEMO_MS = 240_000;

/** A running scenario. */
export interface FollowedDemo {
  readonly demo: TidegateProcess;
  readonly url: string;
  /** The page that follows, and the actor that it follows. */
  readonly page: Page;
  readonly actor: string;
  /** What the page complained of. */
  readonly complaints: readonly string[];
  /** The file that the operator records to, and what it has so far. */
  readonly recording: string;
  readonly lines: () => Promise<readonly RecordLine[]>;
}

/** Which scenario, and which actor to follow. */
export interface FollowOptions {
  readonly name: string;
  /** An address of the page: of the actor itself, or of a list on which it appears. */
  readonly address: string;
  /** The state that it passes while it is looked at; a list may be of those that are in it. */
  readonly passes: string;
  /** Called when the page shows the actor. */
  readonly onFollowed: (page: Page) => Promise<unknown>;
}

/** A started scenario. */
export interface BegunDemo {
  /** When the scenario has ended; everything is still up. Rejects when it failed. */
  readonly followed: Promise<FollowedDemo>;
  /** When `onFollowed` has returned, or will not be called any more. */
  readonly lookedAt: Promise<void>;
  readonly end: () => Promise<void>;
}

const answers = async (url: string): Promise<boolean> =>
  (await fetch(url).catch(() => undefined))?.ok === true;

/** Whether the actor that is shown is in this state. */
const isIn = async (page: Page, state: string): Promise<boolean> => {
  await page.locator('[data-state].lit').first().waitFor({ timeout: DEMO_MS });
  return await page.locator(`[data-state="${state}"].lit`).count() > 0;
};

/**
 * Opens the actor of the address, or one that appears in its list. When the list is of those in one
 * state, one that has left it before it is opened is left for the next one.
 */
const follow = async (
  page: Page,
  url: string,
  { address, passes }: Pick<FollowOptions, 'address' | 'passes'>,
): Promise<string> => {
  const isOfState = address.endsWith(`?state=${passes}`);
  for (;;) {
    await page.goto(url + address);
    const { actor } = routeIn(address);
    if (actor !== '') return actor;
    const found = await page.locator('.line a').last().getAttribute('href', { timeout: DEMO_MS });
    await page.goto(url + String(found));
    if (!isOfState || await isIn(page, passes)) return routeIn(String(found)).actor;
    await forgetLitStates(page);
  }
};

const followToEnd = async (
  options: FollowOptions,
  { demo, observed, url, recording }: {
    readonly demo: TidegateProcess;
    readonly observed: ObservedPage;
    readonly url: string;
    readonly recording: string;
  },
): Promise<FollowedDemo> => {
  const { name, onFollowed } = options;
  await eventually(() => answers(url), {
    what: `the page of ${name}`,
    timeoutMs: DEMO_MS,
    hopeless: () => demo.isRunning() ? undefined : 'the demo has ended',
  });
  const { page, complaints } = observed;
  await watchLitStates(page);
  const following = follow(page, url, options);
  const [actor] = await Promise.all([
    following,
    following.then(() => onFollowed(page)),
    demo.untilLog(({ msg }) => String(msg).includes(DEMO_SCENARIOS[name]?.conclusion ?? '?'), {
      what: `how ${name} ends`,
      timeoutMs: DEMO_MS,
    }),
  ]);
  return { demo, url, page, actor, complaints, recording, lines: () => recordedLines(recording) };
};

/** Starts a scenario. The caller ends it. */
export const beginDemo = async (browser: Browser, options: FollowOptions): Promise<BegunDemo> => {
  const { name } = options;
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-followed-'));
  const recording = join(folder, 'recording.jsonl');
  const url = `http://127.0.0.1:${await freePort()}/`;
  const observed = await emptyPage(browser);
  const demo = spawnTidegate({
    name: `demo ${name}`,
    args: [
      'demo',
      `--scenario=${name}`,
      '--serve',
      '--when-watched',
      `--inspect-addr=${new URL(url).host}`,
      `--record=${recording}`,
    ],
  });
  const { promise: lookedAt, resolve: onLookedAt } = Promise.withResolvers<void>();
  const followed = followToEnd({
    ...options,
    onFollowed: (page) => options.onFollowed(page).finally(onLookedAt),
  }, { demo, observed, url, recording });
  // The result reaches every awaiting caller; there may be none yet.
  followed.catch(() => onLookedAt());
  return {
    followed,
    lookedAt,
    end: async () => {
      await observed.close();
      await demo.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
