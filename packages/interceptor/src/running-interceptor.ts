/**
 * A running interceptor: one interception for each EvictionRequest that names it.
 *
 * Promises: interceptions follow from the cluster alone, so a restarted process resumes those that
 * are active and leaves those that completed; a stopped process completes none and writes nothing.
 */
import { type Actor, createActor } from 'xstate';
import { nextSeed, type Seed } from './backoff.ts';
import { provideInterception } from './interception-actor.ts';
import { DEFAULT_TIMING, type InterceptionTiming } from './interception-context.ts';
import type { interception } from './interception.ts';
import { InterceptionAborted, type InterceptorDefinition } from './interceptor-definition.ts';
import { type JsonRecord, textAt } from './json.ts';
import { kubernetesApi } from './kubernetes-api.ts';
import type { KubernetesClient, WatchLine } from './kubernetes-client.ts';
import {
  abortReasonOf,
  type ObservedRequest,
  observedRequest,
  requestsPath,
  type TargetPod,
} from './observed-request.ts';
import { provideRequestWatch, type requestWatch } from './request-watch.ts';
import { statechartClock, type Time } from './time.ts';

/** A line of the log. */
export type Log = (message: string, fields: JsonRecord) => void;

/** What an interceptor runs with. */
export interface InterceptorOptions {
  readonly client: KubernetesClient;
  readonly time: Time;
  /** Determines the jitter of waits. */
  readonly seed: number;
  /** Default: all namespaces. */
  readonly namespace?: string;
  readonly timing?: Partial<InterceptionTiming>;
  readonly log?: Log;
}

/** The state of an interception, for people and tests. */
export interface InterceptionStatus {
  readonly pod: TargetPod;
  /** The state of its statechart: `intercepting.idle`. */
  readonly state: string;
}

/** A running interceptor. */
export interface RunningInterceptor {
  /** The interceptions that have not settled. */
  readonly interceptions: () => readonly InterceptionStatus[];
  /** Aborts all interceptions with `Stopped`; the next process resumes them. */
  readonly stop: () => void;
}

interface Entry {
  request: ObservedRequest;
  isGone: boolean;
  readonly actor: Actor<typeof interception>;
}

const pathOf = (value: unknown): string =>
  typeof value === 'string' ? value : Object.entries(value ?? {})
    .map(([key, inner]) => `${key}.${pathOf(inner)}`).join('');

class Interceptions {
  readonly #definition: InterceptorDefinition;
  readonly #timing: InterceptionTiming;
  readonly #logic: typeof interception;
  readonly #clock: ReturnType<typeof statechartClock>;
  readonly #entries = new Map<string, Entry>();
  #seed: Seed;
  #isStopped = false;

  constructor(definition: InterceptorDefinition, options: InterceptorOptions, log: Log) {
    this.#definition = definition;
    this.#timing = { ...DEFAULT_TIMING, ...options.timing };
    this.#clock = statechartClock(options.time);
    this.#seed = options.seed;
    this.#logic = provideInterception(definition, {
      api: kubernetesApi(options.client),
      time: options.time,
      abortReason: ({ uid }) => this.#abortReason(uid),
      log,
    });
  }

  #abortReason(uid: string): InterceptionAborted {
    const entry = this.#entries.get(uid);
    if (this.#isStopped || entry === undefined) return new InterceptionAborted('Stopped');
    if (entry.isGone) return new InterceptionAborted('RequestDeleted');
    // While the request is active in the watch, only a report that was answered with 404 ends it.
    return new InterceptionAborted(abortReasonOf(entry.request) ?? 'RequestDeleted');
  }

  #start(request: ObservedRequest): Entry {
    this.#seed = nextSeed(this.#seed);
    const input = { request, timing: this.#timing, seed: this.#seed };
    const actor = createActor(this.#logic, { input, clock: this.#clock });
    const entry = { request, isGone: false, actor };
    this.#entries.set(request.uid, entry);
    actor.start();
    return entry;
  }

  /** An interception that nothing follows from is forgotten; the status has all of it. */
  #forgetSettled({ request: { uid, isPending }, isGone, actor }: Entry): void {
    if ((isPending && !isGone) || !actor.getSnapshot().hasTag('settled')) return;
    actor.stop();
    this.#entries.delete(uid);
  }

  readonly observe = (raw: unknown): void => {
    const request = observedRequest(raw, this.#definition.name);
    const known = this.#entries.get(request.uid);
    if (known === undefined) {
      if (request.isPending) this.#start(request);
      return;
    }
    known.request = request;
    known.actor.send({ type: 'request.observed', request });
    this.#forgetSettled(known);
  };

  readonly vanish = (uid: string): void => {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return;
    entry.isGone = true;
    entry.actor.send({ type: 'request.vanished' });
    this.#forgetSettled(entry);
  };

  readonly observeAll = (items: readonly unknown[]): void => {
    const listed = new Set(items.map((item) => textAt(item, 'metadata', 'uid')));
    for (const uid of [...this.#entries.keys()]) if (!listed.has(uid)) this.vanish(uid);
    for (const item of items) this.observe(item);
  };

  readonly statuses = (): readonly InterceptionStatus[] =>
    [...this.#entries.values()]
      .map(({ request, actor }) => ({ pod: request.pod, snapshot: actor.getSnapshot() }))
      .filter(({ snapshot }) => !snapshot.hasTag('settled'))
      .map(({ pod, snapshot }) => ({ pod, state: pathOf(snapshot.value) }));

  readonly stop = (): void => {
    this.#isStopped = true;
    for (const { actor } of this.#entries.values()) actor.stop();
    this.#entries.clear();
  };
}

/** Starts an interceptor; it runs until it is stopped. */
export const startInterceptor = (
  definition: InterceptorDefinition,
  options: InterceptorOptions,
): RunningInterceptor => {
  const { client, namespace, time, seed, log = () => {} } = options;
  const interceptions = new Interceptions(definition, options, log);
  const onLine = ({ type, object }: WatchLine): void => {
    if (type === 'DELETED') interceptions.vanish(textAt(object, 'metadata', 'uid') ?? '');
    if (type === 'ADDED' || type === 'MODIFIED') interceptions.observe(object);
    watch.send({ type: 'watch.received' });
  };
  const logic = provideRequestWatch(
    { api: kubernetesApi(client), client, path: requestsPath(namespace) },
    {
      recover: async () => await definition.recover?.(),
      onList: ({ items }) => interceptions.observeAll(items),
      onLine,
      onProblem: (problem) => log('Cannot watch EvictionRequests', { problem }),
    },
  );
  const watch: Actor<typeof requestWatch> = createActor(logic, {
    input: { seed: nextSeed(seed) },
    clock: statechartClock(time),
  });
  watch.start();
  return {
    interceptions: interceptions.statuses,
    stop: () => {
      interceptions.stop();
      watch.stop();
    },
  };
};
