/**
 * `tidegate evict`: requests that a pod leaves, or withdraws the request.
 *
 * Promises: exit code 0 when the request stands, and with `--wait` when the pod has left; 1 when it
 * was canceled instead or the API server refuses; 3 when there is no such pod or nothing to
 * withdraw, or the timeout has passed; 4 when the cluster cannot be reached, 2 for invalid
 * arguments.
 */
import { Effect } from 'effect';
import type { ObservedRequest } from '../../domain/eviction-requests/observed-request.ts';
import {
  EVICTIONS_APIS,
  type EvictionsApi,
  type EvictionsApiOption,
} from '../../domain/native-evictions/evictions-api.ts';
import { isQualifiedName, isReservedName } from '../../domain/eviction-requests/qualified-name.ts';
import type { RequestedPod } from '../../domain/eviction-requests/requester.ts';
import { goDurationMs } from '../../domain/go-duration.ts';
import { objectKey } from '../../domain/ids.ts';
import { textAt } from '../../domain/json.ts';
import { quoted } from '../../domain/text.ts';
import type { Time } from '../../domain/time.ts';
import {
  type RequesterOutcome,
  requestEviction,
  withdrawEviction,
} from '../../effects/eviction-requesters.ts';
import { chooseApi } from '../../effects/evictions-api.ts';
import type { KubeApi, KubeFault } from '../../effects/kube-api.ts';
import { readObject } from '../../effects/object-reads.ts';
import { evictionStatus } from '../../view/eviction-status.ts';
import {
  type Answer,
  answered,
  askCluster,
  commandTime,
  logUnreachable,
  silent,
} from '../cluster-question.ts';
import { type EvictPrinter, evictPrinter } from './evict-printer.ts';
import {
  EVICT_FORMATS,
  type EvictFormat,
  evictionsApiIn,
  type EvictRequest,
} from './evictions-request.ts';
import { type EvictionsWatch, startEvictionsWatch } from './evictions-watch.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { unknownWord } from '../failures.ts';
import { followRecords } from '../terminal/record-following.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** A valid request. */
interface Question {
  readonly namespace: string;
  readonly name: string;
  readonly requester: string;
  readonly format: EvictFormat;
  readonly api: EvictionsApiOption;
  /** Undefined: without end. */
  readonly timeoutMs: number | undefined;
}

const requesterProblem = (requester: string): string | undefined => {
  if (!isQualifiedName(requester)) {
    return `Cannot use --requester ${quoted(requester)}: it is not a domain name of three ` +
      'lower-case labels or more; write one such as upgrade.nodes.example.com';
  }
  return isReservedName(requester)
    ? `Cannot use --requester ${quoted(requester)}: its domain belongs to Kubernetes; write a ` +
      'name in a domain of yours'
    : undefined;
};

const subjectOf = ({ pod, namespace }: EvictRequest) => {
  const [first = '', second, ...more] = pod.split('/');
  const name = second ?? first;
  if (name === '' || first === '' || more.length > 0) return undefined;
  return { namespace: second === undefined ? namespace ?? 'default' : first, name };
};

/** The request, or one line about its problem. */
const questionOf = (request: EvictRequest): Question | string => {
  const { requester, wait, cancel, timeout, pod } = request;
  const format = EVICT_FORMATS.find((candidate) => candidate === request.format);
  if (format === undefined) return unknownWord('--output', request.format, EVICT_FORMATS);
  const api = evictionsApiIn(request);
  if (api === undefined) {
    return unknownWord('--eviction-request-api', request.api, EVICTIONS_APIS);
  }
  const subject = subjectOf(request);
  if (subject === undefined) {
    return `Cannot evict ${quoted(pod)}: it is not the name of a pod; write NAMESPACE/NAME`;
  }
  if (wait && cancel) return 'Cannot use --wait with --cancel: write one or the other';
  if (timeout !== undefined && !wait) return 'Cannot use --timeout without --wait: add --wait';
  const timeoutMs = timeout === undefined ? undefined : goDurationMs(timeout);
  if (timeout !== undefined && (timeoutMs === undefined || timeoutMs <= 0)) {
    return `Cannot use --timeout ${quoted(timeout)}: it is not a duration; write a number with ` +
      'its unit, such as 10m';
  }
  return requesterProblem(requester) ?? { ...subject, requester, format, api, timeoutMs };
};

type Asking = Effect.Effect<Answer<RequestedOutcome>, KubeFault, KubeApi>;

interface RequestedOutcome {
  readonly api: EvictionsApi;
  readonly pod: RequestedPod;
  readonly stored: Extract<RequesterOutcome, { readonly _tag: 'Stored' }>;
}

