/**
 * The live page in a browser: it follows the process, finds actors, and supports navigation.
 */
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { drainSite } from '../support/drains/drain-test-site.ts';
import { reclaimEach, untilEnded } from '../support/drains/reclaims.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { type ActorCrowd, actorCrowd } from '../support/page/actor-crowd.ts';
import {
  describeWithBrowser,
  emptyPage,
  openPage,
  seriousFaultsInBothSchemes,
} from '../support/page/browser.ts';

const crowded = async (count: number): Promise<ActorCrowd> => {
  const crowd = await actorCrowd(count);
  onTestFinished(crowd.close);
  return crowd;
};

const PATIENT_MS = 60_000;
/** The extra delay on a busy machine. */
const soon = <Value>(look: () => Promise<Value>) => expect.poll(look, { timeout: PATIENT_MS });

const found = (page: Page) => page.locator('.found');
const lit = (page: Page) => page.locator('[data-state].lit');
const litPaths = (page: Page): Promise<readonly string[]> =>
  lit(page).evaluateAll((groups) => groups.map((group) => group.getAttribute('data-state') ?? ''));

/** Each view of the page, and an element that proves that it is rendered. */
const VIEWS = [
  ['', '.headline'],
  ['podEviction', 'text.state-count'],
  ['podEviction?state=queued', '.found b'],
  ['podEviction?search=nobody', '.found'],
  ['podEviction/default/db-7', '.lit'],
  ['podEviction/default/nobody', '.panel p'],
  ['leadership', '[data-state]'],
] as const;

describeWithBrowser('the live page', (browser) => {
  it('draws only the visible ones of ten thousand actors, and finds one by its name', async () => {
    const { url } = await crowded(10_000);
    const page = await openPage(browser(), `${url}#/podEviction`);
    await soon(() => found(page).innerText()).toBe('10,000 actors');
    expect(await page.locator('.line').count()).toBeLessThan(60);
    await page.keyboard.press('/');
    await page.keyboard.type('db-7777');
    await soon(() => found(page).innerText()).toBe('1 actor');
    expect(page.url()).toContain('#/podEviction?search=db-7777');
    await page.locator('.line a').click();
    await soon(() => litPaths(page)).toEqual(['queued']);
    expect(await page.locator('.panel .why').innerText()).toContain('BlockedByBudget');
  });

  it('shows how many actors are in each state, and lists those of the selected state', async () => {
    const { url, move } = await crowded(300);
    const page = await openPage(browser(), `${url}#/podEviction`);
    const count = page.locator('[data-state="queued"] > text.state-count');
    await soon(() => count.textContent()).toBe('300');
    move(100);
    await soon(() => count.textContent()).toBe('200');
    const [other = ''] = await page.locator('[data-state]:has(> text.state-count)')
      .evaluateAll((groups) =>
        groups.map((group) => group.getAttribute('data-state') ?? '')
          .filter((path) => path.includes('.'))
      );
    await page.locator(`[data-state="${other}"] > rect`).first().click();
    await soon(() => found(page).innerText()).toContain(`100 actors in ${other}`);
  });

  it('follows an actor: the highlighted state, its path and why it waits', async () => {
    const { url, move } = await crowded(1);
    const page = await openPage(browser(), `${url}#/podEviction/default/db-0`);
    await soon(() => litPaths(page)).toEqual(['queued']);
    move(1);
    await soon(() => page.locator('.path li').count()).toBe(2);
    await soon(() => litPaths(page)).not.toEqual(['queued']);
    expect(await page.locator('[data-state="queued"]').getAttribute('class')).toContain('passed');
    await page.keyboard.press('Escape');
    await soon(() => page.locator('.panel').count()).toBe(0);
  });

  it('has no serious accessibility violations when it is light or dark', async () => {
    const crowd = await crowded(50);
    crowd.move(10);
    const { page, close } = await emptyPage(browser());
    onTestFinished(close);
    await page.goto(crowd.url);
    for (const [view, selector] of VIEWS) {
      await page.goto(`${crowd.url}#/${view}`);
      await page.locator(selector).first().waitFor();
      await page.locator('details').evaluateAll((all) =>
        all.forEach((one) => one.setAttribute('open', ''))
      );
      expect([view, await seriousFaultsInBothSchemes(page)]).toEqual([view, []]);
    }
    await crowd.close();
    await page.locator('.connection.lost').waitFor();
    expect(await seriousFaultsInBothSchemes(page)).toEqual([]);
  });

  it('fetches what failed before the stream began once more', async () => {
    const { url } = await crowded(1);
    const { page, close } = await emptyPage(browser());
    onTestFinished(close);
    const failed = { '/catalogue.json': false, '/charts/podEviction.svg': false };
    await page.route(({ pathname }) => pathname in failed, async (route) => {
      const { pathname } = new URL(route.request().url());
      const isFirst = !Object.entries(failed).some(([path, has]) => path === pathname && has);
      Object.assign(failed, { [pathname]: true });
      await (isFirst ? route.abort() : route.continue());
    });
    await page.route(({ pathname }) => pathname === '/live', async (route) => {
      await soon(() => Promise.resolve(Object.values(failed))).toEqual([true, true]);
      await route.continue();
    });
    await page.goto(`${url}#/podEviction`);
    await page.locator('[data-state="queued"] > text.state-count').waitFor();
    await soon(() => page.locator('h1').innerText()).toBe('Tidegate · crowd');
  });

  it('shows that the process is gone', async () => {
    const crowd = await actorCrowd(1);
    const page = await browser().newPage();
    onTestFinished(() => page.close());
    await page.goto(crowd.url);
    await soon(() => page.locator('.connection').innerText()).toBe('live');
    await crowd.close();
    await soon(() => page.locator('.connection').innerText()).toContain('no answer');
  });
});

