/**
 * The health of what all drains depend on: the session with the fleet, the lease, the API server.
 *
 * Promises: the session and the lease are always there; everything else only with a problem.
 */
import type { ReasonName } from '../../api/reasons.ts';
import type { Severity } from '../../domain/drain/verdict.ts';
import { textAt } from '../../domain/json.ts';
import { outageCause } from '../../domain/shard-reach.ts';
import type { BoardActor } from './board-actors.ts';
import {
  type BoardVerdict,
  bySeverity,
  kubectlCommand,
  needsPerson,
  reasonVerdict,
} from './board-verdict.ts';

/** One of them. */
export interface HealthCard {
  readonly id: string;
  readonly label: string;
  readonly severity: Severity;
  /** Its status in a few words. */
  readonly status: string;
  /** What is the matter; null while nothing is. */
  readonly verdict: BoardVerdict | null;
  readonly command: string;
  readonly sinceMs: number;
}

type Health = Pick<HealthCard, 'severity' | 'status' | 'verdict'>;

type SessionText = Parameters<typeof outageCause>[0];

const fine = (status: string): Health => ({ severity: 'Ok', status, verdict: null });
const waiting = (status: string): Health => ({ severity: 'Waiting', status, verdict: null });

const bad = (status: string, verdict: HealthCard['verdict']): Health => ({
  severity: verdict?.severity ?? 'Waiting',
  status,
  verdict,
});

/** An outage has its cause and remedy beside its reason. */
const unreachable = (reason: ReasonName, ending: SessionText): Health => {
  const { why, remedy } = outageCause(ending);
  const verdict = reasonVerdict(reason, `${why} (${ending.detail})`);
  return bad('not connected', { ...verdict, change: remedy });
};

const sessionHealth = ({ state, reason, context }: BoardActor): Health => {
  const why = textAt(context, 'ending', 'why') ?? '';
  const detail = textAt(context, 'ending', 'detail') ?? '';
  if (state.includes('resync.resynced') || state.includes('resync.unproven')) {
    return fine('connected');
  }
  if (state.includes('connected.streaming')) return waiting('connected, reads the machines');
  if (reason === 'ShardUnreachable') return unreachable(reason, { why, detail });
  if (reason !== null) return bad('not connected', reasonVerdict(reason, detail));
  if (state === 'standby') return fine('another process holds the session');
  return waiting(detail === '' ? 'connecting' : 'connecting again');
};

const leaseHealth = ({ state, reason, context }: BoardActor): Health => {
  const problem = textAt(context, 'problem') ?? '';
  if (reason !== null) {
    const isLeading = state.startsWith('leading');
    return bad(
      isLeading ? 'leads, renewal fails' : 'does not lead',
      reasonVerdict(reason, problem),
    );
  }
  if (state.startsWith('leading')) return fine('leads');
  const holder = textAt(context, 'lease', 'holder') ?? '';
  if (state === 'standby') return fine(holder === '' ? 'standby' : `standby; ${holder} leads`);
  return waiting(state === 'released' ? 'released' : 'acquiring');
};

const operatorHealth = ({ state, context }: BoardActor): Health | undefined => {
  const problem = textAt(context, 'problem') ?? '';
  const isAskedAgain = state === 'checking' && problem !== '';
  if (state !== 'waitingForCluster' && !isAskedAgain) return undefined;
  return bad('no answer', reasonVerdict('ApiServerUnreachable', problem));
};

const otherHealth = ({ reason }: BoardActor): Health | undefined => {
  if (reason === null) return undefined;
  const verdict = reasonVerdict(reason);
  return needsPerson(verdict.severity) ? bad('has a problem', verdict) : undefined;
};

/** The states of a Node that fails, the closest first. */
const NODE_STATES: readonly (readonly [state: string, reason: ReasonName, status: string])[] = [
  ['offline.protected', 'OfflineStorm', 'offline, with many others'],
  ['offline.settling', 'NodeOfflineSettling', 'offline since now'],
  ['offline.replacing.givenUp', 'LostPodsFailing', 'offline, and its pods are not replaced'],
  ['offline.replacing.backingOff', 'LostPodsFailing', 'offline, and its pods are not replaced'],
  ['offline', 'NodeOffline', 'offline'],
  ['degraded', 'NodeDegraded', 'degraded'],
];

const nodeHealth = ({ state, context }: BoardActor): Health | undefined => {
  const found = NODE_STATES.find(([path]) => state.includes(`availability.${path}`));
  if (found === undefined) return undefined;
  const [, reason, status] = found;
  const problem = reason === 'LostPodsFailing' ? textAt(context, 'problem') ?? '' : '';
  return bad(status, reasonVerdict(reason, problem));
};

const KINDS: Readonly<
  Record<string, readonly [label: string, look: (actor: BoardActor) => Health | undefined]>
> = {
  fleetSession: ['Fleet session', sessionHealth],
  leadership: ['Lease', leaseHealth],
  operator: ['API server', operatorHealth],
  evictionCircuit: ['Evictions', otherHealth],
  listWatch: ['Watch', otherHealth],
  demandSync: ['Demand', otherHealth],
  reclaimRecovery: ['Reclaims', otherHealth],
  actorRestart: ['Crashed actor', otherHealth],
  reclaimInstruction: ['Reclaim', otherHealth],
  nodeAvailability: ['Node', nodeHealth],
};

/** Kinds of which there are many. */
const NAMED: ReadonlySet<string> = new Set([
  'listWatch',
  'reclaimInstruction',
  'actorRestart',
  'nodeAvailability',
]);

/** Nodes that are shown; a storm has more. */
const NODES_MAX = 6;

const isOfNode = ({ id }: HealthCard): boolean => id.startsWith('nodeAvailability/');

/** Of many Nodes the first ones; the last of these tells how many there are beside it. */
const withFewNodes = (cards: readonly HealthCard[]): readonly HealthCard[] => {
  const nodes = cards.filter(isOfNode);
  const more = nodes.length - NODES_MAX;
  if (more <= 0) return cards;
  const kept = new Map(nodes.slice(0, NODES_MAX).map((card) => [card.id, card]));
  const last = nodes[NODES_MAX - 1];
  if (last !== undefined) kept.set(last.id, { ...last, label: `${last.label} and ${more} more` });
  return cards.flatMap((card) => isOfNode(card) ? kept.get(card.id) ?? [] : [card]);
};

/** The health of a process, the most serious first. */
export const healthCards = (actors: readonly BoardActor[]): readonly HealthCard[] =>
  withFewNodes(
    actors.flatMap((actor): readonly HealthCard[] => {
      const [label, look] = KINDS[actor.kind] ?? [];
      const health = look?.(actor);
      if (label === undefined || health === undefined) return [];
      const { id, kind, sinceMs } = actor;
      const name = id.slice(kind.length + 1);
      const command = kubectlCommand({ kind, name }, health.verdict?.change);
      const title = NAMED.has(kind) ? `${label} ${name}` : label;
      return [{ id, label: title, command, sinceMs, ...health }];
    }).toSorted(bySeverity),
  );
