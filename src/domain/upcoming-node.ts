/**
 * Decides the next write of an UpcomingNode from the shard's last report, the drain's report, the
 * current object and the matched Node.
 *
 * Promises: no write is pending when nothing changed; patches are minimal JSON merge patches;
 * everything is small plain data, because there are up to a hundred thousand of them.
 */
import { GROUP_VERSION } from './api-group.ts';
import { type Condition, conditionBody, type CurrentCondition } from './condition.ts';
import type { Identity } from './facts.ts';
import type { MachineObservation, MachineState } from './frames.ts';
import { MACHINE_ID_KEY } from './ids.ts';
import { parseJson, recordAt, textAt, valueAt } from './json.ts';
import { isStale, readyCondition, readyConditionOf } from './machine-condition.ts';
import { endsObject, follow, type MachinePhase, type Phase, phaseNamed } from './machine-phase.ts';
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
} from './object-phase.ts';
import { cutText } from './text.ts';
import { rfc3339Seconds } from './time.ts';

/** The maximum length of failure messages in the status. */
const LAST_ERROR_CHARS_MAX = 4096;

/** A machine as the shard last reported it. */
export interface MachineReport {
  /**
   * The phase from all frames so far; none when only IDLE or DELETING of an unknown machine
   * arrived.
   */
  readonly phase: MachinePhase | null;
  readonly state: MachineState;
  readonly spec: SpecText;
  readonly providerId: string;
  readonly lastError: string;
  readonly nodeName: string;
  /** It was reported CONFIGURED after its last drain ended: it serves again. */
  readonly servesAgain: boolean;
  /** When this lifecycle of the machine was first reported, RFC 3339. */
  readonly since: string;
}

/** The cached fields of an UpcomingNode. Missing fields are empty text. */
export interface UpcomingNodeProjection extends Identity {
  readonly machineId: string;
  readonly phase: Phase | null;
  readonly nodeName: string;
  readonly nodeUid: string;
  readonly providerId: string;
  readonly lastError: string;
  readonly startedAt: string;
  /** The condition `Ready`; null without one. */
  readonly condition: CurrentCondition | null;
  readonly spec: SpecText;
}

/** All inputs of the decision about one UpcomingNode. */
export interface UpcomingNodeFacts {
  readonly reported: MachineReport | null;
  readonly current: UpcomingNodeProjection | null;
  readonly node: NodeLink | null;
  /** The drain's last report; null when none holds the phase. */
  readonly drain: HoldingFact | null;
}

/** A write of the object itself, as metrics name it. */
export type ObjectWrite = 'create' | 'status_update' | 'spec_update' | 'delete';
/** The pending write; `node_release` removes the `reclaim` key from the Node. */
export type PendingWrite = ObjectWrite | 'node_release';

/** Reads an UpcomingNode as the API server returns it. Total. */
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
    condition: readyConditionOf(raw),
    spec: intern(specOf(valueAt(raw, 'spec'))),
  };
};

/** Applies a frame to the previous report; `nowMs` is the wall clock at its arrival. */
export const reportOf = (
  previous: MachineReport | undefined,
  frame: MachineObservation,
  nowMs: number,
): MachineReport => {
  const before = previous?.phase ?? undefined;
  const isNew = previous === undefined || (before !== undefined && endsObject(before));
  return {
    phase: follow(before, frame.state, previous?.state) ?? null,
    state: frame.state,
    spec: specText(frame),
    providerId: frame.providerId === '' ? previous?.providerId ?? '' : frame.providerId,
    lastError: frame.state === 'Failed' ? cutText(frame.lastError, LAST_ERROR_CHARS_MAX) : '',
    nodeName: frame.nodeName,
    servesAgain: frame.state === 'Configured' && previous?.servesAgain === true,
    since: isNew ? rfc3339Seconds(nowMs) : previous.since,
  };
};

/** The end of a replay without the machine: it is no longer bound. */
export const UNBOUND: MachineReport = {
  phase: 'Gone',
  state: 'Idle',
  spec: specText({ labels: {}, resources: {}, taints: [] }),
  providerId: '',
  lastError: '',
  nodeName: '',
  servesAgain: false,
  since: '',
};

/** IDLE ends an object whose first status was never written. */
const PHASE_UNWRITTEN: Phase = 'Registered';

/** The status of the machine from its frames or, without any, from its object. */
export const machinePhaseOf = (
  { reported, current }: Pick<UpcomingNodeFacts, 'reported' | 'current'>,
): MachinePhase | null => {
  if (reported === null) return null;
  if (reported.phase !== null) return reported.phase;
  if (current === null) return null;
  return follow(current.phase ?? PHASE_UNWRITTEN, reported.state) ?? null;
};

