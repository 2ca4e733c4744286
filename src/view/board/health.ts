/**
 * The health of what all drains depend on: the session with the fleet, the lease, the API server.
 *
 * Promises: the session and the lease are always there; everything else only with a problem; every
 * problem that a person can act on and that no other card shows.
 */
import { kindInId } from '../../api/actor-board.ts';
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
import { objectName } from './object-name.ts';

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

const nodeHealth = (actor: BoardActor): Health | undefined => {
  const { state, context } = actor;
  const found = NODE_STATES.find(([path]) => state.includes(`availability.${path}`));
  if (found === undefined) return otherHealth(actor);
  const [, reason, status] = found;
  const problem = reason === 'LostPodsFailing' ? textAt(context, 'problem') ?? '' : '';
  return bad(status, reasonVerdict(reason, problem));
};

/** The card of a request shows a silent interceptor, with the time of the hand-over. */
const requestHealth = (actor: BoardActor): Health | undefined =>
  actor.reason === 'InterceptorSilent' ? undefined : otherHealth(actor);

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
  nodeMaintenance: ['Maintenance', otherHealth],
  evictionRequest: ['EvictionRequest', requestHealth],
  evictionRequester: ['Request to evict', otherHealth],
  servingGate: ['Serving gate', otherHealth],
  podDemand: ['Request for the pod', otherHealth],
  upcomingNode: ['UpcomingNode', otherHealth],
  availableCapacity: ['AvailableCapacity', otherHealth],
};

/** Kinds of which a process has one. */
const UNNAMED: ReadonlySet<string> = new Set([
  ...['fleetSession', 'leadership', 'operator', 'evictionCircuit', 'demandSync'],
  'reclaimRecovery',
]);

/** Cards of one kind; a storm has more Nodes, and a missing right concerns all objects. */
const OF_KIND_MAX = 6;

const withCount = (card: HealthCard, more: number): HealthCard =>
  more > 0 ? { ...card, label: `${card.label} and ${more} more` } : card;

/** Of many cards of a kind the first ones; the last of these tells how many there are beside it. */
const withFewOfKind = (cards: readonly HealthCard[]): readonly HealthCard[] =>
  [...Map.groupBy(cards, ({ id }) => kindInId(id)).values()].flatMap((ofKind) =>
    ofKind.slice(0, OF_KIND_MAX).map((card, at) =>
      at === OF_KIND_MAX - 1 ? withCount(card, ofKind.length - OF_KIND_MAX) : card
    )
  );

/** The health of a process, the most serious first. */
export const healthCards = (actors: readonly BoardActor[]): readonly HealthCard[] => {
  const cards = actors.flatMap((actor): readonly HealthCard[] => {
    const [label, look] = KINDS[actor.kind] ?? [];
    const health = look?.(actor);
    if (label === undefined || health === undefined) return [];
    const { id, kind, sinceMs } = actor;
    const name = objectName(actor, actor.context) ?? id.slice(kind.length + 1);
    const command = kubectlCommand({ kind, name }, health.verdict?.change);
    const title = UNNAMED.has(kind) ? label : `${label} ${name}`;
    return [{ id, label: title, command, sinceMs, ...health }];
  });
  return withFewOfKind(cards.toSorted(bySeverity)).toSorted(bySeverity);
};
