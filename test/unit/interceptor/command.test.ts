/** Commands on an embedded cluster, on simulated time; the test plays the Job controller. */
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  command,
  type KubernetesClient,
  startInterceptor,
} from '../../../packages/interceptor/mod.ts';
import { jobName } from '../../../packages/interceptor/src/command/job.ts';
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import {
  conditionsOf,
  type EmbeddedCluster,
  embeddedCluster,
  PODS,
  reportOf,
} from '../../support/interceptors/embedded-cluster.ts';
import type { Fault } from '../../support/interceptors/connections.ts';

const NAME = 'flush.example.com';
const OTHER = 'other.example.com';
const JOBS = '/apis/batch/v1/namespaces/default/jobs';

const startOn = (cluster: EmbeddedCluster, client: KubernetesClient, name = NAME) => {
  const options = { client, time: cluster.time, seed: 1 };
  const running = startInterceptor(
    command({
      ...options,
      name,
      template: {
        metadata: { labels: { team: 'storage' }, annotations: { note: 'kept' } },
        spec: {
          template: {
            spec: {
              containers: [{
                name: 'flush',
                image: 'flush',
                env: [{ name: 'MODE', value: 'all' }],
              }],
            },
          },
        },
      },
    }),
    options,
  );
  onTestFinished(running.stop);
  return running;
};

const startCommand = (cluster: EmbeddedCluster, fault?: Fault, name = NAME) =>
  startOn(cluster, cluster.client(fault).client, name);

/** What becomes of the creation of a Job, until the test releases it. */
const CREATIONS = ['held', 'made, its answer held', 'made, its answers lost'] as const;
type Creation = (typeof CREATIONS)[number];

/** A client whose creations of Jobs go like this. */
const slowClient = (cluster: EmbeddedCluster, creation: Creation) => {
  const { client } = cluster.client();
  const released = Promise.withResolvers<void>();
  let isAsked = false;
  const request: KubernetesClient['request'] = async (asked) => {
    if (asked.method !== 'POST' || asked.path !== JOBS) return await client.request(asked);
    isAsked = true;
    if (creation === 'held') await released.promise;
    const answer = await client.request(asked);
    if (creation === 'made, its answers lost') throw new Error('the connection was cut');
    await released.promise;
    return answer;
  };
  return { client: { ...client, request }, isAsked: () => isAsked, release: released.resolve };
};

const requested = async () => {
  const cluster = await embeddedCluster();
  cluster.create(PODS, {
    metadata: {
      name: 'db',
      annotations: { 'lifecycle.tidegate.dev/eviction-interceptors': `${NAME},${OTHER}` },
    },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
  });
  const pod = cluster.get(`${PODS}/db`);
  const path = cluster.request(pod);
  const jobOf = (name: string): string =>
    `${JOBS}/${jobName(textAt(pod, 'metadata', 'uid') ?? '', name)}`;
  const job = jobOf(NAME);
  return {
    cluster,
    pod,
    path,
    job,
    jobRuns: (name = NAME) => cluster.ask('GET', jobOf(name)).status === 200,
    message: (name = NAME) => textAt(reportOf(cluster.get(path), name), 'message'),
    /** Creates the Job as a process before, for another request or interceptor. */
    createJob: (
      request: { readonly name: string; readonly uid: string | undefined },
      metadata: object,
    ) =>
      cluster.create(JOBS, {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: {
          name: job.slice(JOBS.length + 1),
          ownerReferences: [{
            apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
            kind: 'EvictionRequest',
            ...request,
          }],
          ...metadata,
        },
      }),
    /** The Job ends. */
    end: (type: 'Complete' | 'Failed', message: string, name = NAME) =>
      cluster.ask('PATCH', `${jobOf(name)}/status`, {
        status: { conditions: [{ type, status: 'True', message }] },
      }),
  };
};