const asked = (
  { namespace, name, requester, api: option }: Question,
  isCanceled: boolean,
): Asking =>
  Effect.gen(function* () {
    const read = yield* readObject(
      `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`,
    );
    const key = quoted(`${namespace}/${name}`);
    if (read._tag === 'Absent') {
      return silent(EXIT.notMet, `Cannot find pod ${key}: it does not exist`);
    }
    if (read._tag === 'Refused') {
      return silent(EXIT.failure, `Cannot read pod ${key}: ${read.why}`);
    }
    const pod = { namespace, name, uid: textAt(read.object, 'metadata', 'uid') ?? '' };
    const { api } = yield* chooseApi(option);
    const change = isCanceled ? withdrawEviction : requestEviction;
    const outcome = yield* change({ api, pod, requester });
    switch (outcome._tag) {
      case 'Stored':
        return answered({ api, pod, stored: outcome });
      case 'NotRequested':
        return silent(
          EXIT.notMet,
          `Cannot withdraw the eviction of pod ${key}: ${quoted(requester)} does not request it`,
        );
      case 'Refused':
        return silent(
          EXIT.failure,
          `Cannot ${
            isCanceled ? 'withdraw' : 'request'
          } the eviction of pod ${key}: ${outcome.why}`,
        );
    }
  });

/** How the wait ended; undefined while the pod has not left. */
type Ending = 'Evicted' | 'Canceled' | 'Deleted' | undefined;

const endingOf = (request: ObservedRequest | undefined, nowMs: number): Ending => {
  if (request === undefined) return 'Deleted';
  const { phase } = evictionStatus(request, nowMs);
  return phase === 'Evicted' || phase === 'Canceled' ? phase : undefined;
};

/** Whether the pod of a deleted request has left. */
const hasLeft = async (request: EvictRequest, pod: RequestedPod): Promise<boolean> => {
  const answer = await askCluster(
    request,
    Effect.map(
      readObject(`/api/v1/namespaces/${pod.namespace}/pods/${encodeURIComponent(pod.name)}`),
      answered,
    ),
  );
  if (answer._tag === 'Silent') return false;
  const { value: read } = answer;
  if (read._tag === 'Refused') return false;
  return read._tag === 'Absent' || textAt(read.object, 'metadata', 'uid') !== pod.uid;
};

interface Waiting {
  readonly request: EvictRequest;
  readonly api: EvictionsApi;
  readonly pod: RequestedPod;
  readonly timeoutMs: number | undefined;
  readonly print: EvictPrinter;
}

interface CommandEnvironment {
  readonly terminal: Terminal;
  readonly time: Pick<Time, 'now' | 'schedule'>;
}

/**
 * Follows the request of a pod to its end, also when its output has no reader any more, because the
 * exit code counts.
 */
const waited = async (
  { request, api, pod, timeoutMs, print }: Waiting,
  { terminal, time }: CommandEnvironment,
): Promise<ExitCode> => {
  const { namespace, uid } = pod;
  const followed = { api, scope: { namespace, podUid: uid } };
  const end = Promise.withResolvers<void>();
  const cancelTimeout = timeoutMs === undefined ? () => {} : time.schedule(timeoutMs, end.resolve);
  let watch: EvictionsWatch | undefined;
  let ending: Ending;
  const how = await followRecords({
    cluster: request,
    report: terminal.report,
    start: (environment) => watch = startEvictionsWatch(environment, followed),
    show: (nowMs) => {
      const current = watch?.requests().find(({ name }) => name === uid);
      if (current !== undefined) print.progressed(evictionStatus(current, nowMs), nowMs);
      ending = endingOf(current, nowMs);
      if (ending !== undefined) end.resolve();
    },
    ended: end.promise,
  });
  cancelTimeout();
  const podKey = objectKey(pod.name, namespace);
  const key = quoted(podKey);
  if (ending === 'Evicted') return EXIT.ok;
  if (ending === 'Deleted' && await hasLeft(request, pod)) return EXIT.ok;
  if (ending !== undefined) {
    terminal.report(`Pod ${key} was not evicted: its request was ${ending.toLowerCase()}`);
    return EXIT.failure;
  }
  const again = `the request stays; "tidegate evict ${podKey} --requester=${request.requester} ` +
    '--cancel" withdraws it';
  terminal.report(
    how === 'signal' ? `Stopped waiting: ${again}` : `Pod ${key} has not left in time: ${again}`,
  );
  return how === 'signal' ? EXIT.failure : EXIT.notMet;
};

/** Requests that a pod leaves, or withdraws. */
export const runEvict = async (
  request: EvictRequest,
  { terminal, time }: CommandEnvironment,
): Promise<ExitCode> => {
  const question = questionOf(request);
  if (typeof question === 'string') {
    terminal.report(question);
    return EXIT.usage;
  }
  const clock = commandTime(time);
  const answer = await askCluster(request, asked(question, request.cancel), clock.observe);
  if (answer._tag === 'Silent') return logUnreachable(answer, terminal);
  const { api, pod, stored } = answer.value;
  const print = evictPrinter(terminal, question.format);
  print.changed(stored.change, evictionStatus(stored.request, clock.now()));
  return request.wait
    ? await waited({ request, api, pod, timeoutMs: question.timeoutMs, print }, { terminal, time })
    : EXIT.ok;
};
