/**
 * An interceptor that runs a Job for each pod and follows it.
 *
 * Promises: a Job that succeeds completes the interception; one that fails gives up with its
 * reason, so that the next interceptor takes over; a canceled request deletes its Job; a stopped
 * process leaves it running for the next one.
 */
import { createActor, fromPromise } from 'xstate';
import { nextSeed, type Seed } from '../backoff.ts';
import {
  abortReasonIn,
  defineInterceptor,
  type Interception,
  type InterceptorDefinition,
} from '../interceptor-definition.ts';
import { type KubernetesApi, kubernetesApi } from '../kubernetes-api.ts';
import { type KubernetesClient, kubernetesError } from '../kubernetes-client.ts';
import type { TargetPod } from '../observed-request.ts';
import { statechartClock, type Time } from '../time.ts';
import { jobFacts, jobFor, jobName, type JobTemplate } from './job.ts';
import { type JobOutcome, jobRun, type JobRunContext } from './job-run.ts';

/** What a command runs with. */
export interface CommandOptions {
  /** A domain name with three labels or more. */
  readonly name: string;
  readonly template: JobTemplate;
  readonly client: KubernetesClient;
  readonly time: Time;
  /** Determines the jitter of waits. */
  readonly seed: number;
  /** How often a Job is read; default: every 5 seconds. */
  readonly pollMs?: number;
}

const POLL_MS = 5000;

const jobsPath = ({ namespace }: TargetPod): string =>
  `/apis/batch/v1/namespaces/${namespace}/jobs`;
const jobPath = (pod: TargetPod): string => `${jobsPath(pod)}/${jobName(pod.uid)}`;

const failureOf = (cause: unknown): JobOutcome => {
  const { _tag, message: problem, retryAfterMs } = kubernetesError(cause);
  switch (_tag) {
    case 'NotFound':
      return { _tag: 'Absent' };
    case 'Forbidden':
    case 'Invalid':
      return { _tag: 'Refused', problem };
    default:
      return { _tag: 'Failed', problem, retryAfterMs };
  }
};

const read = async (api: KubernetesApi, pod: TargetPod): Promise<JobOutcome> => {
  try {
    return { _tag: 'Found', job: jobFacts(await api.get(jobPath(pod))) };
  } catch (cause) {
    return failureOf(cause);
  }
};

/** The Job that an earlier process created for this request; that of another request goes first. */
const readOwn = async (
  api: KubernetesApi,
  { pod, uid }: Interception,
): Promise<JobOutcome> => {
  const outcome = await read(api, pod);
  const isOthers = outcome._tag === 'Found' && outcome.job.request !== uid;
  return isOthers || outcome._tag === 'Absent'
    ? { _tag: 'Failed', problem: 'waits until that of an earlier request is gone', retryAfterMs: 0 }
    : outcome;
};

const create = async (
  api: KubernetesApi,
  template: JobTemplate,
  interception: Interception,
): Promise<JobOutcome> => {
  try {
    const job = await api.create(jobsPath(interception.pod), jobFor(template, interception));
    return { _tag: 'Found', job: jobFacts(job) };
  } catch (cause) {
    return kubernetesError(cause)._tag === 'Conflict'
      ? await readOwn(api, interception)
      : failureOf(cause);
  }
};

const messageOf = ({ job, problem }: JobRunContext, pod: TargetPod): string =>
  `Job "${jobName(pod.uid)}": ${problem ?? job?.message ?? 'is created'}`;

/** The Job of a request that is not wanted any more goes; that of a stopped process stays. */
const discard = async (
  api: KubernetesApi,
  { pod, signal }: Interception,
  uid: string | undefined,
): Promise<void> => {
  if (uid === undefined || abortReasonIn(signal) === 'Stopped') return;
  try {
    await api.remove(jobPath(pod), uid);
  } catch {
    // It goes with the request, which owns it.
  }
};

/** Makes the interceptor. */
export const command = (options: CommandOptions): InterceptorDefinition => {
  const { name, template, client, time, pollMs = POLL_MS } = options;
  const api = kubernetesApi(client);
  const messages = new Map<string, string>();
  let seed: Seed = options.seed;
  const run = (interception: Interception): Promise<string> => {
    const { pod, signal } = interception;
    seed = nextSeed(seed);
    const logic = jobRun.provide({
      actors: {
        createJob: fromPromise(() => create(api, template, interception)),
        readJob: fromPromise(() => read(api, pod)),
      },
    });
    const actor = createActor(logic, { input: { pollMs, seed }, clock: statechartClock(time) });
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        const { job } = actor.getSnapshot().context;
        actor.stop();
        discard(api, interception, job?.uid);
        reject(signal.reason);
      };
      actor.subscribe(({ value, context }) => {
        const message = messageOf(context, pod);
        messages.set(pod.uid, message);
        if (value === 'succeeded') resolve(message);
        if (value === 'failed') reject(new Error(message));
      });
      signal.addEventListener('abort', onAbort, { once: true });
      actor.start();
    });
  };
  return defineInterceptor({
    name,
    progress: ({ uid }) => {
      const message = messages.get(uid);
      return message === undefined ? {} : { message };
    },
    intercept: async (interception) => {
      try {
        return await run(interception);
      } finally {
        messages.delete(interception.pod.uid);
      }
    },
  });
};
