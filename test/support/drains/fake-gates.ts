/** Serving gates of pods in memory, and the EndpointSlices that follow them after a while. */
import { Effect, Layer } from 'effect';
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import type { Time } from '../../../src/domain/time.ts';
import { type GateWriteOutcome, ServingGates } from '../../../src/effects/serving-gates.ts';
import type { PodSeed } from './fake-pod-objects.ts';

/** One write, as the server saw it. */
export interface GateWriteSeen {
  readonly pod: string;
  readonly isOpen: boolean;
  readonly atMs: number;
}

/** Gates of a cluster; EndpointSlices list a closed pod for `slicesMs` more. */
export const fakeGates = (
  time: Time,
  setGate: (name: string, gate: PodSeed['gate']) => void,
) => {
  const writes: GateWriteSeen[] = [];
  const closedAt = new Map<string, number>();
  let slicesMs = 500;
  let reads = 0;
  let outcome: GateWriteOutcome = 'Written';
  const layer = Layer.succeed(ServingGates, {
    write: ({ name, body }) =>
      Effect.sync(() => {
        const [condition] = listOrEmptyAt(body, 'status', 'conditions');
        const isOpen = textAt(condition, 'status') === 'True';
        writes.push({ pod: name, isOpen, atMs: time.monotonic() });
        if (outcome !== 'Written') return outcome;
        if (isOpen) closedAt.delete(textAt(body, 'metadata', 'uid') ?? '');
        else closedAt.set(textAt(body, 'metadata', 'uid') ?? '', time.monotonic());
        setGate(name, isOpen ? 'open' : 'evicting');
        return outcome;
      }),
    isListed: (_namespace, uid) =>
      Effect.sync(() => {
        reads += 1;
        return time.monotonic() - (closedAt.get(uid) ?? Infinity) < slicesMs ||
          !closedAt.has(uid);
      }),
  });
  return {
    layer,
    writes,
    reads: () => reads,
    /** How long EndpointSlices list a pod after its gate was closed. */
    keepListed: (ms: number) => void (slicesMs = ms),
    /** How writes end from now on. */
    answer: (next: GateWriteOutcome) => void (outcome = next),
  };
};
