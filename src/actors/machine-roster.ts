/**
 * What is known of every machine, awake or asleep: what the shard said, which object and Node are
 * its, and in which stream it was last seen.
 *
 * Promises: each frame is taken in when it comes, so that a machine's last standing is never lost
 * to a newer frame; nothing here waits, writes or costs a scan for one frame.
 */
import type { Telemetry } from '../api/telemetry.ts';
import type { NodeProjection } from '../domain/cluster-node.ts';
import type { MachineObservation } from '../domain/frames.ts';
import { machineId, type ObjectKey, objectKey } from '../domain/ids.ts';
import { endsObject, isKnownTransition } from '../domain/machine-phase.ts';
import { upcomingNodeName } from '../domain/names.ts';
import { type NodeMatch, nodeMatching } from '../domain/node-matching.ts';
import type { Intern } from '../domain/text-pool.ts';
import {
  type NodeLink,
  sight,
  type Sighting,
  standingOf,
  UNBOUND,
  type UpcomingNodeFacts,
  type UpcomingNodeProjection,
} from '../domain/upcoming-node.ts';

/** No stream has shown the machine yet. */
const NEVER = -1;
/** What every UpcomingNode of ours is called. */
const NAME_PREFIX = 'un-';

/** One machine. */
export interface Member<Actor> {
  readonly machineId: string;
  readonly key: ObjectKey;
  said: Sighting | undefined;
  /** The stream that last spoke of it. */
  stream: number;
  /** The UID of the Node whose readiness was told; empty when none was. */
  toldReady: string;
  actor: Actor | undefined;
  /** The state that it is counted under. */
  state: string | undefined;
  /** When the oldest frame came whose write is still owed, on the monotonic clock. */
  owedSinceMs: number | undefined;
}

/** What the roster needs to know and to say. */
export interface RosterOptions {
  readonly object: (key: ObjectKey) => UpcomingNodeProjection | undefined;
  readonly telemetry: Telemetry;
  readonly intern: Intern;
}

/** All machines. */
export interface Roster<Actor> {
  readonly members: () => Iterable<Member<Actor>>;
  readonly size: () => number;
  readonly get: (machineId: string) => Member<Actor> | undefined;
  /** Takes a frame in. `undefined` when it says nothing new. */
  readonly hear: (
    frame: MachineObservation,
    stream: number,
    nowMs: number,
  ) => Member<Actor> | undefined;
  /** A frame about the machine could not be read: it is ours all the same, as it last was. */
  readonly mention: (machineId: string, stream: number) => void;
  /** The machine of an object of ours; others are nobody's business. */
  readonly owner: (object: UpcomingNodeProjection) => Member<Actor> | undefined;
  /** The machines that a Node concerns, now that it is as it is. */
  readonly nodeSeen: (node: NodeProjection) => readonly Member<Actor>[];
  readonly nodeGone: (name: string) => readonly Member<Actor>[];
  /** Members that `stream` did not show, now known to be no longer ours. */
  readonly unbind: (stream: number) => readonly Member<Actor>[];
  /** The same for one member; true when that is news. */
  readonly unbindOne: (member: Member<Actor>, stream: number) => boolean;
  readonly facts: (member: Member<Actor>) => UpcomingNodeFacts;
  readonly node: (member: Member<Actor>) => NodeLink | null;
  /**
   * Forgets a machine that ended and has no object; false when there is still something to know.
   */
  readonly forget: (member: Member<Actor>) => boolean;
  /** The Node of a machine that may be unknown; `named` is the name that an instruction gives. */
  readonly nodeOf: (machineId: string, named?: string) => NodeMatch | undefined;
}

const sameSighting = (left: Sighting | undefined, right: Sighting): boolean =>
  left !== undefined && left.state === right.state && left.standing === right.standing &&
  left.spec === right.spec && left.providerId === right.providerId &&
  left.lastError === right.lastError && left.nodeName === right.nodeName;

