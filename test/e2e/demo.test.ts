/**
 * The demo scenarios: each succeeds with only this runtime, and the operator's live page follows it
 * throughout. The page is compared with the operator's recording.
 *
 * One of them is followed on a page of its own; before a release all are. Each begins when the
 * page of the one before was looked at; with PAGE_PICTURES=docs/pictures the documentation's
 * pictures are taken on the way.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kindInId } from '../../src/api/actor-board.ts';
import { DEMO_SCENARIOS } from '../../src/cli/demo/demo-scenarios.ts';
import { MACHINES } from '../../src/machines/index.ts';
import { addressOf, routeIn } from '../../src/web/page/address.ts';
import {
  describeWithBrowser,
  openPage,
  seriousFaults,
  seriousFaultsInBothSchemes,
} from '../support/page/browser.ts';
import { beginDemo, type BegunDemo, type FollowedDemo } from '../support/page/followed-demo.ts';
import { answersOnFirstScreen } from '../support/page/first-screen.ts';
import { savePicture } from '../support/page/picture.ts';
import { litStates } from '../support/page/lit-states.ts';
import {
  litPaths,
  pageCounts,
  pageLinks,
  pageLog,
  pagePath,
  recordedLog,
  recordedPath,
} from '../support/page/page-views.ts';
import {
  actorsNamed,
  countsByState,
  lastLines,
  litProblem,
  staysOf,
} from '../support/page/recorded-actors.ts';
import { spawnTidegate } from '../support/processes/tidegate-child.ts';
import { atScale, isReleaseScale } from '../support/scale.ts';

const PATIENT_MS = 60_000;
const LONG_MS = 300_000;
/**
 * A page is updated every 200 ms, so a shorter state may not be highlighted; the rest is for a
 * process that stands still.
 */
const SHORT_MS = 10_000;

/** The actor that the page follows. */
interface Followed {
  /** An address of the page: of an actor, or of the list that it comes onto. */
  readonly address: string;
  /** An intermediate state that lasts long enough to be seen; good for a picture. */
  readonly passes: string;
  /** Its state at the end of the scenario. */
  readonly end: string;
}

const STUCK = 'stuck-node';
const FOLLOWED: Readonly<Record<string, Followed>> = {
  'scale-up': { address: '#/upcomingNode', passes: 'settled', end: 'gone' },
  'tight-budget': {
    address: '#/podEviction?state=queued',
    passes: 'queued',
    end: 'gone',
  },
  outage: {
    address: '#/fleetSession/demo',
    passes: 'backingOff',
    end: 'connected.streaming.resync.resynced',
  },
  [STUCK]: {
    address: '#/nodeDrain',
    passes: 'work.underway.draining.open',
    end: 'work.failed',
  },
  interceptors: {
    address: '#/evictionRequest',
    passes: 'status.silent',
    end: 'status.ended',
  },
  surge: {
    address: '#/evictionRequest',
    passes: 'status.intercepting',
    end: 'status.ended',
  },
  maintenance: {
    address: '#/nodeMaintenance',
    passes: 'work.evacuating',
    end: 'object.absent',
  },
  offline: {
    address: '#/nodeAvailability?state=availability.offline',
    passes: 'availability.offline.replacing.replaced',
    end: 'availability.active',
  },
};

/**
 * A page that follows a scenario and the looks at it take five times the processor time of the
 * scenario itself.
 */
const ON_PAGES = Object.entries(FOLLOWED).filter(([name]) => isReleaseScale() || name === STUCK);
const ALONE = Object.keys(FOLLOWED)
  .filter((name) => !ON_PAGES.some(([one]) => one === name))
  .slice(0, atScale({ commit: 1, release: Infinity }));

const soon = <Value>(look: () => Promise<Value>) => expect.poll(look, { timeout: PATIENT_MS });

/** Scenarios whose first page has a card at that moment. */
const WITH_CARD: ReadonlySet<string> = new Set(['tight-budget', STUCK, 'interceptors']);

/**
 * The first page while the followed actor passes its state: it answers what is stuck, why, and who
 * acts.
 */
const lookAtBoard = async (page: Page, name: string, { passes }: Followed): Promise<void> => {
  await page.locator(`[data-state="${passes}"].lit`).waitFor({ timeout: PATIENT_MS });
  const board = await page.context().newPage();
  await board.goto(new URL('/', page.url()).href);
  await board.locator('.headline').waitFor();
  if (WITH_CARD.has(name)) await board.locator('.verdict .who').first().waitFor();
  expect(await answersOnFirstScreen(board)).toEqual([]);
  await savePicture(board, `demo-${name}`);
  expect(await seriousFaults(board)).toEqual([]);
  await board.close();
};

/** Differences between page and recording; both are reread, because the operator continues. */
const differences = async <Value>(
  onPage: Promise<Value>,
  recorded: Promise<Value>,
): Promise<{ readonly onPage: Value; readonly recorded: Value } | undefined> => {
  const both = { onPage: await onPage, recorded: await recorded };
  return JSON.stringify(both.onPage) === JSON.stringify(both.recorded) ? undefined : both;
};

const sortedByState = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts).toSorted(([left], [right]) => left < right ? -1 : 1);

