/** Drains as a table: one line for each node. */
import { duration } from './duration.ts';
import type { DrainBlocker, DrainStatus, TierStatus } from './drain-status.ts';
import type { Column } from './table.ts';

const since = ({ since: time }: DrainStatus, nowMs: number): string =>
  time === null ? '' : duration(nowMs - Date.parse(time));

const timeLeft = ({ secondsLeft }: DrainStatus): string => {
  if (secondsLeft === null) return '';
  return secondsLeft < 0 ? `-${duration(-secondsLeft * 1000)}` : duration(secondsLeft * 1000);
};

const counts = (
  { left, leaving, blocked }: Pick<TierStatus, 'left' | 'leaving' | 'blocked'>,
): string => `${left}/${leaving}/${blocked}`;

/** `first`, and the number of others. */
const andMore = (texts: readonly string[]): string =>
  texts.length < 2 ? texts[0] ?? '' : `${texts[0]}+${texts.length - 1}`;

/** `BlockedByBudget team-a/db-0+2: budget team-a/db allows 0 disruptions`. */
const blockerInLine = ({ reason, pods, text }: DrainBlocker): string =>
  `${reason} ${andMore(pods)}: ${text}`;

const NOT_IN_TIME = '; the deadline will pass first';

const blockerOf = (
  { blockers: [first], waits, kubeletSilent, lastError, state, verdict }: DrainStatus,
): string => {
  if (state === 'Failed' && verdict.reason === 'EvictionForbidden') {
    return `${verdict.reason}: ${verdict.sentence}`;
  }
  if (first !== undefined) {
    return `${blockerInLine(first)}${verdict.forecast === '' ? '' : NOT_IN_TIME}`;
  }
  if (state === 'Failed') return lastError ?? '';
  if (state === 'Paused') return 'DrainPaused';
  const [wait] = waits;
  if (wait !== undefined && verdict.reason === wait.reason) return blockerInLine(wait);
  return kubeletSilent && state === 'Draining' ? 'KubeletSilent' : '';
};

const tiersInLine = ({ tiers }: DrainStatus): string =>
  tiers.map((tier) => `${tier.priority ?? 'own'}:${counts(tier)}${tier.started ? '' : '(waits)'}`)
    .join(',');

const budgetsInLine = ({ budgets }: DrainStatus): string =>
  budgets.map(({ budget, allowed, waiting }) => `${budget}:${allowed}/${waiting}`).join(',');

const classesInLine = ({ classes }: DrainStatus): string =>
  `${classes.stateless}/${classes.stateful}`;

/** The columns at `nowMs`; `wide` adds the less common ones. */
export const statusColumns = (nowMs: number, wide: boolean): readonly Column<DrainStatus>[] => [
  { heading: 'NODE', cell: ({ node }) => node },
  { heading: 'STATE', cell: ({ state }) => state },
  { heading: 'OWNER', cell: ({ owners }) => owners.join(',') },
  { heading: 'INSTRUCTION', cell: ({ instructions }) => andMore(instructions) },
  { heading: 'SINCE', cell: (status) => since(status, nowMs) },
  { heading: 'LEFT', cell: timeLeft },
  { heading: 'PODS(LEFT/LEAVING/BLOCKED)', cell: ({ pods }) => counts(pods) },
  ...(wide
    ? [
      { heading: 'STATELESS/STATEFUL', cell: classesInLine },
      { heading: 'DEADLINE', cell: ({ deadline }: DrainStatus) => deadline ?? '' },
      { heading: 'TIERS(LEFT/LEAVING/BLOCKED)', cell: tiersInLine },
      { heading: 'BUDGETS(FREE/WAITING)', cell: budgetsInLine },
      { heading: 'FORECAST', cell: ({ verdict }: DrainStatus) => verdict.forecast },
    ]
    : []),
  { heading: 'BLOCKER', cell: blockerOf },
];
