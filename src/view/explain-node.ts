/**
 * Explains a Node by its drain: who requested it, its progress, what it waits for, and who can act.
 *
 * Promises: agrees with `drain status`, in sentences; total.
 */
import { runbookUrl } from '../domain/documentation.ts';
import { CORDON_PREFIX, isMaintenanceOwner, unrecognizedCordons } from '../domain/drain/cordon.ts';
import { actionText, type DrainSituation, leavingSentence } from '../domain/drain/verdict.ts';
import type { ShardOutage } from '../domain/shard-reach.ts';
import { listed } from '../domain/text.ts';
import { duration } from './duration.ts';
import type { NodeFacts } from './drain-facts.ts';
import { type DrainBlocker, type DrainStatus, drainStatus } from './drain-status.ts';
import type { Detail, Explanation, FieldProblem } from './explanation.ts';
import { duringOutage } from './shard-outage.ts';

type Verdict = Pick<Explanation, 'why' | 'waitsFor' | 'canAct' | 'action' | 'runbook'>;

/** The situations in which an owner drains, or has drained, the node. */
export const OWNED_SITUATIONS: ReadonlySet<string> = new Set<DrainSituation>([
  'Draining',
  'Paused',
  'Overdue',
  'Cancelling',
  'Drained',
  'Failed',
  'Cancelled',
]);

const isOver = (situation: DrainSituation): boolean =>
  situation === 'Drained' || situation === 'Failed' || situation === 'Cancelled';

const wish = ({ owners, instructions, state }: DrainStatus): string => {
  const [owner = 'somebody'] = owners;
  const ids = instructions.length === 0
    ? ''
    : ` (${instructions.length === 1 ? 'instruction' : 'instructions'} ${instructions.join(', ')})`;
  if (owner === 'reclaim') {
    return `The fleet ${isOver(state) ? 'reclaimed' : 'reclaims'} this machine${ids}`;
  }
  const by = isMaintenanceOwner(owner) ? 'A NodeMaintenance' : `"${owner}"`;
  return `${by} ${isOver(state) ? 'drained' : 'drains'} this node${ids}`;
};

const leavingText = ({ pods, secondsLeft }: DrainStatus): string => {
  const time = secondsLeft === null ? '' : `, with ${duration(secondsLeft * 1000)} left`;
  return `${leavingSentence(pods)}${time}`;
};

const NAMED_MAX = 3;

const firstPods = ({ pods }: DrainBlocker): string => listed(pods, NAMED_MAX);

const lowerFirst = (sentence: string): string =>
  `${sentence.slice(0, 1).toLowerCase()}${sentence.slice(1)}`;

const whyOf = (status: DrainStatus): string => {
  const { state, verdict } = status;
  if (!OWNED_SITUATIONS.has(state)) return verdict.sentence;
  const sentence = state === 'Draining' ? leavingText(status) : verdict.sentence;
  return `${wish(status)}: ${lowerFirst(sentence)}`;
};

/** Its drain begins again while its pods are there (`maintained-drains.ts`). */
const isOfMaintenance = ({ owners: [owner = ''] }: DrainStatus): boolean =>
  isMaintenanceOwner(owner);

const WAITS_FOR: Readonly<Record<DrainSituation, (status: DrainStatus) => string>> = {
  Schedulable: () => 'Nothing',
  Cordoned: (status) =>
    isOfMaintenance(status)
      ? 'Its NodeMaintenance to drain the node, or to release it'
      : 'The owner of the cordon to uncordon it',
  Draining: ({ blockers, pods, verdict }) => {
    if (blockers.length > 0 || verdict.reason === 'WaitingForTurn') return verdict.sentence;
    return pods.left === 0
      ? 'The operator to record the end of the drain'
      : 'The pods to leave; nothing blocks them';
  },
  Paused: () => 'The pause to end; the deadline still applies',
  Overdue: () => 'The operator to record the end',
  Cancelling: () => 'The operator to record the cancellation',
  Drained: (status) => {
    if (status.isSchedulable) return 'Nothing: Tidegate evicts no more pods';
    if (status.owners[0] === 'disabled') {
      return 'Nothing: the node stays cordoned until it is enabled';
    }
    const event = isOfMaintenance(status)
      ? 'Its NodeMaintenance to be Complete'
      : 'The fleet to remove the machine';
    return `${event}; the node stays cordoned until then`;
  },
  Failed: (status) => {
    if (isOfMaintenance(status)) {
      return 'The permission to evict; until then the drain begins again every minute';
    }
    return status.owners[0] === 'reclaim'
      ? 'The fleet to decide about the machine; Tidegate evicts no more pods'
      : 'Nothing: Tidegate evicts no more pods';
  },
  Cancelled: () => 'Nothing: Tidegate evicts no more pods',
  Gone: () => 'Nothing',
};

