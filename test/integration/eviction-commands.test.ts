/** `tidegate evict` and `tidegate evictions` on an embedded cluster and on a real API server. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCluster } from '@tidegate/embedded-kubernetes';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { definitions } from '../../src/api/definitions.ts';
import type { EvictRequest } from '../../src/cli/evictions/evictions-request.ts';
import { type JsonRecord, listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { nameOf, uidOf } from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { enforcePolicies } from '../support/eviction-requests/enforced-policies.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';
import { evictionCommands } from '../support/eviction-requests/eviction-commands.ts';
import {
  ACTOR_B,
  BALANCER,
  DRAIN,
  IMPERATIVE,
} from '../support/eviction-requests/request-fixture.ts';
import { requestersOf } from '../support/eviction-requests/request-reading.ts';
import {
  conditionsIn,
  createPod,
  REQUESTS,
  serveRequests,
  untilRequest,
  writers,
} from '../support/eviction-requests/served-requests.ts';

const PODS = '/api/v1/namespaces/default/pods';

describe('on an embedded cluster', () => {
  const site = async (withDefinitions = true) => {
    const { cluster, kubeconfig, stop } = await runCluster({
      time: realTime,
      listen: { host: '127.0.0.1', port: 0 },
      seed: 1,
      nodes: 0,
      rate: 1,
      definitions: withDefinitions ? definitions() : [],
    });
    onTestFinished(stop);
    const folder = await mkdtemp(join(tmpdir(), 'tidegate-evict-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'kubeconfig'), kubeconfig);
    const answered = (
      method: 'POST' | 'GET' | 'PATCH' | 'DELETE',
      path: string,
      body?: object,
    ): unknown => {
      const answer = cluster.answer({
        method,
        path,
        ...(body === undefined ? {} : { body }),
        ...(method === 'PATCH'
          ? { headers: { 'content-type': 'application/merge-patch+json' } }
          : {}),
      });
      if (answer._tag !== 'Answer' || answer.status >= 300) throw new Error(JSON.stringify(answer));
      return answer.body;
    };
    const makePod = (name: string): string => {
      const pod = answered('POST', PODS, {
        metadata: { name, labels: { app: name } },
        spec: { containers: [{ name: 'c', image: 'none' }] },
      });
      return textAt(pod, 'metadata', 'uid') ?? '';
    };
    return {
      ...evictionCommands(join(folder, 'kubeconfig')),
      makePod,
      read: (uid: string) => answered('GET', `${REQUESTS}/${uid}`),
      remove: (path: string) => answered('DELETE', path),
      setStatus: (uid: string, status: object) =>
        answered('PATCH', `${REQUESTS}/${uid}/status`, { status }),
    };
  };

  const condition = (type: string, reason: string) => ({
    type,
    status: 'True',
    reason,
    message: 'Because',
    lastTransitionTime: '2026-05-01T10:00:00Z',
  });

  test('a requester creates the request, another one joins, and each withdraws itself', async () => {
    const { evict, makePod, read } = await site();
    const uid = makePod('web');
    const first = await evict('default/web').run;
    expect(first).toEqual({
      code: 0,
      stdout: `evictionrequest/${uid} created: pod "default/web" is asked to leave by ${DRAIN}\n`,
      stderr: '',
    });
    expect((await evict('web').run).stdout).toContain(`evictionrequest/${uid} unchanged: `);
    const joined = await evict('web', { requester: BALANCER, namespace: 'default' }).run;
    expect(joined.stdout).toContain(`evictionrequest/${uid} joined: `);
    expect(requestersOf(read(uid))).toEqual([BALANCER, DRAIN]);
    const left = await evict('web', { cancel: true }).run;
    expect(left).toMatchObject({ code: 0, stderr: '' });
    expect(left.stdout).toContain(`evictionrequest/${uid} withdrawn: `);
    expect(requestersOf(read(uid))).toEqual([BALANCER]);
    const last = await evict('web', { cancel: true, requester: BALANCER }).run;
    expect(last.stdout).toContain('may stay, nobody asks any more');
    expect(requestersOf(read(uid))).toEqual([]);
  });

  test('a final request is replaced by a new one', async () => {
    const { evict, makePod, read, setStatus } = await site();
    const uid = makePod('web');
    await evict('web').run;
    const before = textAt(read(uid), 'metadata', 'uid');
    setStatus(uid, { observedGeneration: 1, conditions: [condition('Canceled', 'NoRequesters')] });
    const { code, stdout } = await evict('web', { format: 'json' }).run;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'Replaced', name: uid, phase: 'Unserved' });
    expect(textAt(read(uid), 'metadata', 'uid')).not.toBe(before);
    expect(conditionsIn(read(uid))).toEqual([]);
  });

  test('a wait ends with 0 when the pod was evicted, and prints each step once', async () => {
    const { evict, makePod, read, setStatus } = await site();
    const uid = makePod('web');
    const waiting = evict('web', { wait: true });
    await eventually(() => waiting.output.stdout.includes('Unserved'), { what: 'the first step' });
    const names = [{ name: ACTOR_B }, { name: IMPERATIVE }];
    setStatus(uid, {
      observedGeneration: 1,
      targetInterceptors: names,
      activeInterceptors: [ACTOR_B],
      interceptors: [
        { name: ACTOR_B, startTime: '2099-05-01T10:00:00Z', message: '' },
        { name: IMPERATIVE, message: '' },
      ],
    });
    await eventually(() => waiting.output.stdout.includes('Intercepting'), { what: 'the second' });
    setStatus(uid, { activeInterceptors: [], conditions: [condition('Evicted', 'PodDeleted')] });
    expect(await waiting.ended).toBe(0);
    const steps = waiting.output.stdout.trimEnd().split('\n').slice(1);
    expect(steps.map((line) => line.split('  ')[1])).toEqual([
      'Unserved',
      'Intercepting',
      'Evicted',
    ]);
    expect(steps[1]).toContain(
      `Interceptor "${ACTOR_B}" is asked since 2099-05-01T10:00:00Z. Waits for: Interceptor ` +
        `"${ACTOR_B}" to finish; without another report the imperative eviction by Tidegate takes`,
    );
    expect(requestersOf(read(uid))).toEqual([DRAIN]);
  });

  test('a wait ends with 1 when the request is canceled, and with 3 after its timeout', async () => {
    const { evict, makePod, setStatus } = await site();
    const uid = makePod('web');
    const waiting = evict('web', { wait: true });
    await eventually(() => waiting.output.stdout.includes('Unserved'), { what: 'the first step' });
    setStatus(uid, { conditions: [condition('Canceled', 'NoRequesters')] });
    expect(await waiting.run).toMatchObject({
      code: 1,
      stderr: 'Pod "default/web" was not evicted: its request was canceled\n',
    });
    makePod('db');
    const late = await evict('db', { wait: true, timeout: '100ms' }).run;
    expect(late.code).toBe(3);
    expect(late.stderr).toContain('has not left in time: the request stays; "tidegate evict');
  });

  test('a wait ends with 0 when the pod left and its request was deleted', async () => {
    const { evict, makePod, remove } = await site();
    const uid = makePod('web');
    const waiting = evict('web', { wait: true, format: 'name' });
    await eventually(() => waiting.output.stdout !== '', { what: 'the request' });
    remove(`${PODS}/web`);
    remove(`${REQUESTS}/${uid}`);
    expect(await waiting.run).toEqual({
      code: 0,
      stdout: `evictionrequest.lifecycle.tidegate.dev/${uid}\n`,
      stderr: '',
    });
  });

  test('what cannot be requested or withdrawn is one line and an exit code', async () => {
    const { evict, makePod } = await site();
    makePod('web');
    const problems: readonly (readonly [Partial<EvictRequest>, number, string])[] = [
      [{ pod: 'nobody' }, 3, 'Cannot find pod "default/nobody": it does not exist'],
      [{ cancel: true }, 3, `"${DRAIN}" does not request it`],
      [{ requester: 'me' }, 2, 'it is not a domain name of three lower-case labels or more'],
      [{ requester: 'a.b.k8s.io' }, 2, 'its domain belongs to Kubernetes'],
      [{ pod: 'a/b/c' }, 2, 'write NAMESPACE/NAME'],
      [{ wait: true, cancel: true }, 2, 'Cannot use --wait with --cancel'],
      [{ timeout: '1m' }, 2, 'Cannot use --timeout without --wait'],
      [{ wait: true, timeout: 'soon' }, 2, 'Cannot use --timeout "soon": it is not a duration'],
      [{ format: 'wide' }, 2, 'write one of text, name, json, yaml'],
    ];
    for (const [given, code, text] of problems) {
      const run = await evict('web', given).run;
      expect([run.code, run.stdout]).toEqual([code, '']);
      expect(run.stderr).toContain(text);
      expect(run.stderr.trimEnd().split('\n')).toHaveLength(1);
    }
  });

  test('without the CRD the message names it', async () => {
    const { evict, evictions, makePod } = await site(false);
    makePod('web');
    expect(await evict('web').run).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('its CRD is not installed'),
    });
    expect(await evictions()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the API server does not serve this resource'),
    });
  });

  test('evictions are listed by namespace and label, as a table, names or JSON', async () => {
    const { evict, evictions, makePod } = await site();
    expect(await evictions()).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No eviction is requested\n',
    });
    const [web] = [makePod('web'), makePod('db')];
    await evict('web').run;
    await evict('db').run;
    const table = (await evictions()).stdout.trimEnd().split('\n');
    expect(table.map((line) => line.split(/ {2,}/)[0])).toEqual(['POD', 'db', 'web']);
    const all = (await evictions({ allNamespaces: true })).stdout;
    expect(all.startsWith('NAMESPACE')).toBe(true);
    expect((await evictions({ namespace: 'other', format: 'name' })).stdout).toBe('');
    // Labels are copied by the operator, which does not run here.
    expect((await evictions({ selector: 'app=web', format: 'name' })).stdout).toBe('');
    const { items } = JSON.parse((await evictions({ format: 'json' })).stdout);
    expect(items).toMatchObject([{ pod: 'db' }, { pod: 'web', name: web, requesters: [DRAIN] }]);
    expect(await evictions({ selector: 'a b' })).toMatchObject({ code: 2 });
    expect(await evictions({ allNamespaces: true, namespace: 'a' })).toMatchObject({ code: 2 });
  });

  test('explain finds the request of a pod, and the request by its name', async () => {
    const { evict, explain, makePod } = await site();
    const uid = makePod('web');
    await evict('web').run;
    const pod = await explain('pod', 'default/web');
    expect(pod.stdout).toContain('Its eviction is requested: No controller has taken');
    expect(pod.stdout).toContain(`EvictionRequest  ${uid}, Unserved`);
    const request = await explain('evictionrequest', uid);
    expect(request.stdout).toContain(`EvictionRequest default/${uid}: Unserved`);
    expect(await explain('evreq', 'nobody')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('its name is the UID of its pod'),
    });
  });
});

describeWithTestbed('on a real API server', {}, (bed) => {
  beforeAll(async () => {
    await bed().installCrds();
    await enforcePolicies(bed());
  });

  test('a pod is asked, its interceptor answers, and the pod is evicted while evict waits', {
    timeout: 300_000,
  }, async () => {
    const cluster = await freshCluster(bed());
    await cluster.clear(REQUESTS);
    serveRequests(bed());
    const { report } = writers(bed());
    const pod: JsonRecord = await createPod(cluster, 'evict-waits', [ACTOR_B]);
    const { evict, evictions } = evictionCommands(bed().kubeconfig);
    const waiting = evict(nameOf(pod), { wait: true, timeout: '250s' });
    await eventually(() => waiting.output.stdout.includes(' Intercepting '), { what: 'the turn' });
    // The labels of the pod are copied to its request after the first status.
    await expect.poll(async () => (await evictions({ selector: 'app=evict-waits' })).stdout)
      .toContain(ACTOR_B);
    await evict(nameOf(pod), { requester: BALANCER }).run;
    await evict(nameOf(pod), { cancel: true, requester: BALANCER }).run;
    await report(pod, ACTOR_B, { completionTime: new Date().toISOString() });
    expect(await waiting.run).toMatchObject({ code: 0, stderr: '' });
    expect((await cluster.call('GET', `${PODS}/${nameOf(pod)}`)).status).toBe(404);
    expect(waiting.output.stdout).toContain(`evictionrequest/${uidOf(pod)} created`);
    const again = await evict(nameOf(pod)).run;
    expect(again).toMatchObject({ code: 3 });
  });

  test('ER-78: a request that has ended is replaced when its pod is to leave after all', {
    timeout: 300_000,
  }, async () => {
    const cluster = await freshCluster(bed());
    await cluster.clear(REQUESTS);
    serveRequests(bed());
    const pod = await createPod(cluster, 'evict-again', [ACTOR_B]);
    const { evict } = evictionCommands(bed().kubeconfig);
    await evict(nameOf(pod)).run;
    const asked = await untilRequest(
      { cluster, pod },
      'the turn',
      (request) => listOrEmptyAt(request, 'status', 'activeInterceptors').length > 0,
    );
    await evict(nameOf(pod), { cancel: true }).run;
    // The request gets no requester again: the next one waits until it is canceled.
    const again = await evict(nameOf(pod)).run;
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.stdout).toContain(`evictionrequest/${uidOf(pod)} replaced: `);
    const replaced = await untilRequest(
      { cluster, pod },
      'the turn of the new request',
      (request) => listOrEmptyAt(request, 'status', 'activeInterceptors').length > 0,
    );
    expect(uidOf(replaced)).not.toBe(uidOf(asked));
    expect(conditionsIn(replaced)).toEqual([]);
  });
});
