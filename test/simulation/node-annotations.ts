/**
 * Parses the cordon of a Node independently, for invariants: keys, deadlines and ends as plain
 * JSON.
 */
import {
  booleanAt,
  type JsonRecord,
  listOrEmptyAt,
  parseJson,
  textAt,
  textRecordOrEmptyAt,
} from '../../src/domain/json.ts';

/** The content of a Node's reclaim key. */
export interface ReclaimAnnotation {
  readonly ids: readonly string[];
  readonly deadlineMs: number;
  /** '' while it is active. */
  readonly ended: string;
}

const PREFIX = 'cordon.tidegate.dev/';

/** Owners of the Node's cordon. */
export const ownersOf = (node: unknown): readonly string[] =>
  Object.keys(textRecordOrEmptyAt(node, 'metadata', 'annotations'))
    .filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));

/** The reclaim key; undefined without one. */
export const reclaimAnnotation = (node: unknown): ReclaimAnnotation | undefined => {
  const text = textAt(node, 'metadata', 'annotations', `${PREFIX}reclaim`);
  const value = text === undefined ? undefined : parseJson(text);
  if (value === undefined) return undefined;
  return {
    ids: listOrEmptyAt(value, 'ids').filter((id) => typeof id === 'string'),
    deadlineMs: Date.parse(textAt(value, 'deadline') ?? ''),
    ended: textAt(value, 'ended') ?? '',
  };
};

export const isCordoned = (node: unknown): boolean =>
  booleanAt(node, 'spec', 'unschedulable') === true;

/** The Node is being drained, by its annotation. */
export const isDraining = (node: unknown): boolean =>
  isCordoned(node) && reclaimAnnotation(node)?.ended === '';

/** How an owner's work ended; '' while it has not. */
const endOf = (node: unknown, owner: string): string =>
  textAt(
    parseJson(textAt(node, 'metadata', 'annotations', PREFIX + owner) ?? ''),
    'ended',
  ) ?? '';

/** The ids of the key by which the Node is disabled now; none when it is not. */
export const disabledIds = (node: unknown): readonly string[] => {
  if (!isCordoned(node) || !holdersOf(node).includes('disabled')) return [];
  const key = parseJson(textAt(node, 'metadata', 'annotations', `${PREFIX}disabled`) ?? '');
  return listOrEmptyAt(key, 'ids').filter((id) => typeof id === 'string');
};

/** A person disabled the Node, and its drain for that has not ended. */
export const isDisabled = (node: unknown): boolean =>
  ownersOf(node).includes('disabled') && endOf(node, 'disabled') === '';

/** Owners that keep the Node cordoned. */
export const holdersOf = (node: unknown): readonly string[] =>
  ownersOf(node).filter((owner) => endOf(node, owner) !== 'Cancelled');

/** An owner of its cordon other than a person has an active drain. */
export const mayEmpty = (node: JsonRecord): boolean => {
  if (!isCordoned(node)) return false;
  return ownersOf(node).some((owner) => owner !== 'person' && endOf(node, owner) === '');
};
