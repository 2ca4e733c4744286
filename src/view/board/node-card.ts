/**
 * The card of a node that is drained: its pods, its deadline, what blocks it and who can act.
 *
 * Promises: the verdict is that of every other surface; a long list of pods is cut, its counts are
 * not.
 */
import { atBudget, type BlockedPods } from '../../domain/drain/blocker.ts';
import { isMaintenanceOwner } from '../../domain/drain/cordon.ts';
import { forecastOf } from '../../domain/drain/forecast.ts';
import {
  chiefVerdict,
  type DrainSituation,
  type DrainVerdict,
  drainVerdict,
  isDrainVerdict,
  plural,
  type Severity,
  severityOf,
} from '../../domain/drain/verdict.ts';
import { type ReasonName, REASONS } from '../../api/reasons.ts';
import {
  booleanAt,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
  valueAt,
} from '../../domain/json.ts';
import { compareText } from '../../domain/requirements.ts';
import type { BoardActor, BoardActors, BoardPod } from './board-actors.ts';
import { type BoardVerdict, kubectlCommand, reasonVerdict } from './board-verdict.ts';

/** The status of a pod on a card, in the order of their dots. */
export const DOT_STATES = ['blocked', 'waiting', 'terminating', 'gone'] as const;
export type DotState = (typeof DOT_STATES)[number];

/** A pod on a card: its key, its status, and why it waits; both texts may be empty. */
export type PodDot = readonly [key: string, state: DotState, reason: string];

/** A node. */
export interface NodeCard {
  /** The id of its drain. */
  readonly id: string;
  readonly node: string;
  readonly owner: string;
  readonly situation: DrainSituation;
  readonly severity: Severity;
  readonly verdict: BoardVerdict;
  /** The command that helps. */
  readonly command: string;
  readonly instructions: readonly string[];
  readonly startedMs: number;
  /** Null without a deadline. */
  readonly deadlineMs: number | null;
  /** When the drain ended; null while it goes on. */
  readonly endedMs: number | null;
  readonly pods: Readonly<Record<DotState, number>>;
  readonly dots: readonly PodDot[];
}

const DOTS_MAX = 60;

const ENDS: Readonly<Record<string, DrainSituation>> = {
  'work.drained': 'Drained',
  'work.failed': 'Failed',
  'work.cancelled': 'Cancelled',
};
const ENDING: Readonly<Record<string, DrainSituation>> = {
  Drained: 'Drained',
  Failed: 'Failed',
  Cancelled: 'Cancelled',
};
const SKIPPED = 'work.alreadyEnded';

const workState = ({ state }: BoardActor): string =>
  state.split(' ').find((path) => path.startsWith('work')) ?? '';

/** A maintenance that lets no pod leave yet. */
const isOnlyCordoned = ({ context }: BoardActor): boolean =>
  isMaintenanceOwner(textAt(context, 'owner') ?? '') && booleanAt(context, 'released') === false;

const situationOf = (drain: BoardActor): DrainSituation => {
  const work = workState(drain);
  const end = ENDS[work] ??
    (work.startsWith('work.ending') ? ENDING[textAt(drain.context, 'end') ?? ''] : undefined);
  if (end === 'Drained' && valueAt(drain.context, 'node') === null) return 'Gone';
  if (end !== undefined) return end;
  if (work.startsWith('work.underway.holding') && isOnlyCordoned(drain)) return 'Cordoned';
  return work.endsWith('.paused') ? 'Paused' : 'Draining';
};

/** A slot of a budget is a wait; every other reason counts as it is. */
const isHeldUp = (reason: ReasonName | null): boolean =>
  reason !== null && reason !== 'BlockedByBudget' && severityOf(REASONS[reason]) === 'Blocked';

interface NodeScene {
  readonly drain: BoardActor;
  readonly situation: DrainSituation;
  readonly pods: readonly BoardPod[];
  readonly actors: BoardActors;
}

const dotState = ({ row, budget }: BoardPod, { situation, actors }: NodeScene): DotState => {
  if (row.state === 'gone') return 'gone';
  if (situation === 'Failed' && row.state === 'released') return 'blocked';
  if (isHeldUp(row.reason)) return 'blocked';
  if (row.state.startsWith('leaving')) return 'terminating';
  const isClosed = row.state === 'queued' && actors.budgets.get(budget)?.neverAllows === true;
  return isClosed ? 'blocked' : 'waiting';
};

