/**
 * Links between actors: from a reclaim to its drains, from a drain to its pods, from a pod to its
 * budget, and back.
 *
 * Promises: total; reads the actors' context data; a missing field yields no link.
 */
import { listOrEmptyAt, textAt, valueAt } from '../domain/json.ts';

/** A related actor. */
export interface ActorLink {
  readonly id: string;
  /** Its role for the selected actor: `pod`, `budget`, `drain`, `reclaim`. */
  readonly relation: string;
}

/** An actor with the data of its snapshot. */
export interface LinkedActor {
  readonly id: string;
  readonly kind: string;
  readonly context: unknown;
}

const texts = (list: readonly unknown[]): readonly string[] =>
  list.filter((item): item is string => typeof item === 'string');

/** What the data of an actor refers to. */
const FORWARD: Readonly<Record<string, (context: unknown) => readonly ActorLink[]>> = {
  reclaimInstruction: (context) =>
    listOrEmptyAt(context, 'entries').flatMap((entry) => {
      const node = textAt(entry, 'node') ?? '';
      const machine = textAt(entry, 'machine') ?? '';
      return [
        ...(node === '' ? [] : [{ id: `nodeDrain/${node}`, relation: 'drain' }]),
        { id: `upcomingNode/${machine}`, relation: 'machine' },
      ];
    }),
  nodeDrain: (context) =>
    [
      ...texts(listOrEmptyAt(context, 'annotation', 'ids')),
      ...listOrEmptyAt(context, 'orders').flatMap((order) => textAt(order, 'id') ?? []),
    ].map((id) => ({ id: `reclaimInstruction/${id}`, relation: 'reclaim' })),
  podEviction: (context) => {
    const node = textAt(context, 'node');
    const budget = valueAt(context, 'facts', 'need', '_tag') === 'One'
      ? textAt(context, 'facts', 'need', 'budget')
      : undefined;
    return [
      ...(node === undefined ? [] : [{ id: `nodeDrain/${node}`, relation: 'drain' }]),
      ...(budget === undefined ? [] : [{ id: `budget/${budget}`, relation: 'budget' }]),
    ];
  },
};

/** The role of the other end of a link. */
const BACK: Readonly<Record<string, string>> = {
  reclaimInstruction: 'reclaim',
  nodeDrain: 'drain',
  podEviction: 'pod',
  upcomingNode: 'machine',
};

const forward = ({ kind, context }: LinkedActor): readonly ActorLink[] =>
  FORWARD[kind]?.(context) ?? [];

/** The actors related to `actor`, unique by id. */
export const actorLinks = (
  actor: LinkedActor,
  all: Iterable<LinkedActor>,
): readonly ActorLink[] => {
  const wanted = new Map(forward(actor).map((link) => [link.id, link]));
  const found = new Map<string, ActorLink>();
  for (const other of all) {
    if (other.id === actor.id) continue;
    const link = wanted.get(other.id);
    if (link !== undefined) found.set(other.id, link);
    else if (forward(other).some(({ id }) => id === actor.id)) {
      found.set(other.id, { id: other.id, relation: BACK[other.kind] ?? other.kind });
    }
  }
  return [...found.values()].toSorted((left, right) =>
    left.relation.localeCompare(right.relation) || left.id.localeCompare(right.id)
  );
};
