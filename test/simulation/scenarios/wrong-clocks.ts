/** Operators on machines whose clocks are wrong, step or stand still. */
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { COLLECTIONS } from '../../support/api/cluster-connection.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../../support/drains/workloads.ts';
import { reclaimAnnotation } from '../node-annotations.ts';
import {
  deadlineCounts,
  drainSiteOptions,
  each,
  podsOf,
  reclaimEach,
  setDrainScene,
  untilEnded,
} from './drain-scene.ts';
import type { Harness } from './harness.ts';
import type { Scenario } from './scenario.ts';

const HOUR_MS = 3_600_000;
const PODS = 6;
const GRACE_SECONDS = 180;
/** Requests, answers in whole seconds, and the skew that counts as none. */
const TOLERANCE_MS = 10_000;

const siteOptions = (seed: number) => drainSiteOptions(seed, { readyMs: [2000, 2000] });

/** Two nodes whose pods a budget keeps: their drains end at the deadline. */
const blocked = {
  machines: { count: 2, prefix: 'clock-', pods: PODS / 2 },
  objects: () =>
    [
      [DRAIN_COLLECTIONS.budgets, [budget('web', { maxUnavailable: 0 })]],
      [DRAIN_COLLECTIONS.deployments, [deployment('web', PODS)]],
    ] as const,
  pods: PODS,
};

/** How far each deadline on a Node is from `deadlineMs`. */
const deadlineErrors = (harness: Harness, deadlineMs: number): readonly number[] =>
  harness.list(COLLECTIONS.nodes).flatMap((node) => {
    const annotation = reclaimAnnotation(node);
    return annotation === undefined ? [] : [Math.abs(annotation.deadlineMs - deadlineMs)];
  });

const eventsIn = (harness: Harness): readonly unknown[] =>
  listOrEmptyAt(harness.get(COLLECTIONS.events), 'items');

/** Events of the operators whose times are far from those of the API server. */
const strayEvents = (harness: Harness): readonly unknown[] =>
  eventsIn(harness).filter((event) => {
    const writtenMs = Date.parse(textAt(event, 'metadata', 'creationTimestamp') ?? '');
    const atMs = Date.parse(textAt(event, 'eventTime') ?? '');
    return Math.abs(atMs - writtenMs) > TOLERANCE_MS;
  });

/** All drains fail at their one deadline, with Events about it. */
const checkDeadlines = async (
  harness: Harness,
  scene: Awaited<ReturnType<typeof setDrainScene>>,
  deadlineMs: number,
): Promise<void> => {
  const { machines } = scene;
  harness.is('the drains end', await untilEnded(harness, machines), each(machines, 'Failed'));
  const lateMs = harness.time.now() - deadlineMs;
  harness.is('at their deadline', Math.abs(lateMs) <= TOLERANCE_MS, true);
  harness.is('no pod left', podsOf(harness).length, PODS);
  harness.is(
    'one deadline each',
    Object.values(deadlineCounts(harness, scene)),
    machines.map(() => 1),
  );
  const failed = await harness.until('the Events of both', () => {
    const events = eventsIn(harness)
      .filter((event) => textAt(event, 'reason') === 'DeadlinePassed');
    return events.length === machines.length && events;
  });
  harness.is('an Event each', failed.length, machines.length);
  harness.is('Events have the time of the API server', strayEvents(harness), []);
};

export const clocksSkewed: Scenario = {
  name: 'clocks-skewed',
  shows: 'DR-16: operators whose clocks are two hours apart have the same deadlines',
  siteOptions: siteOptions(60),
  flags: { skewsMs: [HOUR_MS, -HOUR_MS] },
  play: async (harness) => {
    const scene = await setDrainScene(harness, blocked);
    harness.processes.start();
    const deadlineMs = harness.time.now() + GRACE_SECONDS * 1000;
    reclaimEach(harness, scene.machines, GRACE_SECONDS);
    const errors = await harness.until('both deadlines', () => {
      const found = deadlineErrors(harness, deadlineMs);
      return found.length === scene.machines.length && found;
    });
    harness.is('deadlines by the API server', errors.every((ms) => ms <= TOLERANCE_MS), true);
    harness.note('the leader is killed');
    harness.processes.crash();
    await checkDeadlines(harness, scene, deadlineMs);
  },
};

/** Drains whose operator's machine is disturbed after a third of their time. */
const disturbed = (
  { name, shows, seed }: Pick<Scenario, 'name' | 'shows'> & { readonly seed: number },
  disturb: (harness: Harness) => Promise<unknown> | void,
): Scenario => ({
  name,
  shows,
  siteOptions: siteOptions(seed),
  play: async (harness) => {
    const scene = await setDrainScene(harness, blocked);
    const deadlineMs = harness.time.now() + GRACE_SECONDS * 1000;
    reclaimEach(harness, scene.machines, GRACE_SECONDS);
    await harness.wait((GRACE_SECONDS / 3) * 1000);
    await disturb(harness);
    await checkDeadlines(harness, scene, deadlineMs);
  },
});

const clockSteps = (name: string, seed: number, stepMs: number): Scenario =>
  disturbed({
    name,
    shows: `DR-16: a step of ${stepMs / HOUR_MS} hours moves no deadline and mutes no Event`,
    seed,
  }, ({ processes }) => processes.jumpWallClocks(stepMs));

/** How long the only operator and its machine stand still. */
const SUSPENDED_MS = 60_000;

export const machineSuspended = disturbed({
  name: 'machine-suspended',
  shows: 'DR-16: an only operator whose machine was suspended ends its drains at their deadline',
  seed: 64,
}, ({ processes, wait }) => {
  processes.suspend(SUSPENDED_MS);
  return wait(SUSPENDED_MS);
});

export const clockStepsForward = clockSteps('clock-steps-forward', 61, HOUR_MS);
export const clockStepsBack = clockSteps('clock-steps-back', 62, -2 * HOUR_MS);