/** The reason of a pod, the exact one for a budget that cannot open. */
const dotReason = ({ row, budget }: BoardPod, { actors }: NodeScene): string =>
  row.state === 'queued' && actors.budgets.get(budget)?.neverAllows === true
    ? 'BudgetNeverAllows'
    : row.reason ?? '';

/** Pods behind budgets that no wait opens: certain at once, before a blocker is recorded. */
const permanentlyBlocked = ({ pods, actors }: NodeScene): readonly BlockedPods[] => {
  const queued = pods.filter(({ row }) => row.state === 'queued' && row.status === 'active');
  return [...Map.groupBy(queued, ({ budget }) => budget)].flatMap(([key, group]) => {
    const known = actors.budgets.get(key);
    if (known === undefined || !known.neverAllows) return [];
    const blocker = atBudget(known.budget, { interrupted: [] });
    return [{ blocker, pods: group.map((pod) => pod.key) }];
  });
};

const recordedIn = (context: unknown): DrainVerdict | null => {
  const verdict = valueAt(context, 'verdict');
  return isDrainVerdict(verdict) ? verdict : null;
};

const deadlineOf = ({ context }: BoardActor): number | null =>
  numberAt(context, 'annotation', 'deadlineMs') ??
    numberAt(listOrEmptyAt(context, 'orders')[0], 'deadlineMs') ?? null;

const certainVerdict = (scene: NodeScene, deadlineMs: number | null): DrainVerdict | null => {
  const blocked = permanentlyBlocked(scene);
  const graceSeconds = numberAt(scene.drain.context, 'annotation', 'graceSeconds') ??
    Number.POSITIVE_INFINITY;
  const forecast = forecastOf(blocked, [], { deadlineMs, graceSeconds });
  return chiefVerdict(forecast === undefined ? blocked : [...blocked, forecast]) ?? null;
};

/** The error that the end of the drain left on the machine. */
const lastErrorOn = ({ machines }: BoardActors, node: string): string => {
  const machine = machines.find(({ context }) =>
    textAt(context, 'facts', 'current', 'nodeName') === node ||
    textAt(context, 'facts', 'reported', 'nodeName') === node
  );
  return textAt(machine?.context, 'facts', 'drain', 'lastError') ||
    textAt(machine?.context, 'facts', 'current', 'lastError') || '';
};

/** What the drain does before its pods may leave. */
const beforeEvictions = ({ drain, situation }: NodeScene): BoardVerdict | undefined => {
  const work = workState(drain);
  if (situation === 'Cordoned') {
    return reasonVerdict('NotDraining', 'its NodeMaintenance only cordons it so far');
  }
  if (situation !== 'Draining' || work.startsWith('work.underway.draining')) return undefined;
  const problem = textAt(drain.context, 'problem') ?? '';
  return drain.reason === null ? undefined : reasonVerdict(drain.reason, problem);
};

/** Pods that a person must help, while no verdict is recorded: the most frequent reason. */
const heldUpVerdict = ({ pods, situation }: NodeScene): BoardVerdict | undefined => {
  const heldUp = pods.filter(({ row }) => row.status === 'active' && isHeldUp(row.reason));
  const [first] = [...Map.groupBy(heldUp, ({ row }) => row.reason)]
    .toSorted(([, left], [, right]) => right.length - left.length);
  if (first === undefined || first[0] === null || situation !== 'Draining') return undefined;
  const verdict = reasonVerdict(first[0]);
  const why = verdict.sentence.charAt(0).toLowerCase() + verdict.sentence.slice(1);
  return { ...verdict, sentence: `${plural(first[1].length, 'pod')} cannot leave: ${why}` };
};

