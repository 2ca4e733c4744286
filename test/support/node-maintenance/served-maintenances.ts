/** The role maintenance on an API server, in this process; also with interceptors. */
import { Layer, ManagedRuntime } from 'effect';
import { onTestFinished } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { evictionRequestsRole } from '../../../src/actors/eviction-requests/eviction-requests-role.ts';
import { sharedInformers } from '../../../src/actors/informers/shared-informers.ts';
import { interceptorsRole } from '../../../src/actors/interceptors/interceptors-role.ts';
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
import { TIMING } from '../eviction-requests/request-fixture.ts';
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

/** Whether the roles evictions and interceptors run beside it. */
interface Beside {
  readonly withInterceptors?: boolean;
}

/** Starts the role as the leader; the notes are those that it records as Events. */
export const startMaintenances = async (
  kubeconfig: string,
  { withInterceptors = false }: Beside = {},
) => {
  const runtime = connected(kubeconfig);
  const environment = makeActorEnvironment({ time: realTime, runtime, telemetry, firstSeed: 1 });
  const informers = sharedInformers(environment);
  const notes: EventNote[] = [];
  const context = {
    informers,
    record: (note: EventNote) => void notes.push(note),
    recordOnLease: () => {},
  };
  const via = withInterceptors ? 'auto' : 'evictions';
  const role = nodeMaintenanceRole(
    environment,
    { policy: { own: null, paused: false, via }, drains: undefined },
    context,
  );
  const others = withInterceptors
    ? [
      evictionRequestsRole(environment, {
        policy: { timing: TIMING, ttlMs: null },
        drains: role.shared,
      }, context),
      interceptorsRole(environment, { withoutSurge: 'evict' }, context),
    ]
    : [];
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    stopped ??= Promise.all([...others, role].map((one) => one.stop())).then(() => {
      informers.stop();
      return runtime.dispose();
    });
  const start = await role.discover?.();
  await Promise.all(others.map((one) => one.discover?.()));
  informers.start();
  // As the operator: no role leads before its lists are complete.
  const roles = [role, ...others];
  await Promise.all(roles.flatMap((one) => one.informers).map(({ whenSynced }) => whenSynced));
  for (const one of roles) one.onLeading();
  return { start, notes, stop };
};

/** The same inside a test, with which it ends. */
export const serveMaintenances = async (kubeconfig: string, beside: Beside = {}) => {
  const served = await startMaintenances(kubeconfig, beside);
  onTestFinished(served.stop);
  return served;
};
