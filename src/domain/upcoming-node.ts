/**
 * What an UpcomingNode is to look like and which single write brings it nearer: the shard's last
 * word, the drain's, the object as the cluster shows it and the matched Node in, one write or none
 * out.
 *
 * Promises: nothing is owed when nothing changed; patches are JSON merge patches of what changed
 * and no more; everything here is small plain data, because a hundred thousand of them are kept.
 */
import { GROUP_VERSION } from './api-group.ts';
import type { Identity } from './facts.ts';
import type { MachineObservation, MachineState } from './frames.ts';
import { MACHINE_ID_KEY } from './ids.ts';
import { parseJson, recordAt, textAt, valueAt } from './json.ts';
import { endsObject, follow, type Phase, phaseNamed, type Standing } from './machine-phase.ts';
import { specOf, type SpecText, specText } from './machine-spec.ts';
import { mergePatchOf } from './merge-patch.ts';
import type { NodeLink } from './node-link.ts';
import { identityOf } from './object-meta.ts';
import {
  endsUndrained,
  errorToShow,
  type HoldingFact,
  type PhaseFacts,
  phaseToShow,
} from './shown-phase.ts';
import { cutText } from './text.ts';
import { rfc3339Seconds } from './time.ts';

/** Longer explanations of a failure are cut: an object of the API has its limits too. */
const LAST_ERROR_CHARS_MAX = 4096;

/** A machine as the shard last spoke of it. */
export interface Sighting {
  /** What all frames so far led to; none when only IDLE or DELETING of an unknown machine came. */
  readonly standing: Standing | null;
  readonly state: MachineState;
  readonly spec: SpecText;
  readonly providerId: string;
  readonly lastError: string;
  readonly nodeName: string;
  /** It was called CONFIGURED after the end of its last drain was seen: it serves again. */
  readonly servesAgain: boolean;
  /** When this life of the machine was first heard of, RFC 3339. */
  readonly since: string;
}

/** What the cache keeps of an UpcomingNode. Empty text stands for fields that are not there. */
export interface UpcomingNodeProjection extends Identity {
  readonly machineId: string;
  readonly phase: Phase | null;
  readonly nodeName: string;
  readonly nodeUid: string;
  readonly providerId: string;
  readonly lastError: string;
  readonly startedAt: string;
  readonly spec: SpecText;
}

/** Everything that decides about one UpcomingNode. */
export interface UpcomingNodeFacts {
  readonly said: Sighting | null;
  readonly shown: UpcomingNodeProjection | null;
  readonly node: NodeLink | null;
  /** The drain's last word; null when none holds the phase. */
  readonly drain: HoldingFact | null;
}

/** A write of the object itself, as metrics call it. */
export type ObjectWrite = 'create' | 'status_update' | 'spec_update' | 'delete';
/** The one write that is owed next; `node_release` takes the `reclaim` key off the Node. */
export type PendingWrite = ObjectWrite | 'node_release';

/** Reads an UpcomingNode as the API server gives it. Total. */
export const projectUpcomingNode = (
  raw: unknown,
  intern: (text: SpecText) => SpecText = (text) => text,
): UpcomingNodeProjection | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  const status = recordAt(raw, 'status');
  return {
    ...identity,
    machineId: textAt(raw, 'metadata', 'annotations', MACHINE_ID_KEY) ?? '',
    phase: phaseNamed(textAt(status, 'phase')) ?? null,
    nodeName: textAt(status, 'nodeRef', 'name') ?? '',
    nodeUid: textAt(status, 'nodeRef', 'uid') ?? '',
    providerId: textAt(status, 'providerID') ?? '',
    lastError: textAt(status, 'lastError') ?? '',
    startedAt: textAt(status, 'provisioningStartTime') ?? '',
    spec: intern(specOf(valueAt(raw, 'spec'))),
  };
};

/** A frame on top of what was said before; `nowMs` is the wall clock when it came. */
export const sight = (
  previous: Sighting | undefined,
  frame: MachineObservation,
  nowMs: number,
): Sighting => {
  const before = previous?.standing ?? undefined;
  const reborn = previous === undefined || (before !== undefined && endsObject(before));
  return {
    standing: follow(before, frame.state) ?? null,
    state: frame.state,
    spec: specText(frame),
    providerId: frame.providerId === '' ? previous?.providerId ?? '' : frame.providerId,
    lastError: frame.state === 'Failed' ? cutText(frame.lastError, LAST_ERROR_CHARS_MAX) : '',
    nodeName: frame.nodeName,
    servesAgain: frame.state === 'Configured' && previous?.servesAgain === true,
    since: reborn ? rfc3339Seconds(nowMs) : previous.since,
  };
};

/** What the end of a replay says of a machine that was not in it: it is no longer ours. */
export const UNBOUND: Sighting = {
  standing: 'Gone',
  state: 'Idle',
  spec: specText({ labels: {}, resources: {}, taints: [] }),
  providerId: '',
  lastError: '',
  nodeName: '',
  servesAgain: false,
  since: '',
};

/** An object whose first status was never written is one that IDLE ends. */
const PHASE_UNWRITTEN: Phase = 'Registered';

/** Where the machine stands: what its frames led to, or led to from what its object shows. */
export const standingOf = (
  { said, shown }: Pick<UpcomingNodeFacts, 'said' | 'shown'>,
): Standing | null => {
  if (said === null) return null;
  if (said.standing !== null) return said.standing;
  if (shown === null) return null;
  return follow(shown.phase ?? PHASE_UNWRITTEN, said.state) ?? null;
};