describe('a command', () => {
  test('runs one Job for the pod, and completes when it succeeds', async () => {
    const { cluster, path, job, jobRuns, message, end } = await requested();
    startCommand(cluster);
    await cluster.until(jobRuns, 'the Job runs');
    const [container] = listOrEmptyAt(cluster.get(job), 'spec', 'template', 'spec', 'containers');
    expect(listOrEmptyAt(container, 'env').map((one) => textAt(one, 'name'))).toEqual([
      'TIDEGATE_POD_NAME',
      'TIDEGATE_POD_NAMESPACE',
      'TIDEGATE_POD_UID',
      'MODE',
    ]);
    expect(cluster.get(job)).toHaveProperty('metadata.labels.team', 'storage');
    expect(cluster.get(job)).toHaveProperty('metadata.annotations', {
      note: 'kept',
      'lifecycle.tidegate.dev/interceptor': NAME,
    });
    await cluster.time.advance(20_000);
    expect(message()).toContain('its pod starts');
    end('Complete', 'flushed');
    await cluster.time.advance(10_000);
    expect(message()).toContain('flushed');
    expect(cluster.get(path)).toHaveProperty('status.activeInterceptors', [OTHER]);
  });

  // Its name was that of the pod: the second command of a pod followed the complete Job of the
  // first one, and completed without running.
  test('runs a Job of its own beside that of another command of the pod', async () => {
    const { cluster, path, jobRuns, message, end } = await requested();
    startCommand(cluster);
    startCommand(cluster, undefined, OTHER);
    await cluster.until(jobRuns, 'the first Job runs');
    end('Complete', 'flushed');
    await cluster.until(() => jobRuns(OTHER), 'the second Job runs');
    await cluster.time.advance(20_000);
    expect(cluster.get(path)).toHaveProperty('status.activeInterceptors', [OTHER]);
    expect(message(OTHER)).toContain('its pod starts');
    end('Complete', 'backed up', OTHER);
    await cluster.time.advance(10_000);
    expect(message(OTHER)).toContain('backed up');
    expect(cluster.list(JOBS)).toHaveLength(2);
  });

  test('never follows a Job with its name that another interceptor runs', async () => {
    const { cluster, path, createJob, message, end } = await requested();
    const uid = textAt(cluster.get(path), 'metadata', 'uid');
    createJob({ name: 'same', uid }, {
      annotations: { 'lifecycle.tidegate.dev/interceptor': OTHER },
    });
    end('Complete', 'backed up');
    startCommand(cluster);
    await cluster.time.advance(20_000);
    expect(message()).toContain('waits until that of an earlier request');
    expect(cluster.get(path)).toHaveProperty('status.activeInterceptors', [NAME]);
  });

  test('gives up with the message of a Job that fails', async () => {
    const { cluster, path, jobRuns, message, end } = await requested();
    startCommand(cluster);
    await cluster.until(jobRuns, 'the Job runs');
    end('Failed', 'the disk is full');
    await cluster.time.advance(10_000);
    expect(message()).toMatch(/^Gave up: Job ".+": the disk is full$/);
    expect(cluster.get(path)).toHaveProperty('status.activeInterceptors', [OTHER]);
  });

  test('gives up when the Job is refused, and when somebody deletes it', async () => {
    const refused = await requested();
    startCommand(
      refused.cluster,
      ({ method, path }) => method === 'POST' && path === JOBS ? { status: 403 } : undefined,
    );
    await refused.cluster.time.advance(20_000);
    expect(refused.message()).toMatch(/^Gave up: .*planted/);
    const deleted = await requested();
    startCommand(deleted.cluster);
    await deleted.cluster.until(deleted.jobRuns, 'the Job runs');
    deleted.cluster.ask('DELETE', deleted.job);
    await deleted.cluster.time.advance(10_000);
    expect(deleted.message()).toContain('it was deleted');
  });

  // A run ended at the first 401 or 403, and the pod was evicted while its Job ran.
  test.each([401, 403])('follows its Job while the API server answers %i', async (status) => {
    const { cluster, path, jobRuns, message, end } = await requested();
    let refuses = false;
    startCommand(
      cluster,
      (request) => refuses && request.path.startsWith(JOBS) ? { status } : undefined,
    );
    await cluster.until(jobRuns, 'the Job runs');
    refuses = true;
    await cluster.time.advance(300_000);
    expect(message()).toMatch(/^Job .*planted/);
    expect(cluster.get(path)).toHaveProperty('status.activeInterceptors', [NAME]);
    refuses = false;
    end('Complete', 'flushed');
    await cluster.time.advance(90_000);
    expect(message()).toContain('flushed');
  });

  test('creates its Job after an API server that denied it for a moment', async () => {
    const { cluster, jobRuns, message, end } = await requested();
    let answers = 0;
    startCommand(cluster, ({ method, path }) => {
      if (method !== 'POST' || path !== JOBS) return undefined;
      answers += 1;
      // An outage before it does not count: its failures are many, the denials are not.
      return answers <= 5 ? 'cut' : answers <= 8 ? { status: 403 } : undefined;
    });
    await cluster.until(jobRuns, 'the Job runs');
    expect(answers).toBe(9);
    end('Complete', 'flushed');
    await cluster.time.advance(10_000);
    expect(message()).toContain('flushed');
  });

  // A quota that the Job fills refuses a second one before its name is compared.
  test.each([403, 422])(
    'follows the Job of the process before when creation gets %i',
    async (status) => {
      const { cluster, jobRuns, message, end } = await requested();
      const first = startCommand(cluster);
      await cluster.until(jobRuns, 'the Job runs');
      first.stop();
      startCommand(
        cluster,
        ({ method, path }) => method === 'POST' && path === JOBS ? { status } : undefined,
      );
      await cluster.time.advance(30_000);
      expect(message()).toContain('its pod starts');
      end('Complete', 'flushed');
      await cluster.time.advance(10_000);
      expect(message()).toContain('flushed');
    },
  );

  test('follows the Job of the process before', async () => {
    const { cluster, jobRuns, message, end } = await requested();
    const first = startCommand(cluster);
    await cluster.until(jobRuns, 'the Job runs');
    first.stop();
    await cluster.time.advance(5000);
    expect(jobRuns()).toBe(true);
    startCommand(cluster);
    await cluster.time.advance(5000);
    end('Complete', 'flushed');
    await cluster.time.advance(10_000);
    expect(cluster.list(JOBS)).toHaveLength(1);
    expect(message()).toContain('flushed');
  });

  test('ER-62: never follows the Job of an earlier request of its pod', async () => {
    // Its name is that of the pod: a complete one ended a request for which nothing had run.
    const { cluster, path, job, createJob, message, end } = await requested();
    const uid = textAt(cluster.get(path), 'metadata', 'uid');
    // It is not collected before its pods are.
    createJob({ name: 'before', uid: 'before' }, { finalizers: ['example.com/pods'] });
    end('Complete', 'flushed');
    startCommand(cluster);
    await cluster.time.advance(20_000);
    expect(message()).toContain('waits until that of an earlier request');
    cluster.ask('PATCH', job, { metadata: { finalizers: null } });
    cluster.ask('DELETE', job);
    const ownerUid = () =>
      textAt(listOrEmptyAt(cluster.get(job), 'metadata', 'ownerReferences')[0], 'uid');
    await cluster.until(() => ownerUid() === uid, 'its own Job runs');
    end('Complete', 'flushed');
    await cluster.time.advance(10_000);
    expect(message()).toContain('flushed');
  });

  test('deletes the Job of a canceled request', async () => {
    const { cluster, pod, jobRuns } = await requested();
    startCommand(cluster);
    await cluster.until(jobRuns, 'the Job runs');
    cluster.request(pod, false);
    await cluster.time.advance(5000);
    expect(jobRuns()).toBe(false);
  });

  // It ran on: its UID was not known yet.
  test.each(CREATIONS)(
    'ER-80: leaves no Job when its request is canceled while the creation is %s',
    async (creation) => {
      const { cluster, pod, path } = await requested();
      const { client, isAsked, release } = slowClient(cluster, creation);
      const { interceptions } = startOn(cluster, client);
      await cluster.until(isAsked, 'the Job is created');
      cluster.request(pod, false);
      await cluster.until(() => conditionsOf(cluster.get(path)).length > 0, 'it is canceled');
      await cluster.until(() => interceptions().length === 0, 'it is aborted');
      release();
      await cluster.time.advance(5000);
      expect(cluster.list(JOBS)).toEqual([]);
    },
  );

  test('ER-62: leaves the Job of another request when its own is canceled', async () => {
    const { cluster, pod, createJob, message } = await requested();
    createJob({ name: 'before', uid: 'before' }, { finalizers: ['example.com/pods'] });
    const { client, sent } = cluster.client();
    startOn(cluster, client);
    await cluster.time.advance(20_000);
    expect(message()).toContain('waits until that of an earlier request');
    cluster.request(pod, false);
    await cluster.time.advance(5000);
    expect(sent.filter(({ method }) => method === 'DELETE')).toEqual([]);
  });

  test('ER-85: leaves the Job of a stopped process whose creation was in flight', async () => {
    const { cluster } = await requested();
    const { client, isAsked, release } = slowClient(cluster, 'made, its answer held');
    const { stop } = startOn(cluster, client);
    await cluster.until(isAsked, 'the Job is created');
    stop();
    release();
    await cluster.time.advance(5000);
    expect(cluster.list(JOBS)).toHaveLength(1);
  });

  test('retries while the API server does not answer', async () => {
    const { cluster, jobRuns } = await requested();
    let failures = 0;
    startCommand(
      cluster,
      ({ path }) => path.startsWith(JOBS) && failures++ < 4 ? 'cut' : undefined,
    );
    await cluster.until(jobRuns, 'the Job runs');
    expect(failures).toBeGreaterThan(4);
  });

  test('names its Job with 55 characters, whatever the name of the interceptor', () => {
    const uid = '123e4567-e89b-12d3-a456-426614174000';
    const names = [NAME, OTHER, `a.b.${'c'.repeat(63)}`].map((name) => jobName(uid, name));
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^intercept-[0-9a-f-]{36}-[0-9a-f]{8}$/);
  });
});
