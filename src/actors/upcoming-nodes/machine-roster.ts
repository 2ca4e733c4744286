/**
 * What is known of every machine, awake or asleep: what the shard said and its drain, which object
 * and Node are its, and in which stream it was last seen.
 *
 * Promises: each frame is taken in when it comes, so that a machine's last standing is never lost
 * to a newer frame; nothing here waits, writes or costs a scan for one frame.
 */
import type { Telemetry } from '../../api/telemetry.ts';
import type { NodeProjection } from '../../domain/cluster-node.ts';
import type { MachineObservation } from '../../domain/frames.ts';
import { machineId, type ObjectKey, objectKey } from '../../domain/ids.ts';
import { endsObject, isKnownTransition } from '../../domain/machine-phase.ts';
import { upcomingNodeName } from '../../domain/names.ts';
import { type NodeLink, nodeLinkOf } from '../../domain/node-link.ts';
import { type NodeMatch, nodeMatching } from '../../domain/node-matching.ts';
import type { DrainFact, HoldingFact } from '../../domain/shown-phase.ts';
import type { Intern } from '../../domain/text-pool.ts';
import {
  sight,
  type Sighting,
  standingOf,
  UNBOUND,
  type UpcomingNodeFacts,
  type UpcomingNodeProjection,
} from '../../domain/upcoming-node.ts';

/** No stream has shown the machine yet. */
const NEVER = -1;
/** What every UpcomingNode of ours is called. */
const NAME_PREFIX = 'un-';

/** One machine. */
export interface Member<Actor> {
  readonly machineId: string;
  readonly key: ObjectKey;
  said: Sighting | undefined;
  /** What its drain last said, while that holds the phase. */
  drain: HoldingFact | undefined;
  /** It began anew while its drain went on: the end of that drain is not its own any more. */
  outlivedDrain: boolean;
  /** Those who wait until the object shows what the drain said. */
  awaiting: (() => void)[];
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
  /** Takes in what a drain says. `undefined` when there is nobody whom it concerns. */
  readonly drained: (machineId: string, fact: DrainFact) => Member<Actor> | undefined;
  /** Forgets an end of a drain that the object shows, once the Node itself holds or is gone. */
  readonly settleDrain: (member: Member<Actor>) => void;
  /** A frame about the machine could not be read: it is ours all the same, as it last was. */
  readonly mention: (machineId: string, stream: number) => void;
  /** The machine of an object of ours; others are nobody's business. */
  readonly owner: (object: UpcomingNodeProjection) => Member<Actor> | undefined;
  /** The machines that a Node concerns, now that it is as it is. */
  readonly nodeSeen: (node: NodeProjection) => readonly Member<Actor>[];
  readonly nodeGone: (name: string) => readonly Member<Actor>[];
  /** The Node as it was last seen. */
  readonly nodeNamed: (name: string) => NodeProjection | undefined;
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
  /** The machine that has this Node; `undefined` when none is known, or several are. */
  readonly machineOf: (node: string) => string | undefined;
}

const sameSighting = (left: Sighting | undefined, right: Sighting): boolean =>
  left !== undefined && left.state === right.state && left.standing === right.standing &&
  left.servesAgain === right.servesAgain &&
  left.spec === right.spec && left.providerId === right.providerId &&
  left.lastError === right.lastError && left.nodeName === right.nodeName;

/** True when nothing of a Node differs that an UpcomingNode depends on. */
const sameNode = (before: NodeProjection | undefined, seen: NodeProjection): boolean =>
  before !== undefined && before.uid === seen.uid && before.ready === seen.ready &&
  before.providerId === seen.providerId && before.machineLabel === seen.machineLabel &&
  before.unschedulable === seen.unschedulable &&
  before.cordons['reclaim'] === seen.cordons['reclaim'];

