/**
 * `tidegate evictions`: reads the EvictionRequests of a cluster and prints them.
 *
 * Promises: read-only; exit code 4 when the cluster cannot be reached, 2 for invalid arguments;
 * stdout has only records; a watch ends when it has no reader any more.
 */
import { Effect } from 'effect';
import type { ServerDate } from '../../domain/cluster-time.ts';
import type { ObservedRequest } from '../../domain/eviction-requests/observed-request.ts';
import { EVICTIONS_APIS, type EvictionsApi } from '../../domain/native-evictions/evictions-api.ts';
import type { Time } from '../../domain/time.ts';
import { chooseApi } from '../../effects/evictions-api.ts';
import { readRequests, type RequestScope } from '../../effects/request-reads.ts';
import {
  byPod,
  evictionColumns,
  type EvictionStatus,
  evictionStatus,
  resourceName,
} from '../../view/eviction-status.ts';
import {
  type Answer,
  answered,
  askCluster,
  commandTime,
  logUnreachable,
  silent,
} from '../cluster-question.ts';
import { EVICTIONS_FORMATS, evictionsApiIn, type EvictionsRequest } from './evictions-request.ts';
import { type EvictionsWatch, startEvictionsWatch } from './evictions-watch.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { selectorProblem, unknownWord } from '../failures.ts';
import { followRecords } from '../terminal/record-following.ts';
import { type RecordKind, recordPrinter, recordsText } from '../terminal/record-printer.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** EvictionRequests as records, with or without their namespace. */
const evictionRecords = (namespaced: boolean): RecordKind<EvictionStatus> => ({
  command: 'tidegate evictions --watch',
  empty: 'No eviction is requested',
  columns: (nowMs, wide) => evictionColumns(nowMs, { wide, namespaced }),
  // The object of a request in the group of Kubernetes changes once it has an Eviction.
  keyOf: ({ podUid }) => podUid,
  stateOf: (status) => JSON.stringify(status),
  gone: (status) => ({ ...status, phase: 'Gone' }),
  nameOf: resourceName,
});

const scopeOf = ({ namespace, allNamespaces, selector }: EvictionsRequest): RequestScope => ({
  namespace: allNamespaces ? undefined : namespace ?? 'default',
  labelSelector: selector,
});

const NO_SELECTOR = 'Cannot use --selector: requests in lifecycle.k8s.io have no labels of pods; ' +
  'leave it out, or use --eviction-request-api=tidegate';

/** One line about what cannot be used; undefined when all can. */
const problemOf = (request: EvictionsRequest) => {
  const { selector, namespace, allNamespaces, api } = request;
  if (evictionsApiIn(request) === undefined) {
    return unknownWord('--eviction-request-api', api, EVICTIONS_APIS);
  }
  if (namespace !== undefined && allNamespaces) {
    return 'Cannot use --namespace with --all-namespaces: write one or the other';
  }
  return selectorProblem(selector, 'app=web,tier!=test');
};

interface Look {
  readonly api: EvictionsApi;
  readonly requests: readonly ObservedRequest[];
}

const lookOnce = (
  request: EvictionsRequest,
  onServerDate: (date: ServerDate) => void,
): Promise<Answer<Look>> =>
  askCluster(
    request,
    Effect.gen(function* () {
      const { api } = yield* chooseApi(evictionsApiIn(request) ?? 'auto');
      if (api === 'native' && request.selector !== undefined) {
        return silent(EXIT.usage, NO_SELECTOR);
      }
      const read = yield* readRequests(api, scopeOf(request));
      return read._tag === 'Refused'
        ? silent(EXIT.failure, `Cannot list EvictionRequests: ${read.why}`)
        : answered({ api, requests: read.objects });
    }),
    onServerDate,
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
  const clock = commandTime(time);
  const look = await lookOnce(request, clock.observe);
  if (look._tag === 'Silent') return logUnreachable(look, terminal);
  const records = evictionRecords(request.allNamespaces);
  if (!request.watch) {
    const rows = statusesOf(look.value.requests, clock.now());
    const isTable = format === 'table' || format === 'wide';
    if (rows.length === 0 && isTable) terminal.report(records.empty);
    else terminal.print(recordsText(rows, records, { format, nowMs: clock.now() }));
    return EXIT.ok;
  }
  const print = recordPrinter(terminal, records, format);
  let watch: EvictionsWatch | undefined;
  await followRecords({
    cluster: request,
    report: print.report,
    start: (environment) =>
      watch = startEvictionsWatch(environment, { api: look.value.api, scope: scopeOf(request) }),
    show: (nowMs) => print.show(statusesOf(watch?.requests() ?? [], nowMs), nowMs),
    ended: terminal.readerGone,
  });
  print.close();
  return EXIT.ok;
};
