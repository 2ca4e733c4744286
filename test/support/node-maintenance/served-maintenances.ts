/** The role maintenance on an API server, in this process. */
import { Layer, ManagedRuntime } from 'effect';
import { onTestFinished } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { sharedInformers } from '../../../src/actors/informers/shared-informers.ts';
import { nodeMaintenanceRole } from '../../../src/actors/node-maintenance/node-maintenance-role.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { cordonsLayer } from '../../../src/effects/cordons.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { evictionRequestsLayer } from '../../../src/effects/eviction-requests.ts';
import { kubeConnection } from '../../../src/effects/kube-connection.ts';
import { nodeMaintenancesLayer } from '../../../src/effects/node-maintenance.ts';
import { servingGatesLayer } from '../../../src/effects/serving-gates.ts';
import { podEvictionApiLayer } from '../../../src/effects/pod-eviction-api.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { writeBudget } from '../../../src/effects/write-budget.ts';
import { makeWriteGate, WriteGate } from '../../../src/effects/write-gate.ts';
import { fileSource } from '../api/live-environment.ts';

const telemetry = silentTelemetry;

/** A connection as the user of a kubeconfig. */
const connected = (kubeconfig: string) => {
  const gate = makeWriteGate(realTime);
  gate.openUntil(Number.POSITIVE_INFINITY);
  const source = fileSource(kubeconfig);
  const connection = Layer.orDie(kubeConnection({ source, version: 'test', telemetry }));
  const servers = Layer.merge(connection, Layer.succeed(WriteGate, gate));
  const writes = Layer.provideMerge(writeBudget({ qps: 200, burst: 400, telemetry }), servers);
  const objects = Layer.mergeAll(
    cordonsLayer(telemetry),
    podEvictionApiLayer(telemetry),
    servingGatesLayer,
    evictionRequestsLayer,
    nodeMaintenancesLayer,
  );
  return ManagedRuntime.make(
    Layer.provideMerge(objects, writes).pipe(Layer.provideMerge(clockLayer(realTime))),
  );
};

/** Starts the role as the leader; the notes are those that it records as Events. */
export const startMaintenances = async (kubeconfig: string) => {
  const runtime = connected(kubeconfig);
  const environment = makeActorEnvironment({ time: realTime, runtime, telemetry, firstSeed: 1 });
  const informers = sharedInformers(environment);
  const notes: EventNote[] = [];
  const role = nodeMaintenanceRole(
    environment,
    { policy: { own: null, paused: false }, drains: undefined },
    { informers, record: (note) => void notes.push(note), recordOnLease: () => {} },
  );
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    stopped ??= role.stop().then(() => {
      informers.stop();
      return runtime.dispose();
    });
  const start = await role.start();
  informers.start();
  role.onLeading();
  return { start, notes, stop };
};

/** The same inside a test, with which it ends. */
export const serveMaintenances = async (kubeconfig: string) => {
  const served = await startMaintenances(kubeconfig);
  onTestFinished(served.stop);
  return served;
};
