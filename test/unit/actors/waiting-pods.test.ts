/** Stateful pods that show that their Node is offline: what is written and recorded, and when. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { WaitingPods } from '../../../src/actors/node-availability/waiting-pods.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import type { Fact } from '../../../src/domain/facts.ts';
import { objectKey, resourceVersion, uid } from '../../../src/domain/ids.ts';
import type { VolumeClaim } from '../../../src/domain/node-availability/local-volumes.ts';
import type { LostPod } from '../../../src/domain/node-availability/lost-pods.ts';
import {
  NodeAvailabilityApi,
  type PodConditionOutcome,
} from '../../../src/effects/node-availability.ts';
import { podOn } from '../../support/node-availability/availability-fixture.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const CLAIM: VolumeClaim = {
  key: objectKey('data', 'default'),
  uid: uid('claim'),
  resourceVersion: resourceVersion('1'),
  isShared: false,
  volumeName: 'v',
};
const POD = podOn('lost', 'db-0');
const SHOWING: LostPod = { ...POD, showsHomeOffline: true };

const present = (object: LostPod): Fact<LostPod> => ({ _tag: 'Present', object });
const absent = (last: LostPod): Fact<LostPod> => ({ _tag: 'Absent', key: last.key, last });

const rig = () => {
  const time = simulatedTime();
  const writes: {
    readonly text: string;
    readonly end: (outcome: PodConditionOutcome) => Promise<void>;
  }[] = [];
  /** Nodes to look at again. */
  const faults: string[] = [];
  const notes: string[] = [];
  const runtime = ManagedRuntime.make(Layer.succeed(NodeAvailabilityApi, {
    write: () => Effect.succeed({ _tag: 'Fault' as const, why: 'not written here' }),
    remove: () => Effect.succeed({ _tag: 'Gone' as const }),
    showOnPod: ({ namespace, name, body }) =>
      Effect.callback<PodConditionOutcome>((resume) => {
        const what = JSON.stringify(body).includes('$patch') ? 'removed' : 'shown';
        writes.push({
          text: `${namespace}/${name} ${what}`,
          end: (outcome) => {
            resume(Effect.succeed(outcome));
            return time.settle();
          },
        });
      }),
  }));
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  const pods = new WaitingPods(environment, {
    record: ({ regarding: { kind, namespace, name }, note }) =>
      void notes.push(`${kind} ${namespace}/${name}: ${note}`),
    onFault: (node) => void faults.push(node),
  });
  onTestFinished(async () => {
    pods.stop();
    await runtime.dispose();
  });
  return {
    pods,
    writes,
    faults,
    notes,
    /** All writes so far. */
    written: async (): Promise<readonly string[]> => {
      await time.settle();
      return writes.map(({ text }) => text);
    },
  };
};

const WRITTEN = 'default/db-0 shown';
const REMOVED = 'default/db-0 removed';

test('RS-21: a pod that waits is written and recorded once, and so are its claims', async () => {
  const { pods, writes, written, notes, faults } = rig();
  pods.add(POD, [CLAIM]);
  expect(await written()).toEqual([WRITTEN]);
  await writes[0]?.end('Written');
  pods.add(POD, [CLAIM]);
  expect(await written()).toEqual([WRITTEN]);
  expect(notes).toEqual([
    'Pod default/db-0: Node "lost" is offline; the pod waits for it',
    'PersistentVolumeClaim default/data: Node "lost" is offline; pod "db-0" waits for it',
  ]);
  expect(faults).toEqual([]);
});

test('RS-21: a refused write is not made again', async () => {
  const { pods, writes, written, faults } = rig();
  pods.add(POD, []);
  await written();
  await writes[0]?.end('Refused');
  pods.add(POD, []);
  expect([await written(), faults]).toEqual([[WRITTEN], []]);
});

test('RS-21: a write without an answer is made once more when its Node is looked at', async () => {
  const { pods, writes, written, faults, notes } = rig();
  pods.add(POD, []);
  await written();
  await writes[0]?.end('Fault');
  expect([await written(), faults]).toEqual([[WRITTEN], ['lost']]);
  pods.add(POD, []);
  pods.add(POD, []);
  expect(await written()).toEqual([WRITTEN, WRITTEN]);
  await writes[1]?.end('Written');
  pods.add(POD, []);
  expect([await written(), faults, notes.length]).toEqual([[WRITTEN, WRITTEN], ['lost'], 1]);
});

