/**
 * What an UpcomingNode is to look like and which single write brings it nearer: the shard's last
 * report, the drain's, the object as the cluster has it and the matched Node in, one write or none
 * out.
 *
 * Promises: no write is pending when nothing changed; patches are JSON merge patches of what
 * changed and no more; everything here is small plain data, because a hundred thousand of them are
 * kept.
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

/** A machine as the shard last reported it. */
export interface MachineReport {
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
  readonly reported: MachineReport | null;
  readonly current: UpcomingNodeProjection | null;
  readonly node: NodeLink | null;
  /** What the drain last reported; null when none holds the phase. */
  readonly drain: HoldingFact | null;
}

/** A write of the object itself, as metrics call it. */
export type ObjectWrite = 'create' | 'status_update' | 'spec_update' | 'delete';
/** The one write that is pending; `node_release` takes the `reclaim` key off the Node. */
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

/** A frame on top of what was reported before; `nowMs` is the wall clock when it came. */
export const reportOf = (
  previous: MachineReport | undefined,
  frame: MachineObservation,
  nowMs: number,
): MachineReport => {
  const before = previous?.standing ?? undefined;
  const isNew = previous === undefined || (before !== undefined && endsObject(before));
  return {
    standing: follow(before, frame.state) ?? null,
    state: frame.state,
    spec: specText(frame),
    providerId: frame.providerId === '' ? previous?.providerId ?? '' : frame.providerId,
    lastError: frame.state === 'Failed' ? cutText(frame.lastError, LAST_ERROR_CHARS_MAX) : '',
    nodeName: frame.nodeName,
    servesAgain: frame.state === 'Configured' && previous?.servesAgain === true,
    since: isNew ? rfc3339Seconds(nowMs) : previous.since,
  };
};

/** What the end of a replay says of a machine that was not in it: it is no longer ours. */
export const UNBOUND: MachineReport = {
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
  { reported, current }: Pick<UpcomingNodeFacts, 'reported' | 'current'>,
): Standing | null => {
  if (reported === null) return null;
  if (reported.standing !== null) return reported.standing;
  if (current === null) return null;
  return follow(current.phase ?? PHASE_UNWRITTEN, reported.state) ?? null;
};

const phaseFacts = (facts: UpcomingNodeFacts): PhaseFacts => ({
  standing: standingOf(facts),
  current: facts.current,
  node: facts.node,
  drain: facts.drain,
});

/** The phase that the object is to show, or `Gone`; null when nothing was reported. */
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

const currentStatus = (current: UpcomingNodeProjection): Partial<StatusFields> => ({
  ...(current.phase === null ? {} : { phase: current.phase }),
  ...nodeRefOf(current.nodeName, current.nodeUid),
  ...present('providerID', current.providerId),
  ...present('lastError', current.lastError),
  ...present('provisioningStartTime', current.startedAt),
});

/** A reference to a Node that is gone stays: it says which one it was. */
const wantedStatus = (phase: Phase, facts: UpcomingNodeFacts): StatusFields => {
  const { reported, current, node } = facts;
  const lastError = errorToShow(phaseFacts(facts), phase, reported?.lastError ?? '');
  return {
    phase,
    ...nodeRefOf(node?.name ?? current?.nodeName ?? '', node?.uid ?? current?.nodeUid ?? ''),
    ...present(
      'providerID',
      reported?.providerId ? reported.providerId : current?.providerId ?? '',
    ),
    ...present('lastError', cutText(lastError, LAST_ERROR_CHARS_MAX)),
    ...present(
      'provisioningStartTime',
      current?.startedAt ? current.startedAt : reported?.since ?? '',
    ),
  };
};

/** The merge patch for `/status`; `undefined` when the status is as it should be. */
export const statusPatch = (facts: UpcomingNodeFacts): object | undefined => {
  if (facts.current === null) return undefined;
  const phase = phaseOf(facts);
  if (phase === null || phase === 'Gone') return undefined;
  const status = mergePatchOf(currentStatus(facts.current), wantedStatus(phase, facts));
  return status === undefined ? undefined : { status };
};

/** The merge patch for the object itself: its spec and the annotation that names the machine. */
export const specPatch = (machineId: string, facts: UpcomingNodeFacts): object | undefined => {
  const { reported, current } = facts;
  if (reported === null || current === null) return undefined;
  const spec = reported.spec === current.spec
    ? undefined
    : mergePatchOf(parseJson(current.spec), parseJson(reported.spec));
  const unnamed = current.machineId !== machineId;
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

const pendingAtEnd = (standing: 'Gone' | 'Drained', facts: UpcomingNodeFacts): ObjectWrite => {
  const isLastStatus = standing === 'Drained' && facts.current?.phase !== 'Drained' &&
    !endsUndrained(phaseFacts(facts));
  return isLastStatus ? 'status_update' : 'delete';
};

/** The write that is pending; `undefined` when the object shows what shard and drain reported. */
export const pendingWrite = (
  machineId: string,
  facts: UpcomingNodeFacts,
): PendingWrite | undefined => {
  const { reported, current, node } = facts;
  const standing = standingOf(facts);
  if (standing !== null && endsObject(standing)) {
    return current === null ? undefined : pendingAtEnd(standing, facts);
  }
  if (current === null) return standing === null ? undefined : 'create';
  if (statusPatch(facts) !== undefined) return 'status_update';
  if (specPatch(machineId, facts) !== undefined) return 'spec_update';
  return reported?.servesAgain === true && node?.releasable === true ? 'node_release' : undefined;
};

/** True when the object shows what the drain last reported, or there is none that could. */
export const drainIsShown = (machineId: string, facts: UpcomingNodeFacts): boolean => {
  const pending = pendingWrite(machineId, facts);
  return pending !== 'create' && pending !== 'status_update';
};

/** True when the Node of an object is Ready and has no Event; `recorded` is the last that has. */
export const readinessUnrecorded = (
  { current, node }: UpcomingNodeFacts,
  recorded: string,
): boolean => current !== null && node !== null && node.ready && node.uid !== recorded;
