/** What is logged and reported of lists and watches that fail. */
import type { SnapshotFrom } from 'xstate';
import type { KubeApi } from '../../effects/kube-api.ts';
import type { listWatch } from '../../machines/list-watch.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** Logs the first failure and the recovery, not every retry between them; reports each of both. */
export const followFailures = (
  { telemetry }: ActorEnvironment<KubeApi>,
  resource: string,
  { onFailure, onAnswer }: { readonly onFailure: () => void; readonly onAnswer: () => void },
) => {
  let failing = false;
  let before = { attempt: 0, problem: '' };
  return ({ context: { attempt, problem } }: SnapshotFrom<typeof listWatch>): void => {
    if (attempt > before.attempt) onFailure();
    if (problem === '' && before.problem !== '') onAnswer();
    before = { attempt, problem };
    if (attempt > 0 && !failing) {
      telemetry.log('warn', 'Cannot list or watch a collection', { resource, problem });
    } else if (attempt === 0 && failing) {
      telemetry.log('info', 'List and watch recovered', { resource });
    }
    failing = attempt > 0;
  };
};
