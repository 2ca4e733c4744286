/** `kubectl wait` for the condition of CapacityRequests on a real API server. */
import { Layer, ManagedRuntime } from 'effect';
import { BehaviorSubject, Subject } from 'rxjs';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { makeActorEnvironment } from '../../src/actors/actor-environment.ts';
import { startRollups } from '../../src/actors/demand/rollups.ts';
import { startInformer } from '../../src/actors/informers/informer.ts';
import { silentTelemetry as telemetry } from '../../src/api/telemetry.ts';
import { capacityRequestProjector } from '../../src/domain/demand/request.ts';
import type { ShardEvent } from '../../src/domain/frames.ts';
import { listOrEmptyAt, numberAt, parseJson, textAt, valueAt } from '../../src/domain/json.ts';
import { sameJson } from '../../src/domain/json-equality.ts';
import type { Rollup } from '../../src/domain/session.ts';
import {
  CAPACITY_REQUESTS_PATH,
  capacityRequestsLayer,
} from '../../src/effects/capacity-requests.ts';
import { kubeConnection } from '../../src/effects/kube-connection.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { writeBudget } from '../../src/effects/write-budget.ts';
import { makeWriteGate, WriteGate } from '../../src/effects/write-gate.ts';
import { clusterClient, COLLECTIONS } from '../support/api/cluster-client.ts';
import { fileSource } from '../support/api/live-environment.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';

const INTERVAL_MS = 200;

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The half of an operator that sends the demand, with a shard that acknowledges on request. */
const start = async (bed: Testbed) => {
  const gate = makeWriteGate(realTime);
  gate.openUntil(Number.POSITIVE_INFINITY);
  const runtime = ManagedRuntime.make(
    capacityRequestsLayer.pipe(
      Layer.provideMerge(writeBudget({ qps: 2000, burst: 2000, telemetry })),
      Layer.provideMerge(Layer.orDie(kubeConnection({
        source: fileSource(bed.kubeconfig),
        version: 'test',
        telemetry,
      }))),
      Layer.provideMerge(Layer.succeed(WriteGate, gate)),
    ),
  );
  const environment = makeActorEnvironment({ time: realTime, runtime, telemetry, firstSeed: 7 });
  const requests = startInformer(environment, {
    id: 'capacityrequests',
    path: CAPACITY_REQUESTS_PATH,
    project: capacityRequestProjector(),
  });
  const shardEvents = new Subject<ShardEvent>();
  const acknowledged = new Subject<Rollup>();
  let newest: Rollup | undefined;
  const rollups = startRollups(environment, {
    session: {
      shardEvents,
      acknowledged,
      leading: new BehaviorSubject(true),
      offerRollup: (rollup) => {
        newest = rollup;
      },
    },
    requests,
    intervalMs: INTERVAL_MS,
    ackConcurrency: 16,
    record: () => {},
  });
  cleanups.push(async () => {
    rollups.stop();
    requests.stop();
    await runtime.dispose();
  });
  await requests.whenSynced;
  shardEvents.next({ _tag: 'StreamOpened', stream: 1 });
  return {
    /** The shard acknowledges the newest roll-up, once that has this many requests to write. */
    acknowledge: async (requestsToWrite: number) => {
      const rollup = await eventually(
        () => newest?.unacknowledged.length === requestsToWrite ? newest : undefined,
        { what: 'a roll-up with the requests' },
      );
      acknowledged.next(rollup);
    },
  };
};

const requestOf = (name: string, cpu: string): string =>
  JSON.stringify({
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'CapacityRequest',
    metadata: { name, namespace: 'default' },
    spec: { resources: { cpu }, priority: 0 },
  });

describeWithTestbed('conditions of CapacityRequests', {}, (bed) => {
  beforeAll(async () => {
    await bed().installCrds();
  });

  const waitFor = (condition: string, name: string, timeout = '120s') =>
    bed().kubectl('wait', `--for=condition=${condition}`, `cr/${name}`, `--timeout=${timeout}`);

  const conditionOf = async (name: string): Promise<unknown> => {
    const { stdout } = await bed()
      .kubectl('get', 'cr', name, '-o', 'jsonpath={.status.conditions[0]}');
    return parseJson(stdout);
  };

  it('wire 2: kubectl waits until the fleet acknowledged the request, and again after a change', async () => {
    const { acknowledge } = await start(bed());
    const { of } = await (await clusterClient(bed())).history(COLLECTIONS.requests);
    await bed().apply(requestOf('web', '2'));
    const waiting = waitFor('Acknowledged', 'web');
    await acknowledge(1);
    expect(await waiting).toMatchObject({ code: 0, stderr: '' });
    const first = await conditionOf('web');
    expect(first).toMatchObject({ status: 'True', reason: 'Acknowledged', observedGeneration: 1 });

    await bed().apply(requestOf('web', '4'));
    expect((await waitFor('Acknowledged', 'web', '1s')).code, 'that is not acknowledged').toBe(1);
    await acknowledge(1);
    expect((await waitFor('Acknowledged', 'web')).code).toBe(0);
    expect(await conditionOf('web')).toEqual({ ...Object(first), observedGeneration: 2 });
    // Not the patches: one that is acknowledged late becomes Pending before, by one more.
    const acknowledgedGenerations = () =>
      of('web').flatMap((version, at, all) => {
        const [now, before] = [version, all[at - 1]].map((one) => valueAt(one, 'status'));
        const [condition] = listOrEmptyAt(now, 'conditions');
        return sameJson(now, before) || textAt(condition, 'status') !== 'True'
          ? []
          : [numberAt(condition, 'observedGeneration')];
      });
    await eventually(() => acknowledgedGenerations().includes(2), { what: 'the last patch' });
    expect(acknowledgedGenerations(), 'one patch for each version of the spec').toEqual([1, 2]);
  });

  it('a request that is left out is no longer waited for', async () => {
    await start(bed());
    await bed().apply(requestOf('odd', '-1'));
    expect((await waitFor('Acknowledged=false', 'odd')).code).toBe(0);
    expect(textAt(await conditionOf('odd'), 'message'))
      .toContain('Left out of the demand: spec.resources["cpu"]');
  });
});
