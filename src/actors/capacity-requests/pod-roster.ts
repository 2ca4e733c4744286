/**
 * What is known of every pod that is demand or has a request, awake or asleep.
 *
 * Promises: whose request it is follows from the request alone, so that pods and requests may be
 * heard of in any order; what is kept of a pod is little more than what the caches keep; nothing
 * here waits, writes, or costs a scan for one fact.
 */
import type { ObjectKey, Uid } from '../../domain/ids.ts';
import { uid } from '../../domain/ids.ts';
import type { DemandFacts, RequestsStanding } from '../../domain/pod-demand/demand-facts.ts';
import {
  type OwnedRequest,
  podInName,
  type RequestedPod,
} from '../../domain/pod-demand/owned-request.ts';
import type { PodAsk } from '../../domain/pod-demand/pod-ask.ts';
import { type PodDemand, podName } from '../../domain/pod-demand/pod-demand.ts';
import type { RequestText } from '../../domain/pod-demand/request-text.ts';

/** One pod. */
export interface PodMember<Actor> {
  readonly uid: Uid;
  /** Undefined when it is gone, or was never seen. */
  pod: PodDemand | undefined;
  /** Keys of requests that were seen to be its. */
  keys: readonly ObjectKey[];
  /** It is gone, and the garbage collector has had its time. */
  overdue: boolean;
  /** What people were last warned about. */
  warnedOf: PodAsk | undefined;
  actor: Actor | undefined;
  /** The state that it is counted under. */
  state: string | undefined;
}

/** What the roster needs to know. */
export interface PodRosterOptions {
  readonly request: (key: ObjectKey) => OwnedRequest | undefined;
  /** What a pod asks for, under the defaults that are in use. */
  readonly textOf: (ask: PodAsk) => RequestText;
  /** Whether pods of the namespace count. */
  readonly counts: (namespace: string) => boolean;
}

/** All pods that matter. */
export interface PodRoster<Actor> {
  readonly members: () => Iterable<PodMember<Actor>>;
  readonly size: () => number;
  readonly get: (uid: Uid) => PodMember<Actor> | undefined;
  /** Takes a pod in; `undefined` when that is no news, or of no interest. */
  readonly podSeen: (pod: PodDemand) => PodMember<Actor> | undefined;
  readonly podGone: (pod: Pick<PodDemand, 'uid'>) => PodMember<Actor> | undefined;
  /** Takes a request in. Gives those whom it concerns. */
  readonly requestSeen: (request: OwnedRequest) => readonly PodMember<Actor>[];
  readonly requestGone: (last: OwnedRequest) => PodMember<Actor> | undefined;
  readonly facts: (member: PodMember<Actor>) => DemandFacts;
  readonly podOf: (member: PodMember<Actor>) => RequestedPod;
  /** Forgets one that asks for nothing and has no request; false when there is more to know. */
  readonly forget: (member: PodMember<Actor>) => boolean;
}

const NO_KEYS: readonly ObjectKey[] = [];

const namespaceIn = (key: ObjectKey): string => key.slice(0, Math.max(0, key.indexOf('/')));
const nameIn = (key: ObjectKey): string => key.slice(key.indexOf('/') + 1);

/** An empty roster. */
export const makePodRoster = <Actor>(
  { request, textOf, counts }: PodRosterOptions,
): PodRoster<Actor> => {
  const members = new Map<Uid, PodMember<Actor>>();
  /** Pods that are no demand and have no request that is known of; one may still turn up. */
  const bystanders = new Map<Uid, PodDemand>();
  const join = (id: Uid): PodMember<Actor> => {
    const known = members.get(id);
    if (known !== undefined) return known;
    const member: PodMember<Actor> = {
      uid: id,
      pod: bystanders.get(id),
      keys: NO_KEYS,
      overdue: false,
      warnedOf: undefined,
      actor: undefined,
      state: undefined,
    };
    members.set(id, member);
    bystanders.delete(id);
    return member;
  };
  const requestsOf = (member: PodMember<Actor>): readonly OwnedRequest[] =>
    member.keys.flatMap((key) => {
      const shown = request(key);
      return shown?.pod === member.uid ? [shown] : [];
    });
  const standingOf = ({ pod, overdue }: PodMember<Actor>): RequestsStanding => {
    if (pod === undefined) return overdue ? 'Overdue' : 'Gone';
    return pod.standing === 'Wanted' && counts(pod.namespace) ? 'Wanted' : 'Unwanted';
  };
  return {
    members: () => members.values(),
    size: () => members.size,
    get: (id) => members.get(id),
    podSeen: (pod) => {
      const known = members.get(pod.uid);
      if (known?.pod === pod) return undefined;
      if (known === undefined && pod.standing !== 'Wanted') {
        bystanders.set(pod.uid, pod);
        return undefined;
      }
      const member = join(pod.uid);
      member.pod = pod;
      member.overdue = false;
      return member;
    },
    podGone: ({ uid: id }) => {
      bystanders.delete(id);
      const member = members.get(id);
      if (member !== undefined) member.pod = undefined;
      return member;
    },
    requestSeen: (seen) => {
      // A label that was changed by hand concerns the one who had it before, too.
      const named = members.get(uid(podInName(nameIn(seen.key))));
      if (seen.pod === '') return named === undefined ? [] : [named];
      const member = join(uid(seen.pod));
      if (!member.keys.includes(seen.key)) member.keys = [...member.keys, seen.key].sort();
      return named === undefined || named === member ? [member] : [member, named];
    },
    requestGone: ({ key, pod }) => {
      const member = members.get(uid(pod));
      if (member === undefined || request(key)?.pod === pod) return member;
      const left = member.keys.filter((other) => other !== key);
      member.keys = left.length === 0 ? NO_KEYS : left;
      return member;
    },
    facts: (member) => {
      const standing = standingOf(member);
      const ask = member.pod?.ask ?? undefined;
      return {
        standing,
        text: standing === 'Wanted' && ask !== undefined ? textOf(ask) : '',
        requests: requestsOf(member),
      };
    },
    podOf: ({ uid: id, pod, keys: [first] }) => ({
      uid: id,
      namespace: pod?.namespace ?? (first === undefined ? '' : namespaceIn(first)),
      name: pod === undefined ? '' : podName(pod),
    }),
    forget: (member) => {
      const remains = member.keys.some((key) => request(key)?.pod === member.uid);
      if (remains || standingOf(member) === 'Wanted') return false;
      // One that only its namespace leaves out is kept: the namespace may come to count.
      if (member.pod?.standing === 'Wanted') return true;
      members.delete(member.uid);
      if (member.pod !== undefined) bystanders.set(member.uid, member.pod);
      return true;
    },
  };
};
