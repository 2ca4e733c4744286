/**
 * The actors of all pods' requests: who is awake, who has a turn, who may sleep.
 *
 * Promises: an actor is woken only when a write is owed; it sleeps only when the caches show what
 * it knows, so that waking never begins from an older truth; one that ends by a defect is started
 * again. So a hundred thousand pods cost what their facts cost.
 */
import type { ActorRefFrom, SnapshotFrom } from 'xstate';
import { defectText } from '../../api/telemetry.ts';
import type { ObjectKey, Uid } from '../../domain/ids.ts';
import { owedRequest } from '../../domain/pod-demand/demand-facts.ts';
import type { OwnedRequest } from '../../domain/pod-demand/owned-request.ts';
import { isOlder } from '../../domain/revisions.ts';
import type { PodRequests } from '../../effects/pod-requests.ts';
import type { PodDemandContext } from '../../machines/pod-demand-terms.ts';
import type { podDemand } from '../../machines/pod-demand.ts';
import { quietActors } from '../quiet-actors.ts';
import { innermostState, stateCounts } from '../state-counts.ts';
import { startConcurrencyLimit } from '../concurrency-limit.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { writeDoor } from '../write-door.ts';
import { providePodDemand } from './pod-demand-acts.ts';
import type { PodDemandWords } from './pod-demand-voice.ts';
import type { PodMember, PodRoster } from './pod-roster.ts';

/** Pods whose requests are written at once; the write budget paces them. */
export const PODS_AT_ONCE = 32;
/** Settled actors that are kept awake, to be looked at; more of them sleep. */
export const QUIET_PODS_MAX = 1000;
/** After a defect of ours: long enough not to be a hot loop. */
const RESTART_MS = 30_000;

export type PodActor = ActorRefFrom<typeof podDemand>;
export type Pod = PodMember<PodActor>;

/** What the actors need to know, and where they speak. */
export interface PodPopulationOptions {
  readonly roster: PodRoster<PodActor>;
  readonly request: (key: ObjectKey) => OwnedRequest | undefined;
  readonly voice: PodDemandWords;
  /** Whether this process leads and its lists are complete: until then nobody acts. */
  readonly active: () => boolean;
}