const verdictOn = (
  scene: NodeScene,
  { left, leaving, deadlineMs }: {
    readonly left: number;
    readonly leaving: number;
    readonly deadlineMs: number | null;
  },
): BoardVerdict => {
  const { drain: { context }, situation, actors } = scene;
  const waiting = beforeEvictions(scene);
  if (waiting !== undefined) return waiting;
  const recorded = recordedIn(context) ?? certainVerdict(scene, deadlineMs);
  const heldUp = recorded === null ? heldUpVerdict(scene) : undefined;
  if (heldUp !== undefined) return heldUp;
  const node = recordAt(context, 'node');
  return drainVerdict({
    state: situation,
    left,
    leaving,
    blocked: [],
    recorded,
    isForbidden: (textAt(context, 'refusal') ?? '') !== '',
    lastError: situation === 'Failed' ? lastErrorOn(actors, textAt(context, 'name') ?? '') : '',
    schedulable: node !== undefined && booleanAt(node, 'unschedulable') === false,
    cordonedByPerson: recordAt(node, 'cordons', 'person') !== undefined ||
      textAt(node, 'cordons', 'person') !== undefined,
  });
};

const dotsOf = (scene: NodeScene, left: number): readonly PodDot[] => {
  const named = scene.pods.map((pod): PodDot => [
    pod.key,
    dotState(pod, scene),
    dotReason(pod, scene),
  ]);
  const present = named.filter(([, state]) => state !== 'gone').length;
  const unnamed = Array.from(
    { length: Math.max(0, left - present) },
    (): PodDot => ['', scene.situation === 'Failed' ? 'blocked' : 'waiting', ''],
  );
  return [...named, ...unnamed].toSorted(([left, before], [right, after]) =>
    DOT_STATES.indexOf(before) - DOT_STATES.indexOf(after) || compareText(left, right)
  );
};

/** Pods that closed budgets hold are blocked once that is recorded. */
const settledDots = (dots: readonly PodDot[], verdict: BoardVerdict): readonly PodDot[] =>
  verdict.reason !== 'BlockedByBudget'
    ? dots
    : dots.map((dot) => (dot[2] === 'BlockedByBudget' ? [dot[0], 'blocked', dot[2]] : dot));

const countsOf = (dots: readonly PodDot[]): Readonly<Record<DotState, number>> => {
  const counts = { blocked: 0, waiting: 0, terminating: 0, gone: 0 };
  for (const [, state] of dots) counts[state] += 1;
  return counts;
};

/** An actor may be of an earlier drain of the node, and a released pod stays where it is. */
const isOnCard = ({ row }: BoardPod, { drain, situation }: Omit<NodeScene, 'pods'>): boolean =>
  row.sinceMs >= drain.bornMs &&
  (row.status === 'active' || row.state === 'gone' || situation === 'Failed');

/** The lease was lost: the drain goes on in another process, or in a later actor of this one. */
const isLeft = (drain: BoardActor): boolean =>
  drain.status === 'stopped' && ENDS[workState(drain)] === undefined;

/**
 * The card of a drain; `undefined` for an instruction that was carried out before, and for a drain
 * that this process has left.
 */
export const nodeCard = (drain: BoardActor, actors: BoardActors): NodeCard | undefined => {
  const { context, id, sinceMs, bornMs } = drain;
  if (workState(drain) === SKIPPED || workState(drain) === '' || isLeft(drain)) return undefined;
  const node = textAt(context, 'name') ?? id;
  const situation = situationOf(drain);
  const pods = (actors.podsByNode.get(node) ?? [])
    .filter((pod) => isOnCard(pod, { drain, situation, actors }));
  const scene = { drain, situation, pods, actors };
  const isOver = ENDS[workState(drain)] !== undefined;
  const left = situation === 'Cancelled' ? 0 : numberAt(context, 'podCounts', 'left') ?? 0;
  const found = dotsOf(scene, left);
  const deadlineMs = deadlineOf(drain);
  const leaving = countsOf(found).terminating;
  const verdict = verdictOn(scene, { left, leaving, deadlineMs });
  const dots = settledDots(found, verdict);
  return {
    id,
    node,
    owner: textAt(context, 'owner') ?? '',
    situation,
    severity: verdict.severity,
    verdict,
    command: kubectlCommand({ kind: 'nodeDrain', name: node }, verdict.change),
    instructions: listOrEmptyAt(context, 'annotation', 'ids').map(String),
    startedMs: numberAt(context, 'annotation', 'sinceMs') ?? bornMs,
    deadlineMs,
    endedMs: isOver ? sinceMs : null,
    pods: countsOf(dots),
    dots: dots.slice(0, DOTS_MAX),
  };
};
