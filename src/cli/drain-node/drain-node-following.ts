/**
 * Follows the drains of `tidegate drain NODE…` to their ends.
 *
 * Promises: nodes are drained side by side, and each is cleaned up after when it ends, also when
 * the output has no reader any more; a signal leaves the NodeMaintenances, says so, and a second
 * run goes on with them.
 */
import type { Time } from '../../domain/time.ts';
import type { ChosenCluster } from '../cluster-question.ts';
import { NodeDrain } from './drain-node-progress.ts';
import type { DrainQuestion } from './drain-node-request.ts';
import type { FilteredNode } from './drain-node-text.ts';
import { maintenanceOf } from '../maintenance/maintenance-of-node.ts';
import { startNodeDrainWatch } from './drain-node-watch.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { failureSentence } from '../failures.ts';
import { followRecords } from '../terminal/record-following.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Pods that terminate for too long are looked for this often. */
const TICK_MS = 1000;

const interruptedText = ({ node, podsLeft }: NodeDrain): string =>
  `Stopped waiting for node "${node}" (${podsLeft} left): NodeMaintenance ` +
  `"${maintenanceOf(node)}" stays and the operator goes on; "tidegate drain ${node}" follows it ` +
  `again with the same flags, and "tidegate maintenance complete ${maintenanceOf(node)}" ends it`;

/** Drains the nodes side by side. */
export const followNodeDrains = async (
  { cluster, question, nodes }: {
    readonly cluster: ChosenCluster;
    readonly question: DrainQuestion;
    readonly nodes: readonly FilteredNode[];
  },
  { terminal, time }: {
    readonly terminal: Terminal;
    readonly time: Pick<Time, 'now' | 'schedule'>;
  },
): Promise<ExitCode> => {
  const end = Promise.withResolvers<void>();
  let drains: readonly NodeDrain[] | undefined;
  let cancelTick = (): void => {};
  let areDrained = false;
  const show = (): void => drains?.forEach(({ onChange }) => onChange());
  const tick = (): void => {
    cancelTick = time.schedule(TICK_MS, () => {
      show();
      tick();
    });
  };
  let begin = (): void => {};
  const how = await followRecords({
    cluster,
    isTicking: false,
    report: terminal.report,
    start: (environment) => {
      const watch = startNodeDrainWatch(environment, {
        nodes,
        podSelector: question.podSelector,
      });
      begin = () => {
        drains = nodes.map((node) => new NodeDrain({ node, question, watch, terminal, time }));
        if (question.filters.skipWaitSeconds > 0) tick();
        Promise.all(drains.map(({ run }) => run())).then(
          (all) => {
            areDrained = all.every((isDrained) => isDrained);
            end.resolve();
          },
          (problem: unknown) => {
            terminal.report(failureSentence(problem));
            end.resolve();
          },
        );
      };
      return watch;
    },
    show: () => {
      if (drains === undefined) begin();
      show();
    },
    ended: end.promise,
  });
  cancelTick();
  if (how === 'ended') return areDrained ? EXIT.ok : EXIT.failure;
  for (const drain of drains ?? []) if (!drain.isOver) terminal.report(interruptedText(drain));
  return EXIT.failure;
};
