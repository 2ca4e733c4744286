/**
 * One case for every problem that stops all drains, not one: the actor that has it. The test of the
 * board and the page docs/reference/verdicts.md read them.
 */
import type { ReasonName } from '../../../src/api/reasons.ts';
import type { BoardVerdict } from '../../../src/view/board/board-verdict.ts';
import { drainBoard } from '../../../src/view/board/drain-board.ts';
import { NOW_MS, type SceneActor, sceneOf } from './board-scene.ts';

/** A problem, and the actor that has it. */
export interface HealthCase {
  readonly title: string;
  readonly reason: ReasonName;
  readonly actor: SceneActor;
}

const of = (title: string, reason: ReasonName, actor: SceneActor): HealthCase => ({
  title,
  reason,
  actor: { reason, ...actor },
});

const session = (state: string, why: string, detail: string): SceneActor => ({
  id: 'fleetSession/a',
  state,
  context: { ending: { why, detail } },
});

const withProblem = (id: string, state: string, problem: string): SceneActor => ({
  id,
  state,
  context: { problem },
});

const NO_LISTENER = 'connect ECONNREFUSED 10.0.0.1:6443';

/** The cases, in the order in which they are listed. */
export const HEALTH_CASES: readonly HealthCase[] = [
  of(
    'The API server does not answer at the start',
    'ApiServerUnreachable',
    withProblem('operator', 'waitingForCluster', NO_LISTENER),
  ),
  of(
    'The API server refuses a list',
    'CollectionRefused',
    { id: 'listWatch/pods', state: 'refused' },
  ),
  of(
    'The Lease cannot be renewed',
    'LeaseNotRenewed',
    withProblem('leadership', 'leading.renewalFailed', 'HTTP 500'),
  ),
  of(
    'The shard does not answer',
    'ShardUnreachable',
    session('unreachable', 'Unreachable', 'connect ECONNREFUSED 10.0.0.2:443'),
  ),
  of(
    'The shard refuses the session',
    'SessionRefused',
    session('refused', 'RefusedByShard', 'unknown cluster'),
  ),
  of(
    'The shard does not acknowledge the demand',
    'RollupNotAcknowledged',
    session('overdue', 'Overdue', 'no ack for 30 s'),
  ),
  of(
    'The API server refuses the credentials of evictions',
    'CredentialsRefused',
    { id: 'evictionCircuit', state: 'open.refused' },
  ),
  of('An actor crashed', 'ActorCrashed', { id: 'actorRestart/1', state: 'waiting' }),
];

/** What the drain board says about the case. */
export const healthVerdict = ({ title, actor }: HealthCase): BoardVerdict => {
  const { health: [card] } = drainBoard(sceneOf([actor]), NOW_MS);
  if (!card?.verdict) throw new Error(`${title}: the board has no verdict`);
  return card.verdict;
};