describeWithBrowser('the demo', (browser) => {
  const begun = new Map<string, BegunDemo>();
  beforeAll(async () => {
    for (const [name, followed] of ON_PAGES) {
      const { address, passes } = followed;
      const onFollowed = (page: Page) => lookAtBoard(page, name, followed);
      const demo = await beginDemo(browser(), { name, address, passes, onFollowed });
      begun.set(name, demo);
      // A page that loads beside others may be later than what it is opened for.
      await demo.lookedAt;
    }
  });
  afterAll(async () => {
    await Promise.all([...begun.values()].map(({ end }) => end()));
  });

  const followedDemo = async (name: string): Promise<FollowedDemo> => {
    const run = begun.get(name);
    if (run === undefined) throw new Error(`"${name}" was not begun`);
    return await run.followed;
  };

  it('has a page that follows each of its scenarios', () => {
    expect(Object.keys(FOLLOWED)).toEqual(Object.keys(DEMO_SCENARIOS));
  });

  describe.concurrent.each(ALONE)('scenario "%s" without a page', (name) => {
    it('succeeds', { timeout: LONG_MS }, async () => {
      const demo = spawnTidegate({ name: `demo ${name}`, args: ['demo', `--scenario=${name}`] });
      const code = await demo.exited;
      const output = demo.logs().map(({ msg }) => String(msg)).join('\n');
      expect([code, output]).toEqual([
        0,
        expect.stringContaining(DEMO_SCENARIOS[name]?.title ?? '?'),
      ]);
    });
  });

  it('shows a failed drain without serious accessibility violations, light or dark', {
    timeout: LONG_MS,
  }, async () => {
    const { url, actor } = await followedDemo(STUCK);
    const page = await openPage(browser(), url);
    for (const [view, onPage] of [['', '.headline'], ['nodeDrain', '.line'], [actor, '.path']]) {
      await page.goto(`${url}#/${view}`);
      await page.locator(String(onPage)).first().waitFor();
      expect([view, await seriousFaultsInBothSchemes(page)]).toEqual([view, []]);
    }
  });

  describe.each(ON_PAGES)('scenario "%s"', (name, { passes, end }) => {
    it('succeeds', { timeout: LONG_MS }, async () => {
      const { demo } = await followedDemo(name);
      const output = demo.logs().map(({ msg }) => String(msg)).join('\n');
      expect(output).toContain(DEMO_SCENARIOS[name]?.title);
    });

    it('highlights each state of the selected actor, in order and to the end', async () => {
      const { page, actor, lines } = await followedDemo(name);
      await soon(async () => {
        const stays = staysOf(await lines(), actor);
        return litProblem(await litStates(page), stays, SHORT_MS);
      }).toBeUndefined();
      const lit = (await litStates(page)).map(({ state }) => state.split(' '));
      expect(lit.flat()).toContain(passes);
      expect(lit.at(-1)).toContain(end);
    });

    it('lists each event of that actor and its path, without gaps', async () => {
      const { page, actor, lines } = await followedDemo(name);
      const log = async () => recordedLog(await lines(), actor);
      const way = async () => recordedPath(await lines(), actor);
      await soon(() => differences(pageLog(page), log())).toBeUndefined();
      await soon(() => differences(pagePath(page), way())).toBeUndefined();
    });

    it('counts the actors in each state of each machine as the operator has them', async () => {
      const { url, lines } = await followedDemo(name);
      const page = await openPage(browser(), url);
      for (const kind of Object.keys(MACHINES)) {
        await page.goto(`${url}#/${kind}`);
        await page.locator('.title h2').waitFor();
        await soon(() =>
          differences(
            pageCounts(page).then(sortedByState),
            lines().then((all) => sortedByState(countsByState(all, kind))),
          )
        ).toBeUndefined();
      }
    });

    it('shows one actor of each machine, with its data', async () => {
      const { url, lines } = await followedDemo(name);
      const page = await openPage(browser(), url);
      const ids = new Map(lastLines(await lines()).map(({ id }) => [kindInId(id), id]));
      expect(ids.size).toBeGreaterThan(4);
      for (const id of ids.values()) {
        await page.goto(url + addressOf({ ...routeIn(''), kind: kindInId(id), actor: id }));
        await soon(() => page.locator('.panel h2').innerText()).toContain(id.split('/').at(-1));
        await soon(() => page.locator('.panel pre').textContent()).toMatch(/^\{/);
      }
    });

    it('replays from its recording, to the same states', async () => {
      const { recording } = await followedDemo(name);
      const replay = spawnTidegate({ name: `replay ${name}`, args: ['replay', recording] });
      const code = await replay.exited;
      expect([code, replay.logs().filter(({ msg }) => / cannot be replayed: /.test(String(msg)))])
        .toEqual([0, []]);
    });

    it('finds the actor by its name, and its link opens the same actor', async () => {
      const { url, actor, lines } = await followedDemo(name);
      const words = (actor.split('/').at(-1) ?? '').toLowerCase();
      const named = actorsNamed(await lines(), words);
      expect(named).toContain(actor);
      const page = await openPage(browser(), `${url}#/`);
      await page.keyboard.press('/');
      await page.keyboard.type(words);
      await soon(async () => (await pageLinks(page)).length).toBe(named.length);
      await page.locator(`.line a[href^="#/${kindInId(actor)}"]`).first().click();
      await page.locator('.panel h2').waitFor();
      const found = await page.locator('.panel h2').innerText();
      const again = await openPage(browser(), page.url());
      await soon(() => again.locator('.panel h2').innerText()).toBe(found);
      expect(await again.locator('input[type=search]').inputValue()).toBe(words);
      await soon(() => differences(litPaths(again), litPaths(page))).toBeUndefined();
    });

    it('leaves nothing behind, and its page reported no errors', async () => {
      const { demo, page, complaints } = await followedDemo(name);
      expect(complaints).toEqual([]);
      await page.goto('about:blank');
      await demo.stop();
      expect(await demo.exited).toBe(0);
    });
  });
});