const phaseFacts = (facts: UpcomingNodeFacts): PhaseFacts => ({
  reported: machinePhaseOf(facts),
  current: facts.current,
  node: facts.node,
  drain: facts.drain,
  servesAgain: facts.reported?.servesAgain === true,
});

/** The wanted phase, or `Gone`; null when nothing was reported. */
export const phaseOf = (facts: UpcomingNodeFacts): MachinePhase | null =>
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

/** Phases of a machine whose Node is still to join. */
const BEFORE_NODE: ReadonlySet<Phase> = new Set(['Provisioning', 'Launched', 'Registered']);

/**
 * A reference to a deleted Node stays: it records which Node it was. A machine that is still to get
 * its Node has none of a former lifecycle, or a reclaim would count as drained with it (DR-10).
 */
const nodeRefFor = (phase: Phase, { current, node }: UpcomingNodeFacts) => {
  if (node !== null) return nodeRefOf(node.name, node.uid);
  if (current === null || BEFORE_NODE.has(phase)) return {};
  return nodeRefOf(current.nodeName, current.nodeUid);
};

const wantedStatus = (phase: Phase, facts: UpcomingNodeFacts): StatusFields => {
  const { reported, current } = facts;
  const lastError = errorToShow(phaseFacts(facts), phase, reported?.lastError ?? '');
  return {
    phase,
    ...nodeRefFor(phase, facts),
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

/** The changed status fields, and the condition that goes with them; null when nothing changed. */
const statusChange = (
  facts: UpcomingNodeFacts,
): { readonly fields: object; readonly condition: Condition } | null => {
  const { current } = facts;
  const phase = phaseOf(facts);
  if (current === null || phase === null || phase === 'Gone') return null;
  const wanted = wantedStatus(phase, facts);
  const fields = mergePatchOf(currentStatus(current), wanted);
  const condition = readyCondition(phase, wanted.lastError ?? '');
  return fields === undefined && !isStale(current.condition, condition)
    ? null
    : { fields: fields ?? {}, condition };
};

/** The merge patch for `/status`; `undefined` when the status is current. */
export const statusPatch = (facts: UpcomingNodeFacts, nowMs: number): object | undefined => {
  const change = statusChange(facts);
  if (change === null) return undefined;
  const { fields, condition } = change;
  const ready = conditionBody(condition, facts.current?.condition ?? null, nowMs);
  return { status: { ...fields, conditions: [ready] } };
};

/** The merge patch for the object itself: its spec and the annotation with the machine id. */
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

/** The object to create. A second write sets its status, because creation cannot. */
export const newUpcomingNode = (machineId: string, name: string, spec: SpecText): object => ({
  apiVersion: GROUP_VERSION,
  kind: 'UpcomingNode',
  metadata: { name, annotations: { [MACHINE_ID_KEY]: machineId } },
  spec: parseJson(spec),
});

const pendingAtEnd = (phase: 'Gone' | 'Drained', facts: UpcomingNodeFacts): ObjectWrite => {
  const isLastStatus = phase === 'Drained' && facts.current?.phase !== 'Drained' &&
    !endsUndrained(phaseFacts(facts));
  return isLastStatus ? 'status_update' : 'delete';
};

/** The pending write; `undefined` when the object matches the reports of shard and drain. */
export const pendingWrite = (
  machineId: string,
  facts: UpcomingNodeFacts,
): PendingWrite | undefined => {
  const { reported, current, node } = facts;
  const phase = machinePhaseOf(facts);
  if (phase !== null && endsObject(phase)) {
    return current === null ? undefined : pendingAtEnd(phase, facts);
  }
  if (current === null) return phase === null ? undefined : 'create';
  if (statusChange(facts) !== null) return 'status_update';
  if (specPatch(machineId, facts) !== undefined) return 'spec_update';
  return reported?.servesAgain === true && node?.releasable === true ? 'node_release' : undefined;
};

/** True when the object shows the drain's last report, or no object can. */
export const showsDrain = (machineId: string, facts: UpcomingNodeFacts): boolean => {
  const pending = pendingWrite(machineId, facts);
  return pending !== 'create' && pending !== 'status_update';
};

/**
 * True when the Node of an object is Ready without an Event yet; `recorded` is the last Node with
 * one.
 */
export const readinessUnrecorded = (
  { current, node }: UpcomingNodeFacts,
  recorded: string,
): boolean => current !== null && node !== null && node.ready && node.uid !== recorded;