const BED = { controllers: true, scheduler: true, kwok: true, podDeleteMs: 1000 };
const PODS = 8;
const GRACE_SECONDS = 3600;

describeWithTestbed('the live page of an operator', BED, (bed) => {
  describeWithBrowser('in a browser', (browser) => {
    it('links a reclaim to its drain, its pod and the blocking budget, to the end', async () => {
      const site = await drainSite(bed(), {
        machines: { count: 1, prefix: 'shown-' },
        objects: () => [
          [DRAIN_COLLECTIONS.deployments, [deployment('db', PODS)]],
          [DRAIN_COLLECTIONS.budgets, [budget('db', { maxUnavailable: 0 })]],
        ],
        pods: PODS,
        spares: { count: 1 },
      }, { flags: { 'inspect-addr': '127.0.0.1:0' } });
      const { operator, fleet, machines, cluster } = site;
      const { url } = await operator.untilLog(({ message }) => message === 'Live page is served', {
        what: 'the address of the page',
      });
      const [instruction = ''] = await reclaimEach(fleet, machines, GRACE_SECONDS);
      const page = await openPage(browser(), `${String(url)}#/reclaimInstruction/${instruction}`);
      await page.locator('.links a', { hasText: machines[0] ?? '' }).first().click();
      await soon(() => litPaths(page)).toContain('work.underway.draining.open');
      await page.locator('.links li', { hasText: 'BudgetNeverAllows' }).first().locator('a')
        .click();
      await soon(() => page.locator('.panel .why').innerText())
        .toMatch(/budget default\/db never allows an eviction.*The owner of the application/s);
      const blocked = page.url();
      await page.locator('.links a[href^="#/budget/"]').click();
      await soon(() => page.locator('.panel h2').innerText()).toContain('default/db');
      await page.goto(`${String(url)}#/podEviction`);
      await soon(() => page.locator('[data-state="queued"] > text.state-count').textContent())
        .toBe(String(PODS));

      await page.goto(blocked);
      await cluster.patch(`${DRAIN_COLLECTIONS.budgets}/db`, { spec: { maxUnavailable: PODS } });
      await untilEnded(cluster, machines);
      await soon(() => litPaths(page)).toEqual(['gone']);
      await page.goto(`${String(url)}#/nodeDrain/${machines[0]}`);
      await soon(() => litPaths(page)).toContain('work.drained');
    });
  });
});
