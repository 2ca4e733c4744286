/** What the `nodeAvailability` statechart remembers, and what it derives from it. */
import { backoffMs } from '../domain/backoff.ts';
import type { LostPod } from '../domain/node-availability/lost-pods.ts';
import {
  type AvailableNode,
  differsFrom,
  type NodeState,
  nodeState,
  type WantedAvailability,
  wantedAvailability,
} from '../domain/node-availability/node-state.ts';
import type { ResourceVersion } from '../domain/ids.ts';
import { nextSeed, type Seed } from '../domain/random.ts';
import { isOlder } from '../domain/resource-versions.ts';

/** The settings of all Nodes. */
export interface AvailabilityTimes {
  /** `--offline-after` (RS-05). */
  readonly offlineAfterMs: number;
  /** `--degraded-after`, and how long a Node must be without a problem (RS-04). */
  readonly degradedAfterMs: number;
  readonly cleanAfterMs: number;
}

/** A pod to replace. */
export type ReplacedPod = Pick<LostPod, 'namespace' | 'name' | 'uid'>;

export interface NodeAvailabilityInput {
  readonly node: AvailableNode;
  /** How long ago this process saw its Lease renewed, or the Node for the first time. */
  readonly silentMs: number;
  /** A storm protects Nodes; otherwise those of a former storm are handled. */
  readonly isGuarded: boolean;
  readonly times: AvailabilityTimes;
  readonly seed: Seed;
}

export interface NodeAvailabilityContext extends NodeAvailabilityInput {
  readonly isSilent: boolean;
  readonly isDegraded: boolean;
  /** It went offline in a storm. */
  readonly isProtected: boolean;
  /** It has been offline for so long that it is of no storm. */
  readonly isSettled: boolean;
  /** Its stateless pods, in order, as they were last observed. */
  readonly pods: readonly ReplacedPod[];
  /** UIDs of pods that were deleted, or were gone. */
  readonly removed: readonly string[];
  /** Attempts in a row after which pods were left. */
  readonly attempt: number;
  /** Writes of the Node in a row that failed. */
  readonly writeAttempt: number;
  /** Why the last operation failed; empty when it did not. */
  readonly problem: string;
  /** The Node is not to be taken from an older observation than this. */
  readonly writtenVersion: ResourceVersion | null;
  /** Derived: its state, and what the Node is to show. */
  readonly state: NodeState;
  readonly wanted: WantedAvailability;
}

/** The end of an attempt to delete pods. */
export interface RemovalEnd {
  /** UIDs that need no further attempt. */
  readonly removed: readonly string[];
  /** Why others are left; empty when none is. */
  readonly why: string;
}

export type NodeAvailabilityEvent =
  | { readonly type: 'node.observed'; readonly node: AvailableNode }
  | { readonly type: 'lease.renewed' }
  /** The stateless pods of a Node that is offline. */
  | { readonly type: 'pods.observed'; readonly pods: readonly ReplacedPod[] }
  | { readonly type: 'storm.detected' }
  | { readonly type: 'removal.ended'; readonly end: RemovalEnd }
  | { readonly type: 'node.written'; readonly node: AvailableNode }
  | { readonly type: 'write.failed'; readonly why: string };

const OFFLINE_LABELS: ReadonlySet<unknown> = new Set(['Offline', 'OfflineStorm']);

/** The context after a change. */
export const derived = (
  context: NodeAvailabilityContext,
  change: Partial<NodeAvailabilityContext>,
): NodeAvailabilityContext => {
  const next = { ...context, ...change };
  const state = nodeState(next.node, next);
  return { ...next, state, wanted: wantedAvailability(next.node, { ...next, state }) };
};

