/**
 * The drain that follows another one on the same Node. Found by worlds 1, 2, 3 and 7: it began
 * while the last snapshot of its predecessor was delivered, so that a recording had its start
 * before the end of the other; and an instruction that was on the Node when its drain ended at once
 * began a second drain, which had nothing to do.
 */
import { afterEach, expect, test } from 'vitest';
import { type Inspect, inspectWith } from '../../../src/observability/inspector.ts';
import { recordingsPlayAgain } from '../../simulation/recording-invariant.ts';
import { drainRig } from '../../support/drains/drain-rig.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A process whose drains are recorded; `starts` are the drains that began. */
const recordedRig = () => {
  const breaches: string[] = [];
  const starts: string[] = [];
  const recording = recordingsPlayAgain({ broken: (_, what) => void breaches.push(what) });
  const observed = inspectWith(() => {}, [({ id, event }) => {
    if (event.type === 'xstate.init' && id.startsWith('nodeDrain/')) starts.push(id);
  }]);
  const inspect: Inspect = (event) => {
    recording.inspection?.('process-1', event);
    observed(event);
  };
  const rig = drainRig({ inspect });
  stops.push(rig.stop);
  return {
    ...rig,
    starts,
    /** What of the recording does not replay. */
    breaches: (): readonly string[] => {
      recording.end?.();
      return breaches;
    },
  };
};

/** The second instruction arrives while the UpcomingNode is to show the end of the first. */
const orderedDuringAnEnd = async (podsOfTheSecond: number) => {
  const rig = recordedRig();
  const { order, node, pods, time, showingTakes } = rig;
  node('n1');
  pods.add({ node: 'n1' });
  showingTakes(() => new Promise((resolve) => void time.schedule(1500, resolve)));
  order('i1', ['n1']);
  await time.advance(3000);
  order('i2', ['n1']);
  rig.drains().release('n1', 'reclaim', 'i2');
  for (let index = 0; index < podsOfTheSecond; index += 1) pods.add({ node: 'n1' });
  await time.advance(30_000);
  expect(rig.annotation('n1')).toMatchObject({ ids: ['i2'], ended: 'Drained' });
  expect(rig.replies).toEqual([{ id: 'i1', nodesStarted: 1 }, { id: 'i2', nodesStarted: 1 }]);
  return rig;
};

test('a drain of an instruction that arrived during the end of another is recorded after that end', async () => {
  const { starts, breaches } = await orderedDuringAnEnd(1);
  expect(starts).toEqual(['nodeDrain/n1', 'nodeDrain/n1']);
  expect(breaches()).toEqual([]);
});

test('an instruction whose drain ends with its cordon begins no further drain', async () => {
  const { starts, breaches } = await orderedDuringAnEnd(0);
  expect(starts).toEqual(['nodeDrain/n1', 'nodeDrain/n1']);
  expect(breaches()).toEqual([]);
});
