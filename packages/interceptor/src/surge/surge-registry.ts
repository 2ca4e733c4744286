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
import {
  type DeploymentKey,
  type SurgeTiming,
  type SurgeWrite,
  workloadSurge,
} from './workload-surge.ts';
import type { SurgeFacts } from './surge-facts.ts';
import { readSurgeFacts } from './surge-reads.ts';
import { surgeMessage } from './surge-message.ts';
import { remainingPods } from './surge-step.ts';
import { writeStep } from './surge-writes.ts';

/** The dependencies of surges. */
export interface SurgeEnvironment {
  readonly api: KubernetesApi;
  readonly time: Time;
  readonly timing: SurgeTiming;
  readonly seed: Seed;
  readonly log: (message: string, fields: JsonRecord) => void;
}

type SurgeActor = Actor<typeof workloadSurge>;
type SurgeSnapshot = SnapshotFrom<typeof workloadSurge>;

const provideSurge = (environment: SurgeEnvironment): typeof workloadSurge => {
  const { api, log, time } = environment;
  const write = fromPromise(({ input }: { readonly input: SurgeWrite }) => writeStep(api, input));
  return workloadSurge.provide({
    actors: {
      readFacts: fromPromise(({ input }) => readSurgeFacts(api, time, input.deployment)),
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

/** The surges of a process. */
export class SurgeRegistry {
  readonly #environment: SurgeEnvironment;
  readonly #logic: typeof workloadSurge;
  /** By namespace, name and UID of the Deployment. */
  readonly #actors = new Map<string, SurgeActor>();
  #seed: Seed;

  constructor(environment: SurgeEnvironment) {
    this.#environment = environment;
    this.#logic = provideSurge(environment);
    this.#seed = environment.seed;
  }

  #actor(deployment: DeploymentKey, isRecovered: boolean, requested: readonly string[]) {
    const key = Object.values(deployment).join('/');
    const known = this.#actors.get(key);
    if (known !== undefined) return known;
    const { time, timing } = this.#environment;
    this.#seed = nextSeed(this.#seed);
    const actor = createActor(this.#logic, {
      input: { deployment, requested, isRecovered, timing, seed: this.#seed },
      clock: statechartClock(time),
    });
    this.#actors.set(key, actor);
    actor.subscribe({ complete: () => this.#actors.delete(key) });
    actor.start();
    return actor;
  }

  /** The surge that has the pod. */
  #surgeOf(uid: string): SurgeSnapshot | undefined {
    return [...this.#actors.values()].map((actor) => actor.getSnapshot())
      .find(({ context }) => context.requested.includes(uid));
  }

  /** How far the replacement of a pod is, for people; empty before it has begun. */
  readonly message = (pod: TargetPod): string => {
    const { facts, deployment, problem } = this.#surgeOf(pod.uid)?.context ?? {};
    if (deployment === undefined) return '';
    if (typeof problem === 'string') return problem;
    if (facts === null || facts === undefined) return `Reads Deployment "${deployment.name}"`;
    return surgeMessage(deployment.name, facts);
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
      const onAbort = (): void => {
        actor.send({ type: 'pod.withdrawn', uid });
        finish(() => reject(signal.reason));
      };
      const subscription = actor.subscribe({
        next: (snapshot) => {
          const { refusal } = snapshot.context;
          if (hasLeft(snapshot, facts, uid)) return finish(resolve);
          if (snapshot.status !== 'done') return;
          finish(() => reject(new Error(`cannot surge "${deployment.name}": ${refusal}`)));
        },
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });

  /** Resumes or undoes a surge that an earlier process has left. */
  readonly recover = (deployment: DeploymentKey): void => {
    this.#actor(deployment, true, []);
  };

  /** Leaves all surges as they are, for the next process. */
  readonly stop = (): void => {
    for (const actor of this.#actors.values()) actor.stop();
    this.#actors.clear();
  };
}
