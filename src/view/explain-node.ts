/**
 * Explains a Node by its drain: who wants it, what is happening, what it waits for, and who can do
 * what about it.
 *
 * Promises: says of a drain what `drain status` says, in sentences; total, whatever the cluster
 * shows.
 */
import { type CanAct, REASONS } from '../api/reasons.ts';
import { CORDON_PREFIX, unrecognizedCordons } from '../domain/drain/cordon.ts';
import { duration } from './duration.ts';
import type { NodeFacts } from './drain-facts.ts';
import {
  type DrainBlocker,
  type DrainState,
  type DrainStatus,
  drainStatus,
} from './drain-status.ts';
import type { Detail, Explanation, FieldProblem } from './explanation.ts';
import { actionOn, WHO } from './who-can-act.ts';

type Verdict = Pick<Explanation, 'why' | 'waitsFor' | 'canAct' | 'action'>;

const NOBODY = { canAct: 'nobody', action: '' } as const;

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const wish = ({ owners, instructions }: DrainStatus): string => {
  const [owner = 'somebody'] = owners;
  const ids = instructions.length === 0
    ? ''
    : ` (${instructions.length === 1 ? 'instruction' : 'instructions'} ${instructions.join(', ')})`;
  return owner === 'reclaim'
    ? `The fleet takes this machine back${ids}`
    : `"${owner}" wants this node empty${ids}`;
};

const leavingText = ({ pods, secondsLeft }: DrainStatus): string => {
  const time = secondsLeft === null ? '' : `, with ${duration(secondsLeft * 1000)} left`;
  return pods.left === 0
    ? `no pod that must leave is on it any more${time}`
    : `${plural(pods.left, 'pod')} must leave, ${pods.leaving} of them are on their way out${time}`;
};

/** The blocker that a person can do something about comes before the others. */
const chiefBlocker = (blockers: readonly DrainBlocker[]): DrainBlocker | undefined =>
  blockers.find(({ canAct }) => canAct !== 'nobody') ?? blockers[0];

const firstPods = ({ pods }: DrainBlocker): string =>
  pods.length < 4 ? pods.join(', ') : `${pods.slice(0, 3).join(', ')} and ${pods.length - 3} more`;

const draining = (status: DrainStatus): Verdict => {
  const why = `${wish(status)}: ${leavingText(status)}`;
  const blocker = chiefBlocker(status.blockers);
  if (blocker === undefined) {
    const waitsFor = status.pods.left === 0
      ? 'The operator to write that it is drained'
      : 'The pods to leave; nothing holds them up';
    return { why, waitsFor, ...NOBODY };
  }
  return {
    why,
    waitsFor: `${firstPods(blocker)}: ${blocker.text}`,
    canAct: blocker.canAct,
    action: actionOn(blocker.reason),
  };
};

const failed = (status: DrainStatus): Verdict => {
  const remaining = status.lastError ?? `${plural(status.pods.left, 'pod')} were still there`;
  const blocker = chiefBlocker(status.blockers);
  return {
    why: `${wish(status)}, and the time was over before it was empty: ${remaining}`,
    waitsFor: 'Nothing of Tidegate: nothing more is evicted; the fleet decides about the machine',
    canAct: blocker?.canAct ?? 'application',
    action: actionOn(blocker?.reason ?? 'DeadlinePassed') || actionOn('DeadlinePassed'),
  };
};

const OF_STATE: Readonly<
  Record<Exclude<DrainState, 'Draining' | 'Failed'>, (status: DrainStatus) => Verdict>