test('RS-21: a removal without an answer is made once more, and none besides', async () => {
  const { pods, writes, written, faults } = rig();
  pods.add(POD, []);
  await written();
  await writes[0]?.end('Written');
  pods.observe(present(SHOWING));
  pods.remove(SHOWING);
  pods.remove(SHOWING);
  expect(await written()).toEqual([WRITTEN, REMOVED]);
  await writes[1]?.end('Fault');
  expect(faults).toEqual(['lost']);
  pods.remove(SHOWING);
  pods.remove(SHOWING);
  expect(await written()).toEqual([WRITTEN, REMOVED, REMOVED]);
});

test('RS-21: the lost answer of a write is of no matter once another one follows', async () => {
  const { pods, writes, written, faults } = rig();
  pods.add(POD, []);
  await written();
  pods.remove(POD);
  await writes[0]?.end('Fault');
  expect([await written(), faults]).toEqual([[WRITTEN, REMOVED], []]);
});

test('RS-21: nothing is removed from a pod that shows nothing any more', async () => {
  const { pods, written } = rig();
  pods.observe(present(SHOWING));
  pods.observe(present(POD));
  pods.remove(POD);
  expect([await written(), pods.isEmpty, [...pods.nodes()]]).toEqual([[], true, []]);
});

test('RS-21: what a former process wrote is recorded, not written, and removed', async () => {
  const { pods, written, notes } = rig();
  pods.observe(present(SHOWING));
  expect([pods.isEmpty, [...pods.nodes()]]).toEqual([false, ['lost']]);
  pods.add(SHOWING, []);
  expect([await written(), notes.length]).toEqual([[], 1]);
  pods.remove(SHOWING);
  expect(await written()).toEqual([REMOVED]);
});

test('RS-21: a pod whose Node is lost again is written after its removal', async () => {
  const { pods, writes, written, notes } = rig();
  pods.observe(present(SHOWING));
  pods.remove(SHOWING);
  await written();
  pods.add(SHOWING, []);
  await writes[0]?.end('Written');
  expect([await written(), notes.length]).toEqual([[REMOVED, WRITTEN], 1]);
});

test('RS-21: a pod is forgotten once its removal is seen', async () => {
  const { pods, writes, written } = rig();
  pods.observe(present(SHOWING));
  pods.remove(SHOWING);
  await written();
  await writes[0]?.end('Written');
  expect(pods.isEmpty).toBe(false);
  pods.observe(present(POD));
  expect([pods.isEmpty, [...pods.nodes()]]).toEqual([true, []]);
});

test('RS-21: a pod that does not show it yet is not forgotten', async () => {
  const { pods, written, notes } = rig();
  pods.add(POD, []);
  pods.observe(present(POD));
  expect([pods.isEmpty, [...pods.nodes()]]).toEqual([false, ['lost']]);
  pods.add(POD, []);
  expect([await written(), notes.length]).toEqual([[WRITTEN], 1]);
});

test('RS-21: pods that are gone are forgotten, also those that a list lacks', () => {
  const { pods } = rig();
  const others = ['a', 'b'].map((node) => ({
    ...podOn(node, `of-${node}`),
    showsHomeOffline: true,
  }));
  pods.add(POD, []);
  pods.observe({ _tag: 'Listed', objects: [POD, ...others] });
  expect([...pods.nodes()]).toEqual(['lost', 'a', 'b']);
  pods.observe({ _tag: 'Listed', objects: [POD, ...others.slice(1)] });
  expect([...pods.nodes()]).toEqual(['lost', 'b']);
  pods.observe({ _tag: 'Listed', objects: others.slice(1) });
  expect([...pods.nodes()]).toEqual(['b']);
  for (const last of others) pods.observe(absent(last));
  expect(pods.isEmpty).toBe(true);
});

test('RS-21: four pods are written at once, and none after the stop', async () => {
  const { pods, writes, written } = rig();
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) pods.add(podOn('lost', name), []);
  expect(await written()).toHaveLength(4);
  await writes[0]?.end('Written');
  expect(await written()).toHaveLength(5);
  pods.stop();
  await writes[1]?.end('Written');
  expect(await written()).toHaveLength(5);
});