/** An empty roster. */
export const makeRoster = <Actor>(
  { object, telemetry, intern }: RosterOptions,
): Roster<Actor> => {
  const members = new Map<string, Member<Actor>>();
  const matching = nodeMatching();

  const traitsOf = ({ machineId: id, said, key }: Member<Actor>) => ({
    machineId: id,
    providerId: said === undefined || said.providerId === ''
      ? object(key)?.providerId ?? ''
      : said.providerId,
    nodeName: said?.nodeName ?? '',
  });
  const node = (member: Member<Actor>): NodeLink | null => {
    const found = matching.resolve(traitsOf(member))?.node;
    return found === undefined ? null : { name: found.name, uid: found.uid, ready: found.ready };
  };
  const join = (id: string): Member<Actor> => {
    const known = members.get(id);
    if (known !== undefined) return known;
    const member: Member<Actor> = {
      machineId: id,
      key: objectKey(upcomingNodeName(machineId(id))),
      said: undefined,
      stream: NEVER,
      toldReady: '',
      actor: undefined,
      state: undefined,
      owedSinceMs: undefined,
    };
    members.set(id, member);
    return member;
  };
  const noteUnknown = (id: string, before: Sighting | undefined, frame: MachineObservation) => {
    if (before === undefined || isKnownTransition(before.state, frame.state)) return;
    const step = { from: before.state, to: frame.state };
    telemetry.count('tidegate_unknown_transitions_total', 1, step);
    telemetry.log('warn', 'A machine took a step that is not known; it is followed', {
      machine: id,
      ...step,
    });
  };
  /** What a process before this one must have told: the object shows the Node, and it is Ready. */
  const presumeTold = (member: Member<Actor>): void => {
    const link = node(member);
    if (link?.ready === true && object(member.key)?.nodeUid === link.uid) {
      member.toldReady = link.uid;
    }
  };
  const unbound = (member: Member<Actor>, stream: number): boolean => {
    if (member.stream === stream || member.said?.standing === 'Gone') return false;
    member.said = UNBOUND;
    telemetry.count('tidegate_stale_machines_total', 1);
    return true;
  };
  const known = (ids: readonly string[]): readonly Member<Actor>[] =>
    ids.flatMap((id) => members.get(id) ?? []);

  return {
    node,
    nodeOf: (id, named) => {
      const member = members.get(id);
      const traits = member === undefined
        ? { machineId: id, providerId: '', nodeName: '' }
        : traitsOf(member);
      return matching.resolve({ ...traits, nodeName: named ?? traits.nodeName });
    },
    members: () => members.values(),
    size: () => members.size,
    get: (id) => members.get(id),
    hear: (frame, stream, nowMs) => {
      const member = join(frame.machineId);
      member.stream = stream;
      const before = member.said;
      const said = sight(before, frame, nowMs);
      noteUnknown(frame.machineId, before, frame);
      if (sameSighting(before, said)) return undefined;
      member.said = { ...said, spec: intern(said.spec) };
      matching.putMachine(traitsOf(member));
      return member;
    },
    mention: (id, stream) => {
      const member = members.get(id);
      if (member !== undefined) member.stream = stream;
    },
    owner: (shown) => {
      for (const id of [shown.machineId, shown.key.slice(NAME_PREFIX.length)]) {
        const member = members.get(id);
        if (member?.key === shown.key) return member;
      }
      const ours = shown.machineId !== '' &&
        upcomingNodeName(machineId(shown.machineId)) === shown.key;
      if (!ours) return undefined;
      const member = join(shown.machineId);
      matching.putMachine(traitsOf(member));
      presumeTold(member);
      return member;
    },
    nodeSeen: (seen) => {
      const before = matching.nodeNamed(seen.name);
      const unchanged = before !== undefined && before.uid === seen.uid &&
        before.ready === seen.ready && before.providerId === seen.providerId &&
        before.machineLabel === seen.machineLabel;
      const concerned = known(matching.putNode(seen));
      if (unchanged) return [];
      if (before === undefined) { for (const member of concerned) presumeTold(member); }
      return concerned;
    },
    nodeGone: (name) => known(matching.removeNode(name)),
    unbind: (stream) => [...members.values()].filter((member) => unbound(member, stream)),
    unbindOne: unbound,
    facts: (member) => ({
      said: member.said ?? null,
      shown: object(member.key) ?? null,
      node: node(member),
    }),
    forget: (member) => {
      const shown = object(member.key) ?? null;
      const standing = standingOf({ said: member.said ?? null, shown });
      const over = standing === null || endsObject(standing);
      if (shown !== null || !over) return false;
      members.delete(member.machineId);
      matching.removeMachine(member.machineId);
      return true;
    },
  };
};