/** The fleet decides about the machine, once it knows how the drain ended. */
const waitsForFleet = ({ state, owners, isSchedulable }: DrainStatus): boolean =>
  (state === 'Drained' || state === 'Failed') && owners.includes('reclaim') && !isSchedulable;

const verdictOn = (status: DrainStatus, outage: ShardOutage | undefined): Verdict => {
  const verdict = {
    why: whyOf(status),
    waitsFor: WAITS_FOR[status.state](status),
    canAct: status.verdict.canAct,
    action: status.verdict.change,
    runbook: runbookUrl(status.verdict.runbook),
  };
  return waitsForFleet(status) ? duringOutage(verdict, outage) : verdict;
};

const detail = (name: string, value: string): readonly Detail[] =>
  value === '' ? [] : [{ name, value }];

const help = ({ canAct, change }: DrainBlocker): string => {
  const action = actionText({ canAct, change });
  return action === '' ? '' : `. ${action}`;
};

/** The page about a blocker, unless the summary shows it. */
const runbookOf = ({ runbook }: DrainBlocker, { verdict }: DrainStatus): readonly Detail[] =>
  runbook === verdict.runbook ? [] : detail('Runbook', runbookUrl(runbook));

const tierText = ({ priority, left, leaving, blocked, started }: DrainStatus['tiers'][number]) =>
  `${priority === null ? "the operator's own pod" : `priority ${priority}`}: ${left} left, ` +
  `${leaving} leaving, ${blocked} blocked${started ? '' : ', waits for earlier tiers'}`;

const details = (status: DrainStatus, nowMs: number): readonly Detail[] => [
  ...detail('Cordoned for', status.owners.join(', ')),
  ...detail(
    'Since',
    status.since === null
      ? ''
      : `${status.since} (${duration(nowMs - Date.parse(status.since))} ago)`,
  ),
  ...detail('Deadline', status.deadline ?? ''),
  ...detail('Forecast', status.verdict.forecast),
  ...detail('Kubelet', status.kubeletSilent ? 'not responding' : ''),
  ...status.tiers.flatMap((tier) => detail('Tier', tierText(tier))),
  ...status.budgets.flatMap(({ budget, allowed, healthy, desired, waiting }) =>
    detail(
      'Budget',
      `${budget} allows ${allowed}, ${healthy} of ${desired} healthy; ` +
        `pods waiting here: ${waiting}`,
    )
  ),
  ...status.blockers.flatMap((blocker) => [
    ...detail(blocker.reason, `${firstPods(blocker)}: ${blocker.text}${help(blocker)}`),
    ...runbookOf(blocker, status),
  ]),
  ...status.waits.flatMap((wait) => detail(wait.reason, `${firstPods(wait)}: ${wait.text}`)),
  ...detail('Last error', status.lastError ?? ''),
];

const problemsOf = ({ node }: NodeFacts): readonly FieldProblem[] =>
  unrecognizedCordons(node).map(({ owner, why }) => ({
    field: `metadata.annotations[${CORDON_PREFIX}${owner}]`,
    problem: `is invalid: ${why}`,
    remedy: 'Tidegate does not change it; remove it if no longer needed',
  }));

/** The number of Events shown; older ones rarely explain the current state. */
const EVENTS_MAX = 10;

/** Explains one Node; `outage` is why the leader has no session with the shard. */
export const explainNode = (facts: NodeFacts, outage?: ShardOutage): Explanation => {
  const status = drainStatus(facts);
  return {
    kind: 'Node',
    name: status.node,
    state: status.state,
    what: 'A Node of this cluster',
    ...verdictOn(status, outage),
    problems: problemsOf(facts),
    details: details(status, facts.nowMs),
    events: facts.events.slice(0, EVENTS_MAX)
      .map(({ time, type, reason, note, count, reporter }) => ({
        time,
        type,
        reason,
        note,
        count,
        reporter,
      })),
  };
};
