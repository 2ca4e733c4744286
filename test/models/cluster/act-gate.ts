/**
 * A gate in front of the API server: requests of a path wait here until the path answers them, so
 * that other events can happen first.
 *
 * Promises: a cancelled request leaves the gate; requests pass unchanged.
 */
import { Effect, Layer } from 'effect';
import { KubeApi } from '../../../src/effects/kube-api.ts';

/** The gate. */
export interface ActGate {
  /** Waits for its turn to pass. */
  readonly pass: Effect.Effect<void>;
  /** Resolves when a request waits. */
  readonly arrival: () => Promise<void>;
  /** Lets everything pass. */
  readonly open: () => void;
  readonly close: () => void;
}

/** A closed gate. */
export const makeActGate = (): ActGate => {
  const waiting = new Set<() => void>();
  const looking = new Set<() => void>();
  let isOpen = false;
  const pass = Effect.callback<void>((resume) => {
    const go = (): void => resume(Effect.void);
    if (isOpen) go();
    else {
      waiting.add(go);
      for (const seen of looking) seen();
      looking.clear();
    }
    return Effect.sync(() => void waiting.delete(go));
  });
  return {
    pass,
    arrival: () =>
      waiting.size > 0 ? Promise.resolve() : new Promise((resolve) => void looking.add(resolve)),
    open: () => {
      isOpen = true;
      for (const go of waiting) go();
      waiting.clear();
    },
    close: () => {
      isOpen = false;
    },
  };
};

/** The API server behind the gate. */
export const behindGate = (gate: ActGate): Layer.Layer<KubeApi, never, KubeApi> =>
  Layer.effect(
    KubeApi,
    Effect.map(KubeApi, (api) => ({
      call: (call) => Effect.andThen(gate.pass, api.call(call)),
      watch: (call) => Effect.andThen(gate.pass, api.watch(call)),
    })),
  );