const phaseFacts = (facts: UpcomingNodeFacts): PhaseFacts => ({
  standing: standingOf(facts),
  shown: facts.shown,
  node: facts.node,
  drain: facts.drain,
});

/** The phase that the object is to show, or `Gone`; null when nobody has said anything. */
export const phaseOf = (facts: UpcomingNodeFacts): Standing | null =>
  phaseToShow(phaseFacts(facts));

interface StatusFields {
  readonly phase: Phase;
  readonly nodeRef?: { readonly [field: string]: string };
  readonly providerID?: string;
  readonly lastError?: string;
  readonly provisioningStartTime?: string;
}

const present = (name: 'providerID' | 'lastError' | 'provisioningStartTime', text: string) =>
  text === '' ? {} : { [name]: text };

const nodeRefOf = (name: string, uid: string): { readonly nodeRef?: Record<string, string> } =>
  name === '' ? {} : { nodeRef: { apiVersion: 'v1', kind: 'Node', name, uid } };

const shownStatus = (shown: UpcomingNodeProjection): Partial<StatusFields> => ({
  ...(shown.phase === null ? {} : { phase: shown.phase }),
  ...nodeRefOf(shown.nodeName, shown.nodeUid),
  ...present('providerID', shown.providerId),
  ...present('lastError', shown.lastError),
  ...present('provisioningStartTime', shown.startedAt),
});

/** A reference to a Node that is gone stays: it says which one it was. */
const wantedStatus = (phase: Phase, facts: UpcomingNodeFacts): StatusFields => {
  const { said, shown, node } = facts;
  const lastError = errorToShow(phaseFacts(facts), phase, said?.lastError ?? '');
  return {
    phase,
    ...nodeRefOf(node?.name ?? shown?.nodeName ?? '', node?.uid ?? shown?.nodeUid ?? ''),
    ...present('providerID', said?.providerId ? said.providerId : shown?.providerId ?? ''),
    ...present('lastError', cutText(lastError, LAST_ERROR_CHARS_MAX)),
    ...present('provisioningStartTime', shown?.startedAt ? shown.startedAt : said?.since ?? ''),
  };
};

/** The merge patch for `/status`; `undefined` when the status is as it should be. */
export const statusPatch = (facts: UpcomingNodeFacts): object | undefined => {
  if (facts.shown === null) return undefined;
  const phase = phaseOf(facts);
  if (phase === null || phase === 'Gone') return undefined;
  const status = mergePatchOf(shownStatus(facts.shown), wantedStatus(phase, facts));
  return status === undefined ? undefined : { status };
};

/** The merge patch for the object itself: its spec and the annotation that names the machine. */
export const specPatch = (machineId: string, facts: UpcomingNodeFacts): object | undefined => {
  const { said, shown } = facts;
  if (said === null || shown === null) return undefined;
  const spec = said.spec === shown.spec
    ? undefined
    : mergePatchOf(parseJson(shown.spec), parseJson(said.spec));
  const unnamed = shown.machineId !== machineId;
  if (spec === undefined && !unnamed) return undefined;
  return {
    ...(unnamed ? { metadata: { annotations: { [MACHINE_ID_KEY]: machineId } } } : {}),
    ...(spec === undefined ? {} : { spec }),
  };
};

/** The object to create. Its status follows in a write of its own: creation cannot set it. */
export const newUpcomingNode = (machineId: string, name: string, spec: SpecText): object => ({
  apiVersion: GROUP_VERSION,
  kind: 'UpcomingNode',
  metadata: { name, annotations: { [MACHINE_ID_KEY]: machineId } },
  spec: parseJson(spec),
});

const owedAtEnd = (standing: 'Gone' | 'Drained', facts: UpcomingNodeFacts): ObjectWrite => {
  const isFarewell = standing === 'Drained' && facts.shown?.phase !== 'Drained' &&
    !endsUndrained(phaseFacts(facts));
  return isFarewell ? 'status_update' : 'delete';
};

/** The next write that is owed; `undefined` when the object shows what shard and drain said. */
export const pendingWrite = (
  machineId: string,
  facts: UpcomingNodeFacts,
): PendingWrite | undefined => {
  const { said, shown, node } = facts;
  const standing = standingOf(facts);
  if (standing !== null && endsObject(standing)) {
    return shown === null ? undefined : owedAtEnd(standing, facts);
  }
  if (shown === null) return standing === null ? undefined : 'create';
  if (statusPatch(facts) !== undefined) return 'status_update';
  if (specPatch(machineId, facts) !== undefined) return 'spec_update';
  return said?.servesAgain === true && node?.releasable === true ? 'node_release' : undefined;
};

/** True when the object shows the drain's last word, or there is none that could. */
export const drainShown = (machineId: string, facts: UpcomingNodeFacts): boolean => {
  const owed = pendingWrite(machineId, facts);
  return owed !== 'create' && owed !== 'status_update';
};

/** True when the Node of an object is Ready and nobody was told; `told` is the last Node's UID. */
export const readinessUnrecorded = ({ shown, node }: UpcomingNodeFacts, told: string): boolean =>
  shown !== null && node !== null && node.ready && node.uid !== told;
