/**
 * An environment with real sockets and real time, for tests with a real or a scripted API server.
 */
import { Layer, ManagedRuntime } from 'effect';
import {
  type ActorEnvironment,
  makeActorEnvironment,
} from '../../../src/actors/actor-environment.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import type { KubeApi } from '../../../src/effects/kube-api.ts';
import { kubeConnection } from '../../../src/effects/kube-connection.ts';
import type { KubeconfigSource } from '../../../src/effects/api-credentials.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { makeWriteGate, WriteGate } from '../../../src/effects/write-gate.ts';

/** One process, as far as a test is concerned. */
export interface LiveEnvironment {
  readonly environment: ActorEnvironment<KubeApi | WriteGate>;
  readonly gate: WriteGate['Service'];
  /** Closes every socket. */
  readonly dispose: () => Promise<void>;
}

let made = 0;

/** Connects as the user of `source`. */
export const liveEnvironment = (
  source: KubeconfigSource,
  telemetry: Telemetry = silentTelemetry,
): LiveEnvironment => {
  made += 1;
  const gate = makeWriteGate(realTime);
  const runtime = ManagedRuntime.make(Layer.merge(
    Layer.orDie(kubeConnection({ source, version: 'test', telemetry })),
    Layer.succeed(WriteGate, gate),
  ));
  const environment = makeActorEnvironment({ time: realTime, runtime, telemetry, firstSeed: made });
  return { environment, gate, dispose: () => runtime.dispose() };
};

/** A kubeconfig's path as a source. */
export const fileSource = (path: string): KubeconfigSource => ({ _tag: 'File', path });
