/**
 * The surges of a process, one for each Deployment that has requested pods.
 *
 * Promises: pods of one Deployment share a surge, so that together they raise it by no more than
 * its `maxSurge`; a stale write is refused by the API server and decided anew.
 */
import { type Actor, createActor, fromPromise, type SnapshotFrom } from 'xstate';
import { nextSeed, type Seed } from '../backoff.ts';
import type { JsonRecord } from '../json.ts';
import type { KubernetesApi } from '../kubernetes-api.ts';
import type { TargetPod } from '../observed-request.ts';
import { statechartClock, type Time } from '../time.ts';
import type { AcceptsDowntimeOn, DeploymentKey, SurgeTiming, SurgeWrite } from './surge-context.ts';
import type { SurgeFacts } from './surge-facts.ts';
import { blockedReason, surgeMessage } from './surge-message.ts';
import { readSurgeFacts } from './surge-reads.ts';
import { refusalText, type WithoutSurge } from './surge-refusal.ts';
import { remainingPods } from './surge-step.ts';
import { writeStep } from './surge-writes.ts';
import { workloadSurge } from './workload-surge.ts';

/** The dependencies of surges. */
export interface SurgeEnvironment {
  readonly api: KubernetesApi;
  readonly time: Time;
  readonly timing: SurgeTiming;
  readonly withoutSurge: WithoutSurge;
  readonly acceptsDowntimeOn: AcceptsDowntimeOn | undefined;
  readonly seed: Seed;
  /** How many workloads cannot be surged now, by reason; called when that changes. */
  readonly onBlocked: (counts: ReadonlyMap<string, number>) => void;
  readonly log: (message: string, fields: JsonRecord) => void;
}

type SurgeActor = Actor<typeof workloadSurge>;
type SurgeSnapshot = SnapshotFrom<typeof workloadSurge>;

const provideSurge = (environment: SurgeEnvironment): typeof workloadSurge => {
  const { api, log } = environment;
  const write = fromPromise(({ input }: { readonly input: SurgeWrite }) => writeStep(api, input));
  return workloadSurge.provide({
    actors: {
      readFacts: fromPromise(({ input }) => readSurgeFacts(environment, input)),
      raiseReplicas: write,
      lowerCost: write,
      lowerReplicas: write,
      scaleDeployment: write,
      deletePod: write,
      restoreCost: write,
      restoreReplicas: write,
    },
    actions: {
      logProblem: ({ context: { deployment, problem } }) =>
        log('Cannot surge the Deployment', {
          deployment: `${deployment.namespace}/${deployment.name}`,
          problem,
        }),
    },
  });
};

/** Whether the pod has left, by a reading that is newer than `before`. */
const hasLeft = (
  { context: { facts } }: SurgeSnapshot,
  before: SurgeFacts | null,
  uid: string,
): boolean => facts !== null && facts !== before && remainingPods(facts, [uid]).length === 0;

/** The pods stay, but it is accepted for the Node of this one that it is down. */
const mayBeDown = (snapshot: SurgeSnapshot, uid: string): boolean =>
  snapshot.matches('blocked') && snapshot.context.facts?.downtimePods.includes(uid) === true;

/** The surges of a process. */
export class SurgeRegistry {
  readonly #environment: SurgeEnvironment;
  readonly #logic: typeof workloadSurge;
  /** By namespace, name and UID of the Deployment. */
  readonly #actors = new Map<string, SurgeActor>();
  #seed: Seed;
  #reported = '';
  #isStopped = false;

  constructor(environment: SurgeEnvironment) {
    this.#environment = environment;
    this.#logic = provideSurge(environment);
    this.#seed = environment.seed;
  }

  #actor(deployment: DeploymentKey, isRecovered: boolean, requested: readonly string[]) {
    const key = Object.values(deployment).join('/');
    const known = this.#actors.get(key);
    if (known !== undefined) return known;
    const { time, timing, withoutSurge } = this.#environment;
    this.#seed = nextSeed(this.#seed);
    const actor = createActor(this.#logic, {
      input: { deployment, requested, isRecovered, timing, withoutSurge, seed: this.#seed },
      clock: statechartClock(time),
    });
    this.#actors.set(key, actor);
    actor.subscribe({
      next: () => this.#reportBlocked(),
      complete: () => {
        this.#actors.delete(key);
        this.#reportBlocked();
      },
    });
    actor.start();
    return actor;
  }

  #reportBlocked(): void {
    const counts = new Map<string, number>();
    for (const actor of this.#actors.values()) {
      const reason = blockedReason(actor.getSnapshot().context);
      if (reason !== null) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    }
    const text = [...counts].join();
    if (text === this.#reported) return;
    this.#reported = text;
    this.#environment.onBlocked(counts);
  }

  /** The surge that has the pod. */
  #surgeOf(uid: string): SurgeSnapshot | undefined {
    return [...this.#actors.values()].map((actor) => actor.getSnapshot())
      .find(({ context }) => context.requested.includes(uid));
  }

  /** How far the replacement of a pod is, for people; empty before it has begun. */
  readonly message = (pod: TargetPod): string => {
    const context = this.#surgeOf(pod.uid)?.context;
    return context === undefined ? '' : surgeMessage(context);
  };

  /** Replaces a pod; resolves when it leaves. Rejects when no surge is possible. */
  readonly replace = (
    deployment: DeploymentKey,
    { uid }: TargetPod,
    signal: AbortSignal,
  ): Promise<void> =>
    new Promise((resolve, reject) => {
      const actor = this.#actor(deployment, false, [uid]);
      const { facts } = actor.getSnapshot().context;
      actor.send({ type: 'pod.requested', uid });
      const finish = (settle: () => void): void => {
        subscription.unsubscribe();
        signal.removeEventListener('abort', onAbort);
        settle();
      };
      const onGivenUp = (cause: unknown): void => {
        finish(() => reject(cause));
        actor.send({ type: 'pod.withdrawn', uid });
      };
      const onAbort = (): void => onGivenUp(signal.reason);
      const subscription = actor.subscribe({
        next: (snapshot) => {
          const { refusal } = snapshot.context;
          const why = refusal === null ? '' : refusalText(deployment.name, refusal);
          if (hasLeft(snapshot, facts, uid)) return finish(resolve);
          if (mayBeDown(snapshot, uid)) return onGivenUp(new Error(why));
          if (snapshot.status !== 'done') return;
          finish(() => reject(new Error(why)));
        },
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });

  /** Resumes or undoes a surge that an earlier process has left; nothing once it is stopped. */
  readonly recover = (deployment: DeploymentKey): void => {
    // The list of what is to be recovered may be answered after the end.
    if (this.#isStopped) return;
    this.#actor(deployment, true, []);
  };

  /** Leaves all surges as they are, for the next process. */
  readonly stop = (): void => {
    this.#isStopped = true;
    for (const actor of this.#actors.values()) actor.stop();
    this.#actors.clear();
    this.#reportBlocked();
  };
}