/** What a process knows at first: a former one may have decided that the Node is offline. */
export const initialContext = (input: NodeAvailabilityInput): NodeAvailabilityContext => {
  const { label, isTainted } = input.node.availability;
  const known = derived({
    ...input,
    isSilent: OFFLINE_LABELS.has(label),
    isDegraded: isTainted,
    isProtected: input.isGuarded && label === 'OfflineStorm',
    isSettled: false,
    pods: [],
    removed: [],
    attempt: 0,
    writeAttempt: 0,
    problem: '',
    writtenVersion: null,
    state: 'Active',
    wanted: { label: 'Active', isTainted: false, endsConfirmation: false },
  }, {});
  // What a former process still shows on a Node that is back says nothing about its next failure.
  return known.state === 'Offline'
    ? known
    : derived(known, { isSilent: false, isProtected: false });
};

/** The pods that are to be deleted. */
export const duePods = (
  { pods, removed }: Pick<NodeAvailabilityContext, 'pods' | 'removed'>,
): readonly ReplacedPod[] => pods.filter(({ uid }) => !removed.includes(uid));

/** An observation that is older than our own write says nothing. */
export const withNode = (
  context: NodeAvailabilityContext,
  node: AvailableNode,
): Partial<NodeAvailabilityContext> => {
  const { writtenVersion } = context;
  const isOld = isOlder(node.resourceVersion, context.node.resourceVersion) ||
    (writtenVersion !== null && isOlder(node.resourceVersion, writtenVersion));
  return isOld ? {} : derived(context, { node });
};

/** Pods that are gone are forgotten. */
export const withPods = (
  { removed }: NodeAvailabilityContext,
  pods: readonly ReplacedPod[],
): Partial<NodeAvailabilityContext> => ({
  pods,
  removed: removed.filter((uid) => pods.some((pod) => pod.uid === uid)),
});

/** After an attempt to delete pods. */
export const withRemoval = (
  context: NodeAvailabilityContext,
  { removed, why }: RemovalEnd,
): Partial<NodeAvailabilityContext> => ({
  removed: [...new Set([...context.removed, ...removed])],
  attempt: why === '' ? 0 : context.attempt + 1,
  problem: why,
  seed: nextSeed(context.seed),
});

/** Whether the Node shows something else than it is to show. */
export const needsWrite = ({ node, wanted }: NodeAvailabilityContext): boolean =>
  differsFrom(node.availability, wanted);

/** After a write that landed; one that is still to be made counts as failed. */
export const withWritten = (
  context: NodeAvailabilityContext,
  node: AvailableNode,
): Partial<NodeAvailabilityContext> => {
  const next = { ...context, ...withNode(context, node), writtenVersion: node.resourceVersion };
  return { ...next, problem: '', writeAttempt: needsWrite(next) ? context.writeAttempt + 1 : 0 };
};

/** After a write that failed. */
export const withWriteFailed = (
  { writeAttempt, seed }: NodeAvailabilityContext,
  why: string,
): Partial<NodeAvailabilityContext> => ({
  writeAttempt: writeAttempt + 1,
  problem: why,
  seed: nextSeed(seed),
});

/** Attempts to delete the pods of one Node. */
const ATTEMPTS_MAX = 5;

/** Whether no further attempt is made while the Node is offline. */
export const areAttemptsSpent = ({ attempt }: NodeAvailabilityContext): boolean =>
  attempt >= ATTEMPTS_MAX;

/** A storm announces itself within this time (RS-06). */
const SETTLE_MS = 5000;
const REMOVAL = { firstMs: 1000, lastMs: 30_000 };
const WRITE = { firstMs: 500, lastMs: 60_000 };

interface Delayed {
  readonly context: NodeAvailabilityContext;
}

/** The delays of the statechart. */
export const AVAILABILITY_DELAYS = {
  silence: ({ context: { silentMs, times } }: Delayed) =>
    Math.max(0, times.offlineAfterMs - silentMs),
  problemHold: ({ context }: Delayed) => context.times.degradedAfterMs,
  cleanHold: ({ context }: Delayed) => context.times.cleanAfterMs,
  stormSettle: SETTLE_MS,
  removalBackoff: ({ context }: Delayed) => backoffMs(REMOVAL, context.attempt, context.seed),
  writeBackoff: ({ context }: Delayed) => backoffMs(WRITE, context.writeAttempt, context.seed),
};
