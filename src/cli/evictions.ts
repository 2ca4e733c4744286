/**
 * `tidegate evictions`: reads the EvictionRequests of a cluster and prints them.
 *
 * Promises: read-only; exit code 4 when the cluster cannot be reached, 2 for invalid arguments;
 * stdout has only records.
 */
import { Effect } from 'effect';
import {
  type ObservedRequest,
  projectEvictionRequest,
} from '../domain/eviction-requests/observed-request.ts';
import type { Time } from '../domain/time.ts';
import { EVICTION_REQUESTS_PATH, evictionRequestPath } from '../effects/eviction-requests.ts';
import { readList } from '../effects/object-lists.ts';
import type { Selection } from '../effects/watches.ts';
import {
  byPod,
  evictionColumns,
  type EvictionStatus,
  evictionStatus,
} from '../view/eviction-status.ts';
import { type Answer, answered, askCluster, logUnreachable, silent } from './cluster-question.ts';
import { EVICTIONS_FORMATS, type EvictionsRequest } from './evictions-request.ts';
import { type EvictionsWatch, startEvictionsWatch } from './evictions-watch.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { selectorProblem, unknownWord } from './failures.ts';
import { followRecords } from './record-following.ts';
import { type RecordKind, recordPrinter, recordsText } from './record-printer.ts';
import type { Terminal } from './terminal.ts';

/** EvictionRequests as records, with or without their namespace. */
const evictionRecords = (namespaced: boolean): RecordKind<EvictionStatus> => ({
  command: 'tidegate evictions --watch',
  empty: 'No eviction is requested',
  columns: (nowMs, wide) => evictionColumns(nowMs, { wide, namespaced }),
  keyOf: ({ namespace, name }) => `${namespace}/${name}`,
  stateOf: (status) => JSON.stringify(status),
  gone: (status) => ({ ...status, phase: 'Gone' }),
  nameOf: ({ name }) => `evictionrequest.lifecycle.tidegate.dev/${name}`,
});

const selectionOf = (
  { namespace, allNamespaces, selector }: EvictionsRequest,
): Selection => ({
  path: allNamespaces ? EVICTION_REQUESTS_PATH : evictionRequestPath(namespace ?? 'default'),
  ...(selector === undefined ? {} : { query: { labelSelector: selector } }),
});

/** One line about what cannot be used; undefined when all can. */
const problemOf = ({ selector, namespace, allNamespaces }: EvictionsRequest) => {
  if (namespace !== undefined && allNamespaces) {
    return 'Cannot use --namespace with --all-namespaces: write one or the other';
  }
  return selectorProblem(selector, 'app=web,tier!=test');
};

const lookOnce = (request: EvictionsRequest): Promise<Answer<readonly ObservedRequest[]>> =>
  askCluster(
    request,
    readList(selectionOf(request), projectEvictionRequest).pipe(
      Effect.map((read): Answer<readonly ObservedRequest[]> =>
        read._tag === 'Refused'
          ? silent(EXIT.failure, `Cannot list EvictionRequests: ${read.why}`)
          : answered(read.objects)
      ),
    ),
  );

const statusesOf = (
  requests: readonly ObservedRequest[],
  nowMs: number,
): readonly EvictionStatus[] =>
  requests.map((request) => evictionStatus(request, nowMs)).toSorted(byPod);

/** Prints requests once, or watches them. */
export const runEvictions = async (
  request: EvictionsRequest,
  { terminal, time }: { readonly terminal: Terminal; readonly time: Pick<Time, 'now'> },
): Promise<ExitCode> => {
  const format = EVICTIONS_FORMATS.find((candidate) => candidate === request.format);
  const problem = format === undefined
    ? unknownWord('--output', request.format, EVICTIONS_FORMATS)
    : problemOf(request);
  if (format === undefined || problem !== undefined) {
    terminal.report(problem ?? '');
    return EXIT.usage;
  }
  const look = await lookOnce(request);
  if (look._tag === 'Silent') return logUnreachable(look, terminal);
  const records = evictionRecords(request.allNamespaces);
  if (!request.watch) {
    const rows = statusesOf(look.value, time.now());
    const isTable = format === 'table' || format === 'wide';
    if (rows.length === 0 && isTable) terminal.report(records.empty);
    else terminal.print(recordsText(rows, records, { format, nowMs: time.now() }));
    return EXIT.ok;
  }
  const print = recordPrinter(terminal, records, format);
  let watch: EvictionsWatch | undefined;
  await followRecords({
    cluster: request,
    terminal,
    report: print.report,
    start: (environment) => watch = startEvictionsWatch(environment, selectionOf(request)),
    show: (nowMs) => print.show(statusesOf(watch?.requests() ?? [], nowMs), nowMs),
  });
  print.close();
  return EXIT.ok;
};
