/**
 * `tidegate drain status`: reads the cluster and prints its drains.
 *
 * Promises: exit code 3 when a requested node does not exist, 4 when the cluster cannot be reached,
 * 2 for invalid arguments; stdout has only records.
 */
import { Effect } from 'effect';
import type { ServerDate } from '../../domain/cluster-time.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { Time } from '../../domain/time.ts';
import { type DrainReading, readDrains } from '../../effects/drain-reads.ts';
import { type DrainScene, nodeFactsOf, projectNodeEvent } from '../../view/drain-facts.ts';
import { hasDrain } from '../../view/drain-owner.ts';
import { type DrainStatus, drainStatus } from '../../view/drain-status.ts';
import {
  type Answer,
  answered,
  askCluster,
  commandTime,
  logUnreachable,
  silent,
} from '../cluster-question.ts';
import type { Following } from './drain-following.ts';
import { DRAIN_RECORDS, drainPrinter } from './drain-printer.ts';
import { type DrainStatusRequest, STATUS_FORMATS, statusSelectorProblem } from './drain-request.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { missingNodes, unknownWord } from '../failures.ts';
import { recordsText } from '../terminal/record-printer.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Converts a reading for the views. */
export const sceneOf = (reading: DrainReading, nowMs: number): DrainScene => ({
  ...reading,
  events: reading.events.flatMap((raw) => projectNodeEvent(raw) ?? []),
  nowMs,
});

const choiceOf = ({ nodes, selector }: DrainStatusRequest) =>
  nodes.length === 0
    ? { _tag: 'All', isMeant: hasDrain, ...(selector === undefined ? {} : { selector }) } as const
    : { _tag: 'Named', names: nodes } as const;

/** The status of every node of a reading. */
export const statusesOf = (reading: DrainReading, nowMs: number): readonly DrainStatus[] =>
  nodeFactsOf(sceneOf(reading, nowMs)).map(drainStatus);

/** The requested drains out of all that was read. */
const drainsIn = ({ nodes }: DrainStatusRequest) => {
  const isMeant = nodes.length === 0 ? hasDrain : ({ name }: DrainedNode) => nodes.includes(name);
  return (reading: DrainReading, nowMs: number): readonly DrainStatus[] =>
    statusesOf({ ...reading, nodes: reading.nodes.filter(isMeant) }, nowMs);
};

const lookOnce = (
  request: DrainStatusRequest,
  onServerDate: (date: ServerDate) => void,
): Promise<Answer<DrainReading>> =>
  askCluster(
    request,
    readDrains(choiceOf(request)).pipe(
      Effect.map((read): Answer<DrainReading> =>
        read._tag === 'Refused' ? silent(EXIT.failure, read.why) : answered(read.reading)
      ),
    ),
    onServerDate,
  );

/** Watches drains until a signal ends it or its output has no reader any more. */
export type FollowDrains = (following: Following) => Promise<ExitCode>;

/** Prints drains once, or watches them. */
export const runDrainStatus = async (
  request: DrainStatusRequest,
  { terminal, time, follow }: {
    readonly terminal: Terminal;
    readonly time: Time;
    readonly follow: FollowDrains;
  },
): Promise<ExitCode> => {
  const format = STATUS_FORMATS.find((candidate) => candidate === request.format);
  if (format === undefined) {
    terminal.report(unknownWord('--output', request.format, STATUS_FORMATS));
    return EXIT.usage;
  }
  const problem = statusSelectorProblem(request);
  if (problem !== undefined) {
    terminal.report(problem);
    return EXIT.usage;
  }
  const clock = commandTime(time);
  const look = await lookOnce(request, clock.observe);
  if (look._tag === 'Silent') return logUnreachable(look, terminal);
  const reading = look.value;
  if (reading.missing.length > 0) terminal.report(missingNodes(reading.missing));
  const code = reading.missing.length > 0 ? EXIT.notMet : EXIT.ok;
  const drainsOf = drainsIn(request);
  if (request.watch && code === EXIT.ok) {
    const print = drainPrinter(terminal, format);
    const { own } = reading;
    const { selector } = request;
    return await follow({ cluster: request, own, selector, drainsOf, print, terminal, time });
  }
  const drains = drainsOf(reading, clock.now());
  const isTable = format === 'table' || format === 'wide';
  if (drains.length > 0 || !isTable) {
    terminal.print(recordsText(drains, DRAIN_RECORDS, { format, nowMs: clock.now() }));
  } else if (code === EXIT.ok) terminal.report(DRAIN_RECORDS.empty);
  return code;
};
