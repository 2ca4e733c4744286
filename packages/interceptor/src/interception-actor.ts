/**
 * The `interception` statechart with its requests to the API server and the interceptor's code.
 *
 * Promises: nothing of this throws into the statechart; a signal is aborted with the reason; an
 * interceptor that throws gives up, so that the next one takes over.
 */
import { createHash } from 'node:crypto';
import { fromPromise } from 'xstate';
import type {
  InterceptInput,
  InterceptOutcome,
  PodOutcome,
  ProgressOutcome,
  ReportInput,
  ReportOutcome,
  RequestProblem,
} from './interception-context.ts';
import { interception } from './interception.ts';
import type {
  Interception,
  InterceptionAborted,
  InterceptorDefinition,
} from './interceptor-definition.ts';
import { type JsonRecord, recordAt, textAt } from './json.ts';
import type { KubernetesApi } from './kubernetes-api.ts';
import { kubernetesError } from './kubernetes-client.ts';
import { GROUP_VERSION, type ObservedRequest, podPath, requestPath } from './observed-request.ts';
import { nextReport, reportEntry } from './report.ts';
import type { Time } from './time.ts';

/** The dependencies of interceptions. */
export interface InterceptionEnvironment {
  readonly api: KubernetesApi;
  readonly time: Time;
  /** Why a running interception is aborted. */
  readonly abortReason: (request: ObservedRequest) => InterceptionAborted;
  readonly log: (message: string, fields: JsonRecord) => void;
}

const problemOf = (cause: unknown): RequestProblem => {
  const { _tag: tag, message, retryAfterMs } = kubernetesError(cause);
  return { tag, message, retryAfterMs };
};

const failed = (cause: unknown) => ({ _tag: 'Failed' as const, problem: problemOf(cause) });

const readPod = async (
  { api }: InterceptionEnvironment,
  { pod }: ObservedRequest,
): Promise<PodOutcome> => {
  try {
    const found = await api.get(podPath(pod));
    return { _tag: textAt(found, 'metadata', 'uid') === pod.uid ? 'Found' : 'Absent' };
  } catch (cause) {
    const outcome = failed(cause);
    return outcome.problem.tag === 'NotFound' ? { _tag: 'Absent' } : outcome;
  }
};

/** The limit of the API server; the name of an interceptor may be twice as long. */
const MANAGER_MAX = 128;
const HASH_DIGITS = 16;

/** The field manager of an interceptor: its name; the end of a longer one is a hash. */
const fieldManagerOf = (name: string): string =>
  name.length <= MANAGER_MAX
    ? name
    : `${name.slice(0, MANAGER_MAX - HASH_DIGITS - 1)}-${
      createHash('sha256').update(name).digest('hex').slice(0, HASH_DIGITS)
    }`;

/** The interceptor's own entry; the UID keeps it from a successor of the request. */
const reportBody = (name: string, request: ObservedRequest, entry: JsonRecord) => ({
  apiVersion: GROUP_VERSION,
  kind: 'EvictionRequest',
  metadata: { name: request.name, namespace: request.pod.namespace, uid: request.uid },
  status: { interceptors: [{ ...entry, name }] },
});

const applyReport = async (
  { api, time }: InterceptionEnvironment,
  name: string,
  { request, last, change }: ReportInput,
): Promise<ReportOutcome> => {
  const report = nextReport(last, change, time.now());
  try {
    const body = reportBody(name, request, reportEntry(name, report));
    await api.apply(`${requestPath(request)}/status`, body, fieldManagerOf(name));
    return { _tag: 'Written', report };
  } catch (cause) {
    const outcome = failed(cause);
    return outcome.problem.tag === 'NotFound' ? { _tag: 'Absent', report } : { ...outcome, report };
  }
};

const messageOf = (cause: unknown): string => cause instanceof Error ? cause.message : `${cause}`;

const intercept = async (
  definition: InterceptorDefinition,
  call: Interception,
): Promise<InterceptOutcome> => {
  try {
    const message = await definition.intercept(call);
    return { message: typeof message === 'string' ? message : null };
  } catch (cause) {
    return { message: `Gave up: ${messageOf(cause)}` };
  }
};

/** The call of the interceptor; its signal has the reason why it is aborted. */
const callOf = (
  { abortReason }: InterceptionEnvironment,
  { request, resumed }: InterceptInput,
  signal: AbortSignal,
): Interception => {
  const controller = new AbortController();
  signal.addEventListener('abort', () => controller.abort(abortReason(request)), { once: true });
  return {
    request: request.name,
    uid: request.uid,
    pod: request.pod,
    requesters: request.requesters,
    resumed,
    signal: controller.signal,
  };
};

/** The statechart of the interceptions of one interceptor. */
export const provideInterception = (
  definition: InterceptorDefinition,
  environment: InterceptionEnvironment,
): typeof interception => {
  const { name } = definition;
  return interception.provide({
    actors: {
      readPod: fromPromise(({ input }) => readPod(environment, input.request)),
      applyReport: fromPromise(({ input }: { readonly input: ReportInput }) =>
        applyReport(environment, name, input)
      ),
      readProgress: fromPromise(
        async ({ input: { request } }): Promise<ProgressOutcome> => {
          try {
            const progress = await definition.progress?.(request.pod) ?? {};
            return { progress, nowMs: environment.time.now() };
          } catch (cause) {
            environment.log('Cannot read the progress: no heartbeat', {
              pod: request.pod.name,
              problem: messageOf(cause),
            });
            return { progress: null, nowMs: environment.time.now() };
          }
        },
      ),
      intercept: fromPromise(({ input, signal }: {
        readonly input: InterceptInput;
        readonly signal: AbortSignal;
      }) => intercept(definition, callOf(environment, input, signal))),
    },
    actions: {
      logProblem: ({ context: { request, problem, attempts } }) =>
        environment.log('Cannot reach the EvictionRequest', {
          ...recordAt({ problem }, 'problem'),
          request: `${request.pod.namespace}/${request.name}`,
          failures: attempts.failures,
        }),
    },
  });
};
