/** The reports of a blocked drain: before it, while it runs, and at its end. */
import { expect, it } from 'vitest';
import { listOrEmptyAt, numberAt, textAt } from '../../src/domain/json.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { drainSite } from '../support/drains/drain-test-site.ts';
import { reclaimEach, untilEnded } from '../support/drains/reclaims.ts';
import { heldUp, listedDrains } from '../support/drains/listed-drains.ts';
import {
  barePod,
  budget,
  deployment,
  DRAIN_COLLECTIONS,
  evictionPolicy,
} from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { explained } from '../support/processes/explained.ts';
import { startTidegate } from '../support/processes/tidegate-process.ts';

const BED = { controllers: true, scheduler: true, kwok: true, podDeleteMs: 1000 };
const GRACE_SECONDS = 3600;
/** A second instruction brings the deadline forward, once all has been seen before it. */
const LAST_SECONDS = 5;

const NO_EVICTION = evictionPolicy('guard', 'guarded');

const HELD = [
  'BudgetNeverAllows default/closed',
  'Finalizer default/held',
  'PolicyRefused default/guarded',
  'TwoBudgets default/twice',
];

describeWithTestbed('a blocked drain', BED, (bed) => {
  it('DR-43: drain plan before it names the blockers that drain status names at the deadline', async () => {
    const { cluster, fleet, machines } = await drainSite(bed(), {
      machines: { count: 1, prefix: 'shown-' },
      objects: ([node = '']) => [
        [DRAIN_COLLECTIONS.policies, [NO_EVICTION.policy]],
        [DRAIN_COLLECTIONS.policyBindings, [NO_EVICTION.binding]],
        [DRAIN_COLLECTIONS.deployments, [deployment('web', 4)]],
        [DRAIN_COLLECTIONS.pods, [
          barePod('closed', node),
          barePod('guarded', node),
          barePod('twice', node),
          barePod('held', node, { finalizers: ['example.com/hold'] }),
        ]],
        [DRAIN_COLLECTIONS.budgets, [
          budget('web', { maxUnavailable: 1 }),
          budget('closed', { minAvailable: 1 }),
          budget('twice', { minAvailable: 0 }, 'one'),
          budget('twice', { minAvailable: 0 }, 'two'),
        ]],
      ],
      pods: 8,
      spares: { count: 1 },
    });
    const [node = ''] = machines;

    const plan = await listedDrains(startTidegate, bed(), 'plan', node, '--dry-run=server');
    expect(heldUp(plan)).toEqual(HELD);
    expect(listOrEmptyAt(plan, 'willNotComeBack')).toHaveLength(4);

    await reclaimEach(fleet, machines, GRACE_SECONDS);

    // The policy is known from the Event that the operator writes after ten seconds.
    const running = await eventually(async () => {
      const [current] = listOrEmptyAt(await listedDrains(startTidegate, bed(), 'status'), 'items');
      const reasons = heldUp(current);
      if (reasons.length === HELD.length && textAt(current, 'state') === 'Draining') return current;
      throw new Error(`it names ${reasons.join(', ')}`);
    }, { what: 'every blocker to be named', everyMs: 2000 });
    expect(heldUp(running)).toEqual(HELD);
    expect(running).toMatchObject({ node, owners: ['reclaim'] });
    expect(numberAt(running, 'secondsLeft')).toBeGreaterThan(0);
    const text = await explained(bed(), node);
    expect(text).toContain(`Node ${node}: Draining`);
    expect(text).toContain('The fleet reclaims this machine');

    await reclaimEach(fleet, machines, LAST_SECONDS);
    expect(await untilEnded(cluster, machines)).toEqual({ [node]: 'Failed' });
    const [ended] = listOrEmptyAt(
      await listedDrains(startTidegate, bed(), 'status', node),
      'items',
    );
    expect(heldUp(ended)).toEqual(HELD);
    expect(ended).toMatchObject({
      state: 'Failed',
      secondsLeft: null,
      pods: { left: 4, leaving: 1, blocked: 4 },
      lastError: expect.stringMatching(/^4 pods remain: default\/closed/),
    });
    expect(await explained(bed(), 'node', node)).toContain(`Node ${node}: Failed`);
  });
});
