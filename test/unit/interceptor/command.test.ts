/** Commands on an embedded cluster, on simulated time; the test plays the Job controller. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { command, startInterceptor } from '../../../packages/interceptor/mod.ts';
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import {
  type EmbeddedCluster,
  embeddedCluster,
  PODS,
  reportOf,
} from '../../support/interceptors/embedded-cluster.ts';
import type { Fault } from '../../support/interceptors/connections.ts';

const NAME = 'flush.example.com';
const OTHER = 'other.example.com';
const JOBS = '/apis/batch/v1/namespaces/default/jobs';

const startCommand = (cluster: EmbeddedCluster, fault?: Fault) => {
  const { client, sent } = cluster.client(fault);
  const options = { client, time: cluster.time, seed: 1 };
  const running = startInterceptor(
    command({
      ...options,
      name: NAME,
      template: {
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
  return { ...running, sent };
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
  const job = `${JOBS}/intercept-${textAt(pod, 'metadata', 'uid')}`;
  return {
    cluster,
    pod,
    path,
    job,
    jobRuns: () => cluster.ask('GET', job).status === 200,
    message: () => textAt(reportOf(cluster.get(path), NAME), 'message'),
    /** The Job ends. */
    end: (type: 'Complete' | 'Failed', message: string) =>
      cluster.ask('PATCH', `${job}/status`, {
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
    await cluster.time.advance(20_000);
    expect(message()).toContain('its pod starts');
    end('Complete', 'flushed');
    await cluster.time.advance(10_000);
    expect(message()).toContain('flushed');
    expect(cluster.get(path)).toHaveProperty('status.activeInterceptors', [OTHER]);
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
    await refused.cluster.time.advance(5000);
    expect(refused.message()).toContain('planted');
    const deleted = await requested();
    startCommand(deleted.cluster);
    await deleted.cluster.until(deleted.jobRuns, 'the Job runs');
    deleted.cluster.ask('DELETE', deleted.job);
    await deleted.cluster.time.advance(10_000);
    expect(deleted.message()).toContain('it was deleted');
  });

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
    const { cluster, path, job, message, end } = await requested();
    const uid = textAt(cluster.get(path), 'metadata', 'uid');
    const owner = { apiVersion: 'lifecycle.tidegate.dev/v1alpha1', kind: 'EvictionRequest' };
    cluster.create(JOBS, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: job.slice(JOBS.length + 1),
        ownerReferences: [{ ...owner, name: 'before', uid: 'before' }],
        // It is not collected before its pods are.
        finalizers: ['example.com/pods'],
      },
    });
    end('Complete', 'flushed');
    startCommand(cluster);
    await cluster.time.advance(20_000);
    expect(message()).toContain('waits until that of an earlier request is gone');
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
});