> = {
  Schedulable: () => ({
    why: 'Nobody holds the node: it takes pods, and nothing is evicted',
    waitsFor: 'Nothing',
    ...NOBODY,
  }),
  Cordoned: ({ owners }) => ({
    why: owners.includes('person')
      ? 'A person cordoned the node; nothing is evicted because of that'
      : 'The node is cordoned, by nobody who left a key of Tidegate; nothing is evicted',
    waitsFor: 'Whoever cordoned it to make it schedulable again',
    canAct: 'platform',
    action: 'kubectl uncordon makes it take pods again',
  }),
  Paused: (status) => ({
    ...draining(status),
    waitsFor: 'The pause to end; the time of the drain runs on',
    canAct: REASONS.DrainPaused.canAct,
    action: actionOn('DrainPaused'),
  }),
  Overdue: (status) => ({
    ...draining(status),
    why: `${wish(status)}: its time is over, and the end is not written yet`,
    waitsFor: 'The operator to write the end',
    canAct: 'platform',
    action: 'See whether the operator runs, when this lasts',
  }),
  Cancelling: (status) => ({
    why: `${wish(status)}, but somebody made the node schedulable again: that cancels the drain`,
    waitsFor: 'The operator to write that the drain is cancelled',
    ...NOBODY,
  }),
  Drained: (status) => ({
    why: `${wish(status)}, and every pod that had to leave has left`,
    waitsFor: 'The machine to go; the node stays cordoned until then',
    ...NOBODY,
  }),
  Cancelled: (status) => ({
    why: `${wish(status)}, but somebody cancelled the drain; nothing is evicted any more`,
    waitsFor: 'Nothing',
    ...NOBODY,
  }),
  Gone: () => ({ why: 'The Node is no more', waitsFor: 'Nothing', ...NOBODY }),
};

const verdictOn = (status: DrainStatus): Verdict => {
  if (status.state === 'Draining') return draining(status);
  return status.state === 'Failed' ? failed(status) : OF_STATE[status.state](status);
};

const detail = (name: string, value: string): readonly Detail[] =>
  value === '' ? [] : [{ name, value }];

const help = ({ canAct, reason, runbook }: DrainBlocker): string => {
  const action = actionOn(reason);
  const page = runbook === '' ? '' : ` (runbook ${runbook})`;
  return action === '' ? '' : `. ${WHO[canAct satisfies CanAct]}: ${action}${page}`;
};

const tierText = ({ priority, left, leaving, blocked, started }: DrainStatus['tiers'][number]) =>
  `${priority === null ? "the operator's own pod" : `priority ${priority}`}: ${left} left, ` +
  `${leaving} leaving, ${blocked} blocked${started ? '' : ', waits for the tiers before it'}`;

const details = (status: DrainStatus, nowMs: number): readonly Detail[] => [
  ...detail('Cordoned for', status.owners.join(', ')),
  ...detail(
    'Since',
    status.since === null
      ? ''
      : `${status.since} (${duration(nowMs - Date.parse(status.since))} ago)`,
  ),
  ...detail('Deadline', status.deadline ?? ''),
  ...detail('Kubelet', status.kubeletSilent ? 'does not answer' : ''),
  ...status.tiers.flatMap((tier) => detail('Tier', tierText(tier))),
  ...status.budgets.flatMap(({ budget, allowed, healthy, desired, waiting }) =>
    detail(
      'Budget',
      `${budget} allows ${allowed}, ${healthy} of ${desired} healthy; ` +
        `pods of it that wait here: ${waiting}`,
    )
  ),
  ...status.blockers.flatMap((blocker) =>
    detail(blocker.reason, `${firstPods(blocker)}: ${blocker.text}${help(blocker)}`)
  ),
  ...detail('Last error', status.lastError ?? ''),
];

const problemsOf = ({ node }: NodeFacts): readonly FieldProblem[] =>
  unrecognizedCordons(node).map(({ owner, why }) => ({
    field: `metadata.annotations[${CORDON_PREFIX}${owner}]`,
    problem: `cannot be read: ${why}`,
    remedy: 'It is left alone; remove it when nobody needs it',
  }));

/** Events that are shown; older ones rarely explain the present. */
const EVENTS_MAX = 10;

/** Explains one Node. */
export const explainNode = (facts: NodeFacts): Explanation => {
  const status = drainStatus(facts);
  return {
    kind: 'Node',
    name: status.node,
    state: status.state,
    what: 'A Node of this cluster',
    ...verdictOn(status),
    problems: problemsOf(facts),
    details: details(status, facts.nowMs),
    events: facts.events.slice(0, EVENTS_MAX)
      .map(({ time, type, reason, note, count }) => ({ time, type, reason, note, count })),
  };
};