/** The actors of all pods' requests. */
export interface PodPopulation {
  /** Tells an actor that is awake what is new; wakes one that sleeps when a write is owed. */
  readonly consider: (pod: Pod) => void;
  /** A request of the pod went. */
  readonly vanish: (pod: Pod, uid: Uid) => void;
  /**
   * For the end of a term of leadership; nobody is active by then. Puts to sleep whoever waits for
   * no answer and knows nothing that the caches do not show.
   */
  readonly rest: () => void;
  readonly counts: () => Readonly<Record<string, number>>;
  readonly idle: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Nobody is awake at first. */
export const makePodPopulation = (
  environment: ActorEnvironment<PodRequests>,
  { roster, request, voice, active }: PodPopulationOptions,
): PodPopulation => {
  const { telemetry, time } = environment;
  const counts = stateCounts((state, count) =>
    telemetry.gauge('tidegate_pod_demands', count, { state })
  );
  const door = writeDoor();
  let stopped = false;

  const showState = (pod: Pod, state: string | undefined): void => {
    counts.move(pod.state, state);
    pod.state = state;
  };
  const sleep = (pod: Pod): void => {
    const { actor } = pod;
    pod.actor = undefined;
    quiet.stir(pod);
    actor?.stop();
    showState(pod, roster.forget(pod) ? undefined : 'asleep');
  };
  /** Whether the caches show all that the actor knows. */
  const cachesCaughtUp = (pod: Pod, { facts, gone }: PodDemandContext): boolean =>
    facts.requests.every(({ key, uid, revision }) => {
      const cached = request(key);
      return cached?.uid === uid && !isOlder(cached.revision, revision);
    }) && roster.facts(pod).requests.every(({ uid }) => !gone.includes(uid));
  const fallAsleep = (pod: Pod): boolean => {
    const context = pod.actor?.getSnapshot().context;
    if (context !== undefined && !cachesCaughtUp(pod, context)) return false;
    sleep(pod);
    return true;
  };
  const quiet = quietActors<Pod>(QUIET_PODS_MAX, fallAsleep);
  const moved = (pod: Pod, snapshot: SnapshotFrom<typeof podDemand>): void => {
    showState(pod, innermostState(snapshot.value));
    if (!snapshot.hasTag('settled')) return quiet.stir(pod);
    if (!snapshot.matches('absent') || !fallAsleep(pod)) quiet.rest(pod);
  };
  const restart = (pod: Pod, cause: unknown): void => {
    telemetry.count('tidegate_actor_defects_total', 1, { machine: 'podDemand' });
    telemetry.log('error', 'The actor of a pod failed by a defect and starts again', {
      pod: pod.pod?.key ?? pod.uid,
      problem: defectText(cause),
    });
    sleep(pod);
    time.schedule(RESTART_MS, () => consider(pod));
  };
  /** `undefined` when there turned out to be nothing left to do. */
  const wake = (pod: Pod): PodActor | undefined => {
    if (pod.actor !== undefined) return pod.actor;
    const facts = roster.facts(pod);
    const subject = roster.podOf(pod);
    if (owedRequest(subject, facts) === undefined) {
      sleep(pod);
      return undefined;
    }
    const actor = environment.actor(logic, `podDemand/${pod.uid}`, {
      pod: subject,
      facts,
      seed: environment.seed(),
    });
    pod.actor = actor;
    actor.subscribe({
      next: (snapshot) => {
        if (pod.actor === actor) moved(pod, snapshot);
      },
      error: (cause) => restart(pod, cause),
    });
    actor.start();
    return pod.actor;
  };
  const turns = startConcurrencyLimit<Pod>({
    atOnce: PODS_AT_ONCE,
    name: ({ uid }) => uid,
    wake: (pod) => (stopped || !active() ? undefined : wake(pod)),
    onTaking: (count) => telemetry.gauge('tidegate_pod_demands_writing', count),
  });
  const logic = providePodDemand(environment.runtime, {
    tellRefused: voice.tellRefused,
    tellFailing: (context) => {
      // Between two terms of leadership nothing can be written; that is no news about a pod.
      if (active()) voice.tellFailing(context);
    },
    askForTurn: ({ pod: { uid } }) => {
      const pod = roster.get(uid);
      if (pod !== undefined && !stopped) turns.ask(pod);
    },
  }, door.through);

  const considerAsleep = (pod: Pod): void => {
    if (owedRequest(roster.podOf(pod), roster.facts(pod)) === undefined) return sleep(pod);
    showState(pod, 'waiting');
    turns.ask(pod);
  };
  const considerAwake = (pod: Pod, actor: PodActor): void => {
    const known = actor.getSnapshot().context.facts;
    const { standing, text, requests } = roster.facts(pod);
    if (standing !== known.standing || text !== known.text) {
      actor.send({ type: 'pod.observed', standing, text });
    }
    for (const seen of requests) {
      const before = known.requests.find(({ uid }) => uid === seen.uid);
      if (before?.revision !== seen.revision) {
        actor.send({ type: 'request.observed', request: seen });
      }
    }
    // A turn that came between two terms of leadership was given to nobody.
    if (pod.state === 'waiting') turns.ask(pod);
  };
  const consider = (pod: Pod): void => {
    if (stopped) return;
    if (pod.actor !== undefined) considerAwake(pod, pod.actor);
    else if (active()) considerAsleep(pod);
    else roster.forget(pod);
  };

  return {
    consider,
    vanish: (pod, uid) => {
      pod.actor?.send({ type: 'request.vanished', uid });
      consider(pod);
    },
    rest: () => {
      for (const pod of [...roster.members()]) {
        // What was sent has an answer to come, which the next term must know.
        if (pod.actor?.getSnapshot().hasTag('acting') !== true) fallAsleep(pod);
      }
    },
    counts: counts.all,
    idle: turns.idle,
    stop: async () => {
      stopped = true;
      turns.stop();
      await door.close();
      for (const { actor } of roster.members()) actor?.stop();
    },
  };
};
