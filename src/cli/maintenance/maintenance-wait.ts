/**
 * Waits until the work of a maintenance's stage is done.
 *
 * Promises: prints each step once; an operator that does not take the maintenance is reported once,
 * and waited for; it goes on when its output has no reader any more, because the exit code counts.
 */
import { type CordonableNode, hasCordoned } from '../../domain/node-maintenance/cordoned-nodes.ts';
import type { ObservedMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import { type Stage } from '../../domain/node-maintenance/stage.ts';
import { quoted } from '../../domain/text.ts';
import type { Time } from '../../domain/time.ts';
import { maintenanceView } from '../../view/maintenance-view.ts';
import type { ChosenCluster } from '../cluster-question.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { ChangePrinter } from './maintenance-printer.ts';
import {
  type MaintenanceWatch,
  startCordonWatch,
  startMaintenanceWatch,
} from './maintenance-watch.ts';
import { followRecords } from '../terminal/record-following.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** An operator that leads takes a maintenance within a second. */
const UNSERVED_AFTER_MS = 15_000;

/** What to say when nobody works on it. */
export const unservedText = (name: string): string =>
  `No operator has taken NodeMaintenance ${quoted(name)}: run one with ` +
  '"tidegate operator --roles maintenance", or add the role to one that runs; still waiting';

const isDone = (
  maintenance: ObservedMaintenance | undefined,
  stage: Stage,
  nodes: () => Iterable<CordonableNode>,
): boolean => {
  if (maintenance === undefined) return true;
  const { generation, status } = maintenance;
  if (status.observedGeneration < generation) return false;
  const { phase } = maintenanceView(maintenance);
  switch (stage) {
    case 'Idle':
      return true;
    case 'Cordon':
      return phase === 'Completed' || hasCordoned(maintenance, nodes());
    case 'Drain':
      return phase === 'Drained' || phase === 'Completed';
    case 'Complete':
      return phase === 'Completed';
  }
};

/** Follows a maintenance until the work of its stage is done. */
export const waitForMaintenance = async (
  { cluster, maintenance: { name, uid, spec: { stage } }, timeoutMs, print }: {
    readonly cluster: ChosenCluster;
    readonly maintenance: ObservedMaintenance;
    readonly timeoutMs: number | undefined;
    readonly print: ChangePrinter;
  },
  { terminal, time }: {
    readonly terminal: Terminal;
    readonly time: Pick<Time, 'schedule'>;
  },
): Promise<ExitCode> => {
  const end = Promise.withResolvers<void>();
  let watch: MaintenanceWatch | undefined;
  let nodes = (): Iterable<CordonableNode> => [];
  let last: ObservedMaintenance | undefined;
  let isOver = false;
  const timers = [
    ...(timeoutMs === undefined ? [] : [time.schedule(timeoutMs, end.resolve)]),
    time.schedule(UNSERVED_AFTER_MS, () => {
      if (last?.status.observedGeneration === 0) terminal.report(unservedText(name));
    }),
  ];
  const how = await followRecords({
    cluster,
    report: terminal.report,
    start: (environment) => {
      if (stage !== 'Cordon') return watch = startMaintenanceWatch(environment, name);
      const cordons = startCordonWatch(environment, name);
      nodes = cordons.nodes;
      return watch = cordons;
    },
    show: (nowMs) => {
      last = watch?.maintenances().find((one) => one.uid === uid);
      if (last !== undefined) print.progressed(last, nowMs);
      isOver = isDone(last, stage, nodes);
      if (isOver) end.resolve();
    },
    ended: end.promise,
  });
  for (const cancel of timers) cancel();
  if (isOver) {
    if (last !== undefined || stage === 'Complete') return EXIT.ok;
    terminal.report(`NodeMaintenance ${quoted(name)} was deleted before its stage was done`);
    return EXIT.failure;
  }
  const again = `it goes on; "tidegate maintenance status ${name}" shows it`;
  terminal.report(
    how === 'signal'
      ? `Stopped waiting for NodeMaintenance ${quoted(name)}: ${again}`
      : `Stage ${stage} of NodeMaintenance ${quoted(name)} is not done in time: ${again}`,
  );
  return how === 'signal' ? EXIT.failure : EXIT.notMet;
};
