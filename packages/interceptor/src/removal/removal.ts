/**
 * An interceptor that deletes its pod as soon as it may.
 *
 * Promises: acts while it is the active one, and only on a verdict that allows it, which is asked
 * again right before the deletion leaves; until then it sends heartbeats and completes nothing; it
 * never completes, because the request ends when the pod has left.
 */
import { createActor, fromPromise } from 'xstate';
import { nextSeed, type Seed } from '../backoff.ts';
import {
  defineInterceptor,
  type Interception,
  type InterceptorDefinition,
} from '../interceptor-definition.ts';
import { type JsonRecord, textAt } from '../json.ts';
import { type KubernetesApi, kubernetesApi } from '../kubernetes-api.ts';
import { type KubernetesClient, kubernetesError } from '../kubernetes-client.ts';
import { podPath } from '../observed-request.ts';
import type { Progress } from '../report.ts';
import { statechartClock, type Time } from '../time.ts';
import {
  podRemoval,
  type PodRemovalContext,
  type RemovalOutcome,
  type RemovalVerdict,
} from './pod-removal.ts';

/** Decides which pods may be removed. */
export interface RemovalGate {
  /** The verdict now. Throws when the interceptor is not for this pod, so that it gives up. */
  readonly verdictOf: (pod: JsonRecord) => RemovalVerdict;
  /** Calls `onChange` when verdicts may have changed; returns how to stop that. */
  readonly subscribe: (onChange: () => void) => () => void;
}

/** What a removal runs with. */
export interface RemovalOptions {
  /** A domain name with three labels or more. */
  readonly name: string;
  readonly gate: RemovalGate;
  readonly client: KubernetesClient;
  readonly time: Time;
  /** Determines the jitter of waits. */
  readonly seed: number;
}

const failureOf = (cause: unknown): RemovalOutcome => {
  const { _tag, message: problem, retryAfterMs } = kubernetesError(cause);
  // In a deletion, a conflict is another pod of this name.
  const isGone = _tag === 'NotFound' || _tag === 'Conflict';
  return isGone ? { _tag: 'Absent' } : { _tag: 'Failed', problem, retryAfterMs };
};

const messageOf = ({ verdict, problem }: PodRemovalContext): string | undefined =>
  problem === null ? verdict?.message : `${verdict?.message ?? 'Reads the pod'}: ${problem}`;

/** One pod under way: what it shows, and its requests. */
class Removal {
  readonly #api: KubernetesApi;
  readonly #options: RemovalOptions;
  readonly #interception: Interception;
  #pod: JsonRecord | undefined;
  #progress: Progress = {};

  constructor(options: RemovalOptions, api: KubernetesApi, interception: Interception) {
    this.#options = options;
    this.#api = api;
    this.#interception = interception;
  }

  get progress(): Progress {
    return this.#progress;
  }

  /** Ends only with the signal, or when the gate refuses the pod. */
  readonly run = (seed: Seed): Promise<never> => {
    const { gate, time } = this.#options;
    const { signal } = this.#interception;
    return new Promise((_, reject) => {
      const logic = podRemoval.provide({
        actors: {
          readPod: fromPromise(() => this.#read(reject)),
          deletePod: fromPromise((
            { input }: { readonly input: { readonly graceSeconds: number } },
          ) => this.#delete(input.graceSeconds)),
        },
      });
      const actor = createActor(logic, { input: { seed }, clock: statechartClock(time) });
      actor.subscribe(({ context, value }) => this.#show(context, value === 'stopping'));
      const unsubscribe = gate.subscribe(() => {
        if (this.#pod === undefined) return;
        actor.send({ type: 'verdict.changed', verdict: gate.verdictOf(this.#pod) });
      });
      signal.addEventListener('abort', () => {
        unsubscribe();
        actor.stop();
        reject(signal.reason);
      }, { once: true });
      actor.start();
    });
  };

  #show(context: PodRemovalContext, isStopping: boolean): void {
    const message = messageOf(context);
    const { expectedFinishTime } = this.#progress;
    const finishMs = this.#options.time.now() + (context.verdict?.graceSeconds ?? 0) * 1000;
    this.#progress = {
      ...(message === undefined ? {} : { message }),
      ...(isStopping ? { expectedFinishTime: expectedFinishTime ?? new Date(finishMs) } : {}),
    };
  }

  async #read(giveUp: (why: unknown) => void): Promise<RemovalOutcome> {
    const { pod: { uid }, pod } = this.#interception;
    let found: JsonRecord;
    try {
      found = await this.#api.get(podPath(pod));
    } catch (cause) {
      return failureOf(cause);
    }
    if (textAt(found, 'metadata', 'uid') !== uid) return { _tag: 'Absent' };
    try {
      const verdict = this.#options.gate.verdictOf(found);
      this.#pod = found;
      return { _tag: 'Found', verdict };
    } catch (cause) {
      giveUp(cause);
      return { _tag: 'Absent' };
    }
  }

  async #delete(graceSeconds: number): Promise<RemovalOutcome> {
    const { pod, signal } = this.#interception;
    const known = this.#pod;
    try {
      await this.#api.remove(podPath(pod), pod.uid, {
        gracePeriodSeconds: graceSeconds,
        mayLeave: () =>
          !signal.aborted && known !== undefined && this.#options.gate.verdictOf(known).may,
      });
      return { _tag: 'Deleted' };
    } catch (cause) {
      return failureOf(cause);
    }
  }
}

/** Makes the interceptor. */
export const removal = (options: RemovalOptions): InterceptorDefinition => {
  const api = kubernetesApi(options.client);
  const removals = new Map<string, Removal>();
  let seed: Seed = options.seed;
  return defineInterceptor({
    name: options.name,
    progress: ({ uid }) => removals.get(uid)?.progress ?? {},
    intercept: async (interception) => {
      const { pod: { uid } } = interception;
      const one = new Removal(options, api, interception);
      removals.set(uid, one);
      seed = nextSeed(seed);
      try {
        await one.run(seed);
      } finally {
        removals.delete(uid);
      }
    },
  });
};
