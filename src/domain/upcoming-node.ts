/**
 * What an UpcomingNode is to look like and which single write brings it nearer: the shard's last
 * word, the object as the cluster shows it and the matched Node in, one write or none out.
 *
 * Promises: nothing is owed when nothing changed; patches are JSON merge patches of what changed
 * and no more; everything here is small plain data, because a hundred thousand of them are kept.
 */
import { identityOf } from './object-meta.ts';
import type { Identity } from './facts.ts';
import type { MachineObservation, MachineState } from './frames.ts';
import { parseJson, recordAt, textAt, valueAt } from './json.ts';
import { endsObject, follow, type Phase, phaseNamed, type Standing } from './machine-phase.ts';
import { specOf, type SpecText, specText } from './machine-spec.ts';
import { mergePatchOf } from './merge-patch.ts';
import { rfc3339Seconds } from './time.ts';

/** Holds the machine's id: hashed names cannot be read back. */
export const MACHINE_ID_KEY = 'bigfleet.lucy.sh/machine-id';

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

/** The Node that belongs to the machine, as far as an UpcomingNode shows it. */
export interface NodeLink {
  readonly name: string;
  readonly uid: string;
  readonly ready: boolean;
}

/** Everything that decides about one UpcomingNode. */
export interface UpcomingNodeFacts {
  readonly said: Sighting | null;
  readonly shown: UpcomingNodeProjection | null;
  readonly node: NodeLink | null;
}

/** The one write that is owed next. */
export type OwedWrite = 'create' | 'status_update' | 'spec_update' | 'delete';

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

/** A cut may split a character: what is left of it would come back as another one, and differ. */
const cut = (text: string): string => text.slice(0, LAST_ERROR_CHARS_MAX).toWellFormed();

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
    lastError: frame.state === 'Failed' ? cut(frame.lastError) : '',
    nodeName: frame.nodeName,
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
  since: '',
};

/** An object whose first status was never written is one that IDLE ends. */
const PHASE_UNWRITTEN: Phase = 'Registered';

/** Where the machine stands: what its frames led to, or led to from what its object shows. */
export const standingOf = ({ said, shown }: Omit<UpcomingNodeFacts, 'node'>): Standing | null => {
  if (said === null) return null;
  if (said.standing !== null) return said.standing;
  if (shown === null) return null;
  return follow(shown.phase ?? PHASE_UNWRITTEN, said.state) ?? null;
};

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
const wantedStatus = (
  phase: Phase,
  said: Sighting,
  { shown, node }: UpcomingNodeFacts,
): StatusFields => ({
  phase,
  ...nodeRefOf(node?.name ?? shown?.nodeName ?? '', node?.uid ?? shown?.nodeUid ?? ''),
  ...present('providerID', said.providerId === '' ? shown?.providerId ?? '' : said.providerId),
  ...present('lastError', said.lastError),
  ...present('provisioningStartTime', shown?.startedAt ? shown.startedAt : said.since),
});

/** The merge patch for `/status`; `undefined` when the status is as it should be. */
export const statusPatch = (facts: UpcomingNodeFacts): object | undefined => {
  const standing = standingOf(facts);
  if (standing === null || standing === 'Gone' || facts.said === null || facts.shown === null) {
    return undefined;
  }
  const wanted = wantedStatus(standing, facts.said, facts);
  const status = mergePatchOf(shownStatus(facts.shown), wanted);
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
  apiVersion: 'bigfleet.lucy.sh/v1alpha1',
  kind: 'UpcomingNode',
  metadata: { name, annotations: { [MACHINE_ID_KEY]: machineId } },
  spec: parseJson(spec),
});

/** The next write that is owed; `undefined` when the object shows what the shard said. */
export const owedWrite = (machineId: string, facts: UpcomingNodeFacts): OwedWrite | undefined => {
  const standing = standingOf(facts);
  const { shown } = facts;
  if (standing === null) return undefined;
  if (endsObject(standing)) {
    if (shown === null) return undefined;
    const farewell = standing === 'Drained' && shown.phase !== 'Drained';
    return farewell ? 'status_update' : 'delete';
  }
  if (shown === null) return 'create';
  if (statusPatch(facts) !== undefined) return 'status_update';
  return specPatch(machineId, facts) === undefined ? undefined : 'spec_update';
};

/** True when the Node of an object is Ready and nobody was told; `told` is the last Node's UID. */
export const readinessUntold = ({ shown, node }: UpcomingNodeFacts, told: string): boolean =>
  shown !== null && node !== null && node.ready && node.uid !== told;
