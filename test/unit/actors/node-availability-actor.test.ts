/**
 * The acts of a Node's availability.
 *
 * Regression: after a write or a deletion that threw, none was made again.
 */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { provideNodeAvailability } from '../../../src/actors/node-availability/node-availability-actor.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import {
  type AvailabilityOutcome,
  NodeAvailabilityApi,
  type RemovalOutcome,
} from '../../../src/effects/node-availability.ts';
import { lostPod, nodeWith } from '../../support/node-availability/availability-fixture.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const SETTLE_MS = 5000;
/** More than the pause before the second attempt, of a write and of a deletion. */
const RETRY_MS = 2000;

const LOST = { readyStatus: 'Unknown' } as const;

const ignore = (): void => {};

const planted = Effect.die(new Error('planted'));

/** A Node that a former process found offline; what it asks for throws unless it has an answer. */
const lostNode = ({ written = planted, removed = () => planted }: {
  readonly written?: Effect.Effect<AvailabilityOutcome>;
  readonly removed?: (name: string) => Effect.Effect<RemovalOutcome>;
} = {}) => {
  const time = simulatedTime();
  const asked = { writes: 0, removals: 0 };
  const removals: string[] = [];
  /** Why pods could not be deleted, in the end. */
  const givenUp: string[] = [];
  const counts = new Map<string, number>();
  const answer = <Outcome>(
    act: keyof typeof asked,
    outcome: () => Effect.Effect<Outcome>,
  ): Effect.Effect<Outcome> =>
    Effect.suspend(() => {
      asked[act] += 1;
      return outcome();
    });
  const runtime = ManagedRuntime.make(Layer.succeed(NodeAvailabilityApi, {
    write: () => answer('writes', () => written),
    remove: ({ name }) => {
      removals.push(name);
      return answer('removals', () => removed(name));
    },
    showOnPod: () => Effect.succeed('Written' as const),
  }));
  const telemetry: Telemetry = {
    ...silentTelemetry,
    count: (name, by, ...[labels]) => {
      const series = [name, ...Object.values(labels ?? {})].join(' ');
      counts.set(series, (counts.get(series) ?? 0) + by);
    },
  };
  const environment = makeActorEnvironment({ time, runtime, telemetry, firstSeed: 1 });
  const machine = provideNodeAvailability(
    {
      ...environment,
      project: (raw) => raw === 'node' ? nodeWith('2', { ...LOST, label: 'Offline' }) : undefined,
    },
    {
      requestPods: ignore,
      recordDegraded: ignore,
      recordOffline: ignore,
      recordBack: ignore,
      recordGivenUp: ({ problem }) => void givenUp.push(problem),
    },
    (act) => act,
  );
  const actor = environment.actor(machine, 'node-1', {
    node: nodeWith('1', { ...LOST, label: 'OfflineStorm' }),
    silentMs: 0,
    isGuarded: false,
    times: { offlineAfterMs: 60_000, degradedAfterMs: 30_000, cleanAfterMs: 60_000 },
    seed: 1,
  });
  actor.start();
  onTestFinished(async () => {
    actor.stop();
    await runtime.dispose();
  });
  return { actor, time, asked, removals, givenUp, counts };
};

test('RS-01: a Node whose write threw is written again', async () => {
  const { time, asked } = lostNode();
  await time.settle();
  expect(asked.writes).toBe(1);
  await time.advance(RETRY_MS);
  expect(asked.writes).toBeGreaterThan(1);
});

test('RS-20: a pod whose deletion threw is deleted again', async () => {
  const { actor, time, asked } = lostNode();
  actor.send({ type: 'pods.observed', pods: [lostPod('web-1')] });
  await time.advance(SETTLE_MS);
  expect(asked.removals).toBe(1);
  await time.advance(RETRY_MS);
  expect(asked.removals).toBeGreaterThan(1);
});

test('RS-01: a Node is written again until an answer has what it is to show', async () => {
  const refused = lostNode({ written: Effect.succeed({ _tag: 'Written', node: 'a list' }) });
  await refused.time.advance(RETRY_MS);
  expect(refused.asked.writes).toBeGreaterThan(1);
  expect(refused.actor.getSnapshot().context.problem).toBe('the answer is not a Node');
  const fault = lostNode({ written: Effect.succeed({ _tag: 'Fault', why: '409 conflict' }) });
  await fault.time.settle();
  expect(fault.actor.getSnapshot().context.problem).toBe('409 conflict');
  const written = lostNode({ written: Effect.succeed({ _tag: 'Written', node: 'node' }) });
  await written.time.advance(10 * RETRY_MS);
  expect(written.asked.writes).toBe(1);
});

const PODS = ['a', 'b', 'c'].map(lostPod);
const WRITTEN = Effect.succeed({ _tag: 'Written' as const, node: 'node' });

test('RS-23: only pods whose deletion failed are deleted again, five times at most', async () => {
  const { actor, time, removals, givenUp } = lostNode({
    written: WRITTEN,
    removed: (name) =>
      Effect.succeed(
        name === 'a'
          ? { _tag: 'Deleted' }
          : name === 'b'
          ? { _tag: 'Fault', why: 'no answer' }
          : { _tag: 'Gone' },
      ),
  });
  actor.send({ type: 'pods.observed', pods: PODS });
  await time.advance(SETTLE_MS);
  expect(removals).toEqual(['a', 'b', 'c']);
  await time.advance(300_000);
  expect(removals).toEqual(['a', 'b', 'c', 'b', 'b', 'b', 'b']);
  expect(givenUp).toEqual(['no answer']);
});

test('RS-30: pods that were gone already are not counted as replaced', async () => {
  const { actor, time, counts } = lostNode({
    written: WRITTEN,
    removed: (name) => Effect.succeed({ _tag: name === 'a' ? 'Deleted' : 'Gone' }),
  });
  actor.send({ type: 'pods.observed', pods: PODS });
  await time.advance(SETTLE_MS);
  expect(Object.fromEntries([...counts].filter(([name]) => name.includes('_pods_')))).toEqual({
    'tidegate_lost_pods_total Deleted': 1,
    'tidegate_lost_pods_total Gone': 2,
    'tidegate_node_replaced_pods_total node-1': 1,
  });
});

test('RS-20: the deletions end when the Node is back in the middle of them', async () => {
  const answer = Promise.withResolvers<RemovalOutcome>();
  const { actor, time, removals, counts } = lostNode({
    written: WRITTEN,
    removed: () => Effect.promise(() => answer.promise),
  });
  actor.send({ type: 'pods.observed', pods: PODS });
  await time.advance(SETTLE_MS);
  actor.send({ type: 'node.observed', node: nodeWith('3', { label: 'Offline' }) });
  answer.resolve({ _tag: 'Deleted' });
  await time.advance(RETRY_MS);
  expect(removals).toEqual(['a']);
  expect(counts.get('tidegate_lost_pods_total Fault')).toBeUndefined();
});