/** True when the machine had ended, and this frame begins another life of it. */
const isReborn = (before: Sighting | undefined, { standing }: Sighting): boolean => {
  const had = before?.standing ?? null;
  return had !== null && endsObject(had) && standing !== null && !endsObject(standing);
};

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
    return found === undefined ? null : nodeLinkOf(found);
  };
  const join = (id: string): Member<Actor> => {
    const known = members.get(id);
    if (known !== undefined) return known;
    const member: Member<Actor> = {
      machineId: id,
      key: objectKey(upcomingNodeName(machineId(id))),
      said: undefined,
      drain: undefined,
      outlivedDrain: false,
      awaiting: [],
      stream: NEVER,
      toldReady: '',
      actor: undefined,
      state: undefined,
      owedSinceMs: undefined,
    };
    members.set(id, member);
    return member;
  };
  /** A frame that says CONFIGURED after a drain has ended: the machine serves again (DR-04). */
  const revived = (member: Member<Actor>, said: Sighting): Sighting => {
    if (said.state !== 'Configured' || said.servesAgain) return said;
    const link = matching.resolve(traitsOf({ ...member, said }))?.node;
    if (link === undefined || nodeLinkOf(link).ended === null) return said;
    return { ...said, servesAgain: true };
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
    machineOf: (name) => {
      const [id, ...others] = matching.machinesOf(name);
      return others.length === 0 ? id : undefined;
    },
    nodeOf: (id, named) => {
      const member = members.get(id);
      const traits = member === undefined
        ? { machineId: id, providerId: '', nodeName: '' }
        : traitsOf(member);
      return matching.resolve({ ...traits, nodeName: named ?? traits.nodeName });
    },
    settleDrain: (member) => {
      if (member.drain === undefined || member.drain._tag === 'Draining') return;
      if (object(member.key)?.phase !== member.drain._tag) return;
      if (node(member)?.ended !== null) member.drain = undefined;
    },
    members: () => members.values(),
    size: () => members.size,
    get: (id) => members.get(id),
    hear: (frame, stream, nowMs) => {
      const member = join(frame.machineId);
      member.stream = stream;
      const before = member.said;
      const said = revived(member, sight(before, frame, nowMs));
      noteUnknown(frame.machineId, before, frame);
      if (sameSighting(before, said)) return undefined;
      member.said = { ...said, spec: intern(said.spec) };
      if (member.drain !== undefined && isReborn(before, said)) {
        member.outlivedDrain = member.drain._tag === 'Draining';
        member.drain = undefined;
      }
      matching.putMachine(traitsOf(member));
      return member;
    },
    drained: (id, fact) => {
      const member = fact._tag === 'Draining' ? join(id) : members.get(id);
      if (member === undefined) return undefined;
      const isForeign = member.outlivedDrain && fact._tag !== 'Draining';
      member.outlivedDrain = false;
      if (isForeign) return member;
      member.drain = fact._tag === 'Cancelled' ? undefined : fact;
      // It serves again only when it is said again, after the end of this drain.
      const { said } = member;
      if (said?.servesAgain === true && fact._tag === 'Draining') {
        member.said = { ...said, servesAgain: false };
      }
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
      const unchanged = sameNode(before, seen);
      const concerned = known(matching.putNode(seen));
      if (unchanged) return [];
      if (before === undefined) { for (const member of concerned) presumeTold(member); }
      return concerned;
    },
    nodeGone: (name) => known(matching.removeNode(name)),
    nodeNamed: matching.nodeNamed,
    unbind: (stream) => [...members.values()].filter((member) => unbound(member, stream)),
    unbindOne: unbound,
    facts: (member) => ({
      said: member.said ?? null,
      shown: object(member.key) ?? null,
      node: node(member),
      drain: member.drain ?? null,
    }),
    forget: (member) => {
      const shown = object(member.key) ?? null;
      const standing = standingOf({ said: member.said ?? null, shown });
      const over = standing === null || endsObject(standing);
      if (shown !== null || !over || member.drain?._tag === 'Draining') return false;
      members.delete(member.machineId);
      matching.removeMachine(member.machineId);
      return true;
    },
  };
};
