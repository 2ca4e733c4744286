/**
 * The live page with many actors: frames per second in a real browser while ten thousand actors of
 * a hundred drains change five hundred times a second, and the page's cost to its process: CPU time
 * per event, and session throughput of the same process with the page open and closed.
 *
 * Not measured: a browser on another machine, and a physical display; Chromium runs headless, on
 * the same cores as the process.
 */
import process from 'node:process';
import type { Browser, Page } from 'playwright-core';
import { realTime } from '../../src/effects/real-time.ts';
import { type ActorCrowd, actorCrowd } from '../support/page/actor-crowd.ts';
import { browserProblem, startBrowser } from '../support/page/browser.ts';
import { median, print, printFigure } from './measurement.ts';
import { type FedSession, startFedSession } from './session.ts';

const ACTORS = 10_000;
const CHANGES_PER_SECOND = 500;
const STEP_MS = 20;
const WATCHED_MS = 5000;
const ROUNDS = 5;
const EVENTS_PER_ROUND = 100_000;
const WATCHED = 'podEviction/default/db-7';
const VIEWS = [
  ['the drain board', '#/', '.card'],
  ['all', '#/podEviction', '[data-state]'],
  ['one', `#/${WATCHED}`, '[data-state]'],
] as const;
const FRAMES_AT_ONCE = 5_000;
const FRAME_BATCHES = 40;

/** Sends events at a constant rate until `stop` is called; catches up after delays. */
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
  printFigure('an event of an actor, without observers', `${plainUs.toFixed(1)} µs`);
  printFigure('the same on a board', `${watchedUs.toFixed(1)} µs`);
  printFigure(
    `of a core, at ${CHANGES_PER_SECOND} changes a second`,
    `${(share * 100).toFixed(2)} %`,
    'aim: below 5 % of the throughput',
  );
};

/** A crowd that moves while frames go through the session; the frames by a second of processor. */
const feed = async (session: FedSession, crowd: ActorCrowd): Promise<number> => {
  const stop = keepMoving(crowd);
  const beforeMs = processorMs();
  await session.feed(FRAMES_AT_ONCE, FRAME_BATCHES);
  stop();
  return FRAMES_AT_ONCE * FRAME_BATCHES / (processorMs() - beforeMs) * 1000;
};

/** Opens a page's streams without rendering. */
const readOnly = async (page: Page, url: string): Promise<void> => {
  await page.goto(`${url}page.css`);
  await page.evaluate(
    (actor) =>
      new Promise<void>((resolve) => {
        const streams = ['/live', `/live?actor=${actor}`].map((path) => new EventSource(path));
        streams.at(-1)?.addEventListener('actor', () => resolve());
      }),
    WATCHED,
  );
};

/** Opens the page as a person does. */
const draw = async (page: Page, url: string): Promise<void> => {
  await page.goto(`${url}#/${WATCHED}`);
  await page.locator('.lit').first().waitFor();
};

const printThroughput = (what: string, rates: readonly number[], without: readonly number[]) => {
  const shares = rates.map((rate, at) => rate / (without[at] ?? Number.NaN) * 100);
  printFigure(`frames through the session, ${what}`, `${Math.round(median(rates))}/s`);
  printFigure(
    `  beside no page, median of ${ROUNDS} rounds`,
    `${median(shares).toFixed(1)} %`,
    `${Math.min(...shares).toFixed(1)} to ${Math.max(...shares).toFixed(1)} %; aim: above 95 %`,
  );
};

/**
 * Session throughput with a page open, beside without, in alternating rounds. The browser's CPU use
 * is not the process's, so it is reported separately.
 */
const benchThroughput = async (browser: Browser): Promise<void> => {
  const session = await startFedSession();
  const [unseen, seen] = [await actorCrowd(ACTORS, false), await actorCrowd(ACTORS)];
  const page = await browser.newPage({ viewport: { width: 1500, height: 900 } });
  const rates: Record<'without' | 'again' | 'read' | 'drawn', number[]> = {
    without: [],
    again: [],
    read: [],
    drawn: [],
  };
  for (let round = 0; round <= ROUNDS; round += 1) {
    // The first round finds code that is not compiled yet.
    const note = (list: number[], rate: number): unknown => round === 0 || list.push(rate);
    await page.goto('about:blank');
    note(rates.without, await feed(session, unseen));
    await readOnly(page, seen.url);
    note(rates.read, await feed(session, seen));
    await page.goto('about:blank');
    note(rates.again, await feed(session, unseen));
    await draw(page, seen.url);
    note(rates.drawn, await feed(session, seen));
  }
  await page.close();
  await Promise.all([unseen.close(), seen.close(), session.end()]);
  printFigure('frames through the session, no page', `${Math.round(median(rates.without))}/s`);
  printThroughput('again', rates.again, rates.without);
  printThroughput('page open', rates.read, rates.without);
  printThroughput('page drawn on the same cores', rates.drawn, rates.without);
};

/** Prints the figures of the live page. */
export const benchPage = async (): Promise<void> => {
  print(`\npage: ${ACTORS} actors, ${CHANGES_PER_SECOND} changes a second`);
  await benchCost();
  if (browserProblem !== undefined) {
    print(`  not run in a browser: ${browserProblem}`);
    return;
  }
  const browser = await startBrowser();
  await benchThroughput(browser);
  const crowd = await actorCrowd(ACTORS);
  const stop = keepMoving(crowd);
  for (const [what, address, drawn] of VIEWS) {
    const page = await browser.newPage({ viewport: { width: 1500, height: 900 } });
    await page.goto(crowd.url + address);
    await page.locator(drawn).first().waitFor();
    const beforeMs = processorMs();
    const { rate, longestMs } = await pictures(page, WATCHED_MS);
    printFigure(`pictures a second, looking at ${what} (aim: 50)`, rate.toFixed(0));
    printFigure('longest time between two pictures', `${longestMs.toFixed(0)} ms`);
    const share = (processorMs() - beforeMs) / WATCHED_MS;
    printFigure('of a core, of the observed process', `${(share * 100).toFixed(1)} %`);
    await page.close();
  }
  stop();
  await browser.close();
  await crowd.close();
};
