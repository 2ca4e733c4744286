/**
 * Pods whose data is on their Node only: a drain that keeps them evicts none (RS-11), and ends when
 * a person has acknowledged that they stay (RS-12).
 *
 * Promises: in doubt a pod is kept; an acknowledgement names pods by UID and drains by their start,
 * so that neither a new pod nor a later drain is covered; total for any annotation.
 */
import { listOrEmptyAt, numberAt, parseJson, textAt, textRecordOrEmptyAt } from '../json.ts';
import {
  claimPlace,
  dataOnNode,
  type PodStorage,
  type VolumeLookup,
} from '../node-availability/local-volumes.ts';
import { podClassOf } from '../node-availability/lost-pods.ts';
import { listed } from '../text.ts';
import { rfc3339 } from '../time.ts';
import type { Blocker } from './blocker.ts';
import { annotationOf, type CordonFacts, isDrainOwner } from './cordon.ts';
import { CORDON_LIMITS } from './cordon-limits.ts';

/** On a Node: which pods a person lets stay. */
export const ACKNOWLEDGED_KEY = 'tidegate.dev/acknowledged-pods';

/** What drains do with pods whose data is on their Node only. */
export const LOCAL_VOLUMES = ['evict', 'keep'] as const;
export type LocalVolumes = (typeof LOCAL_VOLUMES)[number];

interface StoringPod {
  readonly namespace: string;
  /** Absent from a pod that can have no such data. */
  readonly storage?: PodStorage;
}

const NONE: readonly string[] = [];

/** The data of a pod that is, or may be, on its Node only; a pod with any is kept. */
export const keptData = (
  { namespace, storage }: StoringPod,
  lookup: VolumeLookup,
): readonly string[] => {
  if (storage === undefined) return NONE;
  const unknown = storage.claims
    .filter((name) => claimPlace(namespace, name, lookup) === 'Unknown')
    .map((name) => `claim "${name}", whose volume is not known`);
  return [...dataOnNode({ namespace, ...storage }, lookup), ...unknown];
};

interface OwnedPod extends StoringPod {
  readonly controller: { readonly kind: string } | null;
}

/** True for a pod that waits for its Node when that fails (RS-20). */
export const isStateful = ({ namespace, controller, storage }: OwnedPod, lookup: VolumeLookup) => {
  const isOwn = controller === null || controller.kind === 'StatefulSet' ||
    (storage?.nodeVolumes.length ?? 0) > 0;
  const podClass = isOwn ? 'Stateful' : 'Stateless';
  return podClassOf({ namespace, podClass, claims: storage?.claims ?? NONE }, lookup) ===
    'Stateful';
};

/** True for a pod with a claim whose volume is not known, or not bound. */
export const isUncertain = ({ namespace, storage }: StoringPod, lookup: VolumeLookup): boolean =>
  storage?.claims.some((name) => claimPlace(namespace, name, lookup) === 'Unknown') === true;

/** Volumes that a sentence names. */
const NAMED_MAX = 5;

/** Why kept pods are still there; `data` is that of all of them. */
export const keptBlocker = (data: readonly string[]): Blocker => ({
  reason: 'StatefulLocalVolume',
  text: `data only on this node: ${listed(data, NAMED_MAX)}`,
  subject: '',
});

/** What stayed on a drained node. */
export const acknowledgedText = (pods: readonly string[]): string => {
  const verb = pods.length === 1 ? 'stays, as was acknowledged' : 'stay, as was acknowledged';
  return `${verb}: ${listed(pods, NAMED_MAX)}`;
};

/** What a person acknowledged. */
export interface Acknowledgement {
  /** The start of each drain of the Node, by owner. */
  readonly drains: Readonly<Record<string, string>>;
  /** UIDs. */
  readonly pods: readonly string[];
  /** Empty without a reason. */
  readonly why: string;
}

const VERSION = 1;

/** The annotation of an acknowledgement: compact JSON. */
export const printAcknowledgement = ({ drains, pods, why }: Acknowledgement): string =>
  JSON.stringify({ v: VERSION, drains, ...(why === '' ? {} : { why }), pods });

const isReadable = (text: string): boolean => text.length <= CORDON_LIMITS.annotationCharacters;

/** Reads the annotation; `undefined` for one that is missing, too long or of another version. */
export const readAcknowledgement = (text: string | undefined): Acknowledgement | undefined => {
  if (text === undefined || !isReadable(text)) return undefined;
  const value = parseJson(text);
  if (numberAt(value, 'v') !== VERSION) return undefined;
  return {
    drains: textRecordOrEmptyAt(value, 'drains'),
    pods: listOrEmptyAt(value, 'pods').filter((uid) => typeof uid === 'string'),
    why: textAt(value, 'why') ?? '',
  };
};

interface AcknowledgedFacts extends Pick<CordonFacts, 'cordons' | 'hasUnreadCordons'> {
  readonly acknowledged?: string;
}

const NO_UIDS: ReadonlySet<string> = new Set();

/** UIDs of the pods that may stay in the drain of an owner. */
export const acknowledgedPods = (
  facts: AcknowledgedFacts | undefined,
  owner: string,
): ReadonlySet<string> => {
  if (facts === undefined || !isDrainOwner(owner)) return NO_UIDS;
  const acknowledgement = readAcknowledgement(facts.acknowledged);
  const annotation = annotationOf(facts, owner);
  if (acknowledgement === undefined || annotation === undefined) return NO_UIDS;
  return acknowledgement.drains[owner] === rfc3339(annotation.sinceMs)
    ? new Set(acknowledgement.pods)
    : NO_UIDS;
};

/** Owners whose drains of the Node go on, each with its start. */
export const drainsUnderway = (facts: AcknowledgedFacts): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(facts.cordons).filter(isDrainOwner).flatMap((owner) => {
      const annotation = annotationOf(facts, owner);
      return annotation?.ended === null ? [[owner, rfc3339(annotation.sinceMs)]] : [];
    }),
  );
