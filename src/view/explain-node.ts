/**
 * Explains a Node by its drain: who requested it, its progress, what it waits for, and who can act.
 *
 * Promises: agrees with `drain status`, in sentences; total.
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
    ? `The fleet reclaims this machine${ids}`
    : `"${owner}" drains this node${ids}`;
};

const leavingText = ({ pods, secondsLeft }: DrainStatus): string => {
  const time = secondsLeft === null ? '' : `, with ${duration(secondsLeft * 1000)} left`;
  return pods.left === 0
    ? `all pods that must leave are gone${time}`
    : `${plural(pods.left, 'pod')} must leave, ${pods.leaving} of them are terminating${time}`;
};

/** Blockers that a person can act on come first. */
const chiefBlocker = (blockers: readonly DrainBlocker[]): DrainBlocker | undefined =>
  blockers.find(({ canAct }) => canAct !== 'nobody') ?? blockers[0];

const firstPods = ({ pods }: DrainBlocker): string =>
  pods.length < 4 ? pods.join(', ') : `${pods.slice(0, 3).join(', ')} and ${pods.length - 3} more`;

const draining = (status: DrainStatus): Verdict => {
  const why = `${wish(status)}: ${leavingText(status)}`;
  const blocker = chiefBlocker(status.blockers);
  if (blocker === undefined) {
    const waitsFor = status.pods.left === 0
      ? 'The operator to record the end of the drain'
      : 'The pods to leave; nothing blocks them';
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
  const remaining = status.lastError ?? `${plural(status.pods.left, 'pod')} remained`;
  const blocker = chiefBlocker(status.blockers);
  return {
    why: `${wish(status)}, but the deadline passed first: ${remaining}`,
    waitsFor: 'The fleet to decide about the machine; Tidegate evicts no more pods',
    canAct: blocker?.canAct ?? 'application',
    action: actionOn(blocker?.reason ?? 'DeadlinePassed') || actionOn('DeadlinePassed'),
  };
};

const OF_STATE: Readonly<
  Record<Exclude<DrainState, 'Draining' | 'Failed'>, (status: DrainStatus) => Verdict>
> = {
  Schedulable: () => ({
    why: 'The node is schedulable and is not being drained',
    waitsFor: 'Nothing',
    ...NOBODY,
  }),
  Cordoned: ({ owners }) => ({
    why: owners.includes('person')
      ? 'A person cordoned the node; Tidegate evicts no pods'
      : 'The node is cordoned without a Tidegate annotation; Tidegate evicts no pods',
    waitsFor: 'The owner of the cordon to uncordon it',
    canAct: 'platform',
    action: 'Run "kubectl uncordon" to make it schedulable',
  }),
  Paused: (status) => ({
    ...draining(status),
    waitsFor: 'The pause to end; the deadline still applies',
    canAct: REASONS.DrainPaused.canAct,
    action: actionOn('DrainPaused'),
  }),
  Overdue: (status) => ({
    ...draining(status),
    why: `${wish(status)}: the deadline passed, and the end is not recorded yet`,
    waitsFor: 'The operator to record the end',
    canAct: 'platform',
    action: 'Check that the operator runs if this lasts',
  }),
  Cancelling: (status) => ({
    why: `${wish(status)}, but the node was uncordoned, which cancels the drain`,
    waitsFor: 'The operator to record the cancellation',
    ...NOBODY,
  }),
  Drained: (status) => ({
    why: `${wish(status)}, and all pods that had to leave are gone`,
    waitsFor: 'The fleet to remove the machine; the node stays cordoned until then',
    ...NOBODY,
  }),
  Cancelled: (status) => ({
    why: `${wish(status)}, but the drain was cancelled; Tidegate evicts no more pods`,
    waitsFor: 'Nothing',
    ...NOBODY,
  }),
  Gone: () => ({ why: 'The Node was deleted', waitsFor: 'Nothing', ...NOBODY }),
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
  ...detail('Kubelet', status.kubeletSilent ? 'not responding' : ''),
  ...status.tiers.flatMap((tier) => detail('Tier', tierText(tier))),
  ...status.budgets.flatMap(({ budget, allowed, healthy, desired, waiting }) =>
    detail(
      'Budget',
      `${budget} allows ${allowed}, ${healthy} of ${desired} healthy; ` +
        `pods waiting here: ${waiting}`,
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
    problem: `is invalid: ${why}`,
    remedy: 'Tidegate does not change it; remove it if no longer needed',
  }));

/** The number of Events shown; older ones rarely explain the current state. */
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
