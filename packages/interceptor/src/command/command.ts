/**
 * An interceptor that runs a Job for each pod and follows it.
 *
 * Promises: a Job that succeeds completes the interception; one that fails gives up with its
 * reason, so that the next interceptor takes over; a Job that may not be read is waited for; a
 * canceled request deletes its Job; a stopped process leaves it running for the next one.
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
import { type JobOutcome, jobRun, type JobRunContext, type ReadOutcome } from './job-run.ts';

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

/** What runs the Job of an interception. */
interface Runner {
  readonly api: KubernetesApi;
  /** The interceptor. */
  readonly name: string;
  readonly template: JobTemplate;
}

const jobPath = (pod: TargetPod, interceptor: string): string =>
  `${jobsPath(pod)}/${jobName(pod.uid, interceptor)}`;

/** The answer to a read, and whether another attempt may have another. */
interface Reading {
  readonly outcome: ReadOutcome;
  readonly isTransient: boolean;
}

const read = async ({ api, name }: Runner, pod: TargetPod): Promise<Reading> => {
  try {
    const job = jobFacts(await api.get(jobPath(pod, name)));
    return { outcome: { _tag: 'Found', job }, isTransient: false };
  } catch (cause) {
    const { _tag, message: problem, retryAfterMs } = kubernetesError(cause);
    return _tag === 'NotFound'
      ? { outcome: { _tag: 'Absent' }, isTransient: false }
      : { outcome: { _tag: 'Failed', problem, retryAfterMs }, isTransient: _tag !== 'Forbidden' };
  }
};

/** What the Job of another request or interceptor is to this one, which waits until it is gone. */
const OTHERS: ReadOutcome = {
  _tag: 'Failed',
  problem: 'waits until that of an earlier request, or of another interceptor, is gone',
  retryAfterMs: 0,
};

/** The Job that an earlier process created for this request; any other goes first. */
const readOwn = async (runner: Runner, { pod, uid }: Interception): Promise<Reading> => {
  const reading = await read(runner, pod);
  const { outcome } = reading;
  if (outcome._tag === 'Failed') return reading;
  const isOwn = outcome._tag === 'Found' && outcome.job.request === uid &&
    outcome.job.interceptor === runner.name;
  return isOwn ? reading : { outcome: OTHERS, isTransient: false };
};

const failedCreation = (cause: unknown): JobOutcome => {
  const { _tag, message: problem, retryAfterMs } = kubernetesError(cause);
  switch (_tag) {
    case 'NotFound':
      return { _tag: 'Absent' };
    case 'Invalid':
      return { _tag: 'Refused', problem };
    case 'Forbidden':
      return { _tag: 'Denied', problem, retryAfterMs };
    default:
      return { _tag: 'Failed', problem, retryAfterMs };
  }
};

/**
 * A Job that an earlier process created is followed, whatever refuses another one: a quota that it
 * fills, or a template that has changed since, is refused before its name is compared.
 */
const afterFailure = async (
  runner: Runner,
  interception: Interception,
  cause: unknown,
): Promise<JobOutcome> => {
  const failure = failedCreation(cause);
  const isConflict = kubernetesError(cause)._tag === 'Conflict';
  if (failure._tag === 'Failed' && !isConflict) return failure;
  const { outcome, isTransient } = await readOwn(runner, interception);
  return outcome._tag === 'Found' || isConflict || isTransient ? outcome : failure;
};

const create = async (runner: Runner, interception: Interception): Promise<JobOutcome> => {
  const { api, name, template } = runner;
  try {
    const job = jobFor(template, interception, name);
    return { _tag: 'Found', job: jobFacts(await api.create(jobsPath(interception.pod), job)) };
  } catch (cause) {
    return await afterFailure(runner, interception, cause);
  }
};

/** The UID of the Job that runs for this request, if there is one. */
const ownUid = async (runner: Runner, interception: Interception): Promise<string | undefined> => {
  const { outcome } = await readOwn(runner, interception);
  return outcome._tag === 'Found' ? outcome.job.uid : undefined;
};

/** What a run knows of its Job. */
interface KnownJob {
  readonly uid: string | undefined;
  /** The last one, maybe in flight; it never rejects. */
  readonly creation: Promise<unknown>;
}

/** The Job of a request that is not wanted any more goes; that of a stopped process stays. */
const discard = async (
  runner: Runner,
  interception: Interception,
  { uid: knownUid, creation }: KnownJob,
): Promise<void> => {
  const { pod, signal } = interception;
  if (abortReasonIn(signal) === 'Stopped') return;
  // A creation in flight makes a Job all the same, and so may one whose answer was lost.
  await creation;
  const uid = knownUid ?? await ownUid(runner, interception);
  if (uid === undefined) return;
  try {
    await runner.api.remove(jobPath(pod, runner.name), uid);
  } catch {
    // It goes with the request, which owns it.
  }
};

const messageOf = ({ job, problem }: JobRunContext, name: string): string =>
  `Job "${name}": ${problem ?? job?.message ?? 'is created'}`;

/** Makes the interceptor. */
export const command = (options: CommandOptions): InterceptorDefinition => {
  const { name, template, client, time, pollMs = POLL_MS } = options;
  const runner: Runner = { api: kubernetesApi(client), name, template };
  const messages = new Map<string, string>();
  let seed: Seed = options.seed;
  const run = (interception: Interception): Promise<string> => {
    const { pod, signal } = interception;
    seed = nextSeed(seed);
    let creation: Promise<unknown> = Promise.resolve();
    const createJob = (): Promise<JobOutcome> => {
      const outcome = create(runner, interception);
      creation = outcome;
      return outcome;
    };
    const logic = jobRun.provide({
      actors: {
        createJob: fromPromise(createJob),
        readJob: fromPromise(async () => (await read(runner, pod)).outcome),
      },
    });
    const actor = createActor(logic, { input: { pollMs, seed }, clock: statechartClock(time) });
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        const { job } = actor.getSnapshot().context;
        actor.stop();
        discard(runner, interception, { uid: job?.uid, creation });
        reject(signal.reason);
      };
      actor.subscribe(({ value, context }) => {
        const message = messageOf(context, jobName(pod.uid, name));
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
