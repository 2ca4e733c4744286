/**
 * The live page under a crowd: pictures a second in a real browser while ten thousand actors change
 * five hundred times a second, and what the page costs the process that it shows: processor time
 * for each event, and frames through the session of the same process, with the page open and
 * without.
 *
 * Not measured: a browser on another machine, and a screen that draws; Chromium runs headless, on
 * the cores that the process runs on.
 */
import process from 'node:process';
import type { Browser, Page } from 'playwright-core';
import { realTime } from '../../src/effects/real-time.ts';
import { type ActorCrowd, actorCrowd } from '../support/actor-crowd.ts';
import { browserProblem, startBrowser } from '../support/browser.ts';
import { median, say, sayFigure } from './measurement.ts';
import { type FedSession, startFedSession } from './session.ts';

const ACTORS = 10_000;
const CHANGES_PER_SECOND = 500;
const STEP_MS = 20;
const WATCHED_MS = 5000;
const ROUNDS = 5;
const EVENTS_PER_ROUND = 100_000;
const PAIRS = 7;
const FRAMES_AT_ONCE = 5_000;
const FRAME_BATCHES = 60;

/** Moves the crowd evenly until `stop` is called; what a busy process is late by is made up for. */
const keepMoving = (crowd: ActorCrowd): () => void => {
  let stop: () => void = () => {};
  let moved = 0;
  const startMs = realTime.monotonic();
  const step = (): void => {
    const due = Math.floor((realTime.monotonic() - startMs) * CHANGES_PER_SECOND / 1000);
    crowd.move(due - moved);
    moved = due;
    stop = realTime.schedule(STEP_MS, step);
  };
  step();
  return () => stop();
};

/** Pictures a second, and the longest time without one. */
const pictures = (page: Page, watchedMs: number) =>
  page.evaluate(
    (forMs) =>
      new Promise<{ readonly rate: number; readonly longestMs: number }>((resolve) => {
        let first = 0;
        let last = 0;
        let count = 0;
        let longestMs = 0;
        const drawn = (nowMs: number): void => {
          if (first === 0) first = nowMs;
          else longestMs = Math.max(longestMs, nowMs - last);
          last = nowMs;
          count += 1;
          if (nowMs - first < forMs) requestAnimationFrame(drawn);
          else resolve({ rate: (count - 1) * 1000 / (nowMs - first), longestMs });
        };
        requestAnimationFrame(drawn);
      }),
    watchedMs,
  );

const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Microseconds of processor time for each event that the crowd takes in. */
const costOfEvent = async (crowd: ActorCrowd): Promise<number> => {
  const costs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const beforeMs = processorMs();
    for (let done = 0; done < EVENTS_PER_ROUND; done += 1000) {
      crowd.move(1000);
      await new Promise<void>((resolve) => void realTime.schedule(0, resolve));
    }
    costs.push((processorMs() - beforeMs) * 1000 / EVENTS_PER_ROUND);
  }
  return median(costs);
};

const benchCost = async (): Promise<void> => {
  const plain = await actorCrowd(ACTORS, false);
  const plainUs = await costOfEvent(plain);
  await plain.close();
  const watched = await actorCrowd(ACTORS);
  const watchedUs = await costOfEvent(watched);
  await watched.close();
  const share = (watchedUs - plainUs) * CHANGES_PER_SECOND / 1e6;
  sayFigure('an event of an actor, not looked at', `${plainUs.toFixed(1)} µs`);
  sayFigure('the same on a board', `${watchedUs.toFixed(1)} µs`);
  sayFigure(
    `of a core, at ${CHANGES_PER_SECOND} changes a second`,
    `${(share * 100).toFixed(2)} %`,
    'aim: below 5 % of the throughput',
  );
};

/** A crowd that moves while frames go through the session; the frames by a second of processor. */
const pace = async (session: FedSession, crowd: ActorCrowd): Promise<number> => {
  const stop = keepMoving(crowd);
  const beforeMs = processorMs();
  await session.feed(FRAMES_AT_ONCE, FRAME_BATCHES);
  stop();
  return FRAMES_AT_ONCE * FRAME_BATCHES / (processorMs() - beforeMs) * 1000;
};

/** Frames with a page open, beside frames with none; pair by pair, so that both find the same. */
const benchThroughput = async (browser: Browser): Promise<void> => {
  const session = await startFedSession();
  const [unseen, seen] = [await actorCrowd(ACTORS, false), await actorCrowd(ACTORS)];
  const page = await browser.newPage({ viewport: { width: 1500, height: 900 } });
  const pairs: { readonly without: number; readonly open: number }[] = [];
  for (let pair = 0; pair <= PAIRS; pair += 1) {
    await page.goto('about:blank');
    const without = await pace(session, unseen);
    await page.goto(`${seen.url}#/podEviction/default/db-7`);
    await page.locator('.lit').first().waitFor();
    const open = await pace(session, seen);
    // The first pair finds code that is not compiled yet.
    if (pair > 0) pairs.push({ without, open });
  }
  await page.close();
  await Promise.all([unseen.close(), seen.close(), session.end()]);
  const shares = pairs.map(({ without, open }) => open / without * 100);
  const rate = (figures: readonly number[]): string =>
    `${Math.round(median(figures)).toLocaleString('en')}/s`;
  sayFigure('frames through the session, no page', rate(pairs.map(({ without }) => without)));
  sayFigure('frames through the session, page open', rate(pairs.map(({ open }) => open)));
  sayFigure(
    `throughput with a page, median of ${PAIRS} pairs`,
    `${median(shares).toFixed(1)} %`,
    `${Math.min(...shares).toFixed(1)} to ${Math.max(...shares).toFixed(1)} %; aim: above 95 %`,
  );
};

/** Prints the figures of the live page. */
export const benchPage = async (): Promise<void> => {
  say(`\npage: ${ACTORS} actors, ${CHANGES_PER_SECOND} changes a second`);
  await benchCost();
  if (browserProblem !== undefined) {
    say(`  not run in a browser: ${browserProblem}`);
    return;
  }
  const browser = await startBrowser();
  await benchThroughput(browser);
  const crowd = await actorCrowd(ACTORS);
  const stop = keepMoving(crowd);
  for (const [what, address] of [['all', '#/podEviction'], ['one', '#/podEviction/default/db-7']]) {
    const page = await browser.newPage({ viewport: { width: 1500, height: 900 } });
    await page.goto(crowd.url + address);
    await page.locator('[data-state]').first().waitFor();
    const beforeMs = processorMs();
    const { rate, longestMs } = await pictures(page, WATCHED_MS);
    sayFigure(`pictures a second, looking at ${what} (aim: 30)`, rate.toFixed(0));
    sayFigure('longest time between two pictures', `${longestMs.toFixed(0)} ms`);
    const share = (processorMs() - beforeMs) / WATCHED_MS;
    sayFigure('of a core, of the process that is looked at', `${(share * 100).toFixed(1)} %`);
    await page.close();
  }
  stop();
  await browser.close();
  await crowd.close();
};
