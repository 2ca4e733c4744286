/**
 * The three worked examples of KEP-4563 on an embedded cluster on simulated time: the controller,
 * interceptors of the SDK and requesters, each with its own writes.
 *
 * `UPDATE_GOLDEN=1` records the transcripts anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  defineInterceptor,
  type InterceptorDefinition,
  type KubernetesClient,
  startInterceptor,
  surge,
} from '../../../packages/interceptor/mod.ts';
import {
  requesterManager,
  wantedBody,
  withdrawnBody,
} from '../../../src/domain/eviction-requests/requester.ts';
import { type JsonRecord, numberAt, textAt } from '../../../src/domain/json.ts';
import { nameOf, uidOf } from '../../support/api/cluster-client.ts';
import { activeIn } from '../../support/eviction-requests/request-reading.ts';
import {
  conditionsOf,
  DEPLOYMENTS,
  type EmbeddedCluster,
  embeddedCluster,
  PODS,
} from '../../support/interceptors/embedded-cluster.ts';
import { transcriptOf } from '../../support/interceptors/transcript.ts';

const DRAIN = 'nodemaintenance.example.com';
const DESCHEDULER = 'descheduling.avalanche.example.com';
const ACTOR_A = 'actor-a.fruit.example.com';
const ACTOR_B = 'actor-b.fruit.example.com';
const SURGE = 'surge.tidegate.dev';
const ANNOTATION = 'lifecycle.tidegate.dev/eviction-interceptors';
const REQUESTS = '/apis/lifecycle.tidegate.dev/v1alpha1/namespaces/default/evictionrequests';
/** How long the users of B have to finish their work: longer than a heartbeat. */
const NOTICE_MS = 240_000;

const checkGolden = (name: string, text: string): void => {
  const file = new URL(`golden/${name}.txt`, import.meta.url);
  if (process.env['UPDATE_GOLDEN'] !== undefined) writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
};

/** Writes of people and requesters, each under a name of its own. */
const writesOn = ({ cluster }: EmbeddedCluster) => {
  const send = (
    agent: string,
    [method, path]: readonly [string, string],
    { body, type = 'application/merge-patch+json' }: {
      readonly body?: object;
      readonly type?: string;
    } = {},
  ): void => {
    const headers = { 'content-type': type, 'user-agent': agent };
    const sent = { method, path, headers, ...(body === undefined ? {} : { body }) };
    const response = cluster.answer(sent);
    if (response._tag !== 'Answer' || response.status >= 300) {
      throw new Error(`${agent}: ${JSON.stringify(response)}`);
    }
  };
  const apply = (requester: string, pod: JsonRecord, body: object): void => {
    const path = `${REQUESTS}/${uidOf(pod)}?fieldManager=${requesterManager(requester)}`;
    send(requester, ['PATCH', path], { body, type: 'application/apply-patch+yaml' });
  };
  const target = (pod: JsonRecord) => ({
    namespace: 'default',
    name: nameOf(pod),
    uid: uidOf(pod),
  });
  return {
    setCordon: (by: string, node: string, unschedulable: boolean): void =>
      send(by, ['PATCH', `/api/v1/nodes/${node}`], { body: { spec: { unschedulable } } }),
    join: (requester: string, pod: JsonRecord): void =>
      apply(requester, pod, wantedBody(target(pod), requester)),
    leave: (requester: string, pod: JsonRecord, request: unknown): void =>
      apply(requester, pod, withdrawnBody(target(pod), textAt(request, 'metadata', 'uid') ?? '')),
    deleteRequest: (by: string, pod: JsonRecord): void =>
      send(by, ['DELETE', `${REQUESTS}/${uidOf(pod)}`]),
  };
};

const start = (
  { client, time }: EmbeddedCluster,
  name: string,
  definitionFor: (client: KubernetesClient) => InterceptorDefinition,
): void => {
  const { client: own } = client(undefined, name);
  const running = startInterceptor(definitionFor(own), { client: own, time, seed: 1 });
  onTestFinished(running.stop);
};

/** Tells the users of the pod and gives them time; takes it back when that was in vain. */
const startActorB = (cluster: EmbeddedCluster, note: (what: string) => void): void =>
  start(cluster, ACTOR_B, () =>
    defineInterceptor({
      name: ACTOR_B,
      progress: () => ({ message: 'The users have been told to finish their work' }),
      intercept: ({ signal }) =>
        new Promise((resolve, reject) => {
          note('tells the users of a disruption');
          const cancel = cluster.time.schedule(
            NOTICE_MS,
            () => resolve('All users have finished'),
          );
          signal.addEventListener('abort', () => {
            cancel();
            note('tells the users that there will be no disruption');
            reject(signal.reason);
          });
        }),
    }));

/** Deletes the pod itself. */
const startActorA = (cluster: EmbeddedCluster): void =>
  start(cluster, ACTOR_A, (client) =>
    defineInterceptor({
      name: ACTOR_A,
      intercept: async ({ pod }) => {
        await client.request({
          method: 'DELETE',
          path: `${PODS}/${pod.name}`,
          body: { preconditions: { uid: pod.uid } },
        });
        return 'The pod is deleted';
      },
    }));

/** A pod of B and A, and what can be seen of its request. */
const onePod = async () => {
  const cluster = await embeddedCluster();
  cluster.create(PODS, {
    metadata: {
      name: 'p-1',
      labels: { app: 'p' },
      annotations: { [ANNOTATION]: `${ACTOR_B},${ACTOR_A}` },
    },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
  });
  await cluster.time.advance(10_000);
  const pod = cluster.get(`${PODS}/p-1`);
  const transcript = transcriptOf(cluster);
  startActorB(cluster, (what) => transcript.note(ACTOR_B, what));
  startActorA(cluster);
  const request = (): JsonRecord => cluster.get(`${REQUESTS}/${uidOf(pod)}`);
  return {
    ...cluster,
    ...writesOn(cluster),
    pod,
    transcript,
    request,
    untilActive: (name: string): Promise<void> =>
      cluster.until(() => activeIn(request()) === name, `${name} is active`),
    untilFinal: (type: string): Promise<void> =>
      cluster.until(() => conditionsOf(request()).includes(type), `the request is ${type}`),
  };
};

describe('the worked examples of KEP-4563', () => {
  test('ER-79: two requesters, of which one leaves, equal the golden transcript', async () => {
    const { pod, transcript, request, time, ...scene } = await onePod();
    transcript.step('A node drain cordons the node and requests that the pod leaves:');
    scene.setCordon(DRAIN, 'node-1', true);
    scene.join(DRAIN, pod);
    transcript.step('The descheduler finds that request and joins it:');
    scene.join(DESCHEDULER, pod);
    transcript.step('The controller makes B active, which gives the users time:');
    await scene.untilActive(ACTOR_B);
    await time.advance(60_000);
    transcript.step('The administrator cancels the drain, and the drain leaves; B goes on:');
    scene.setCordon('administrator', 'node-1', false);
    scene.leave(DRAIN, pod, request());
    await time.advance(60_000);
    expect(activeIn(request())).toBe(ACTOR_B);
    transcript.step('B completes, and the controller makes A active, which deletes the pod:');
    await scene.untilActive(ACTOR_A);
    await scene.untilFinal('Evicted');
    transcript.step('The descheduler deletes the request:');
    scene.deleteRequest(DESCHEDULER, pod);
    await time.advance(60_000);
    checkGolden('two-requesters', transcript.text());
  });

  test('ER-80: the only requester, which leaves, equals the golden transcript', async () => {
    const { pod, transcript, request, time, get, ...scene } = await onePod();
    transcript.step('A node drain cordons the node and requests that the pod leaves:');
    scene.setCordon(DRAIN, 'node-1', true);
    scene.join(DRAIN, pod);
    transcript.step('The controller makes B active, which gives the users time:');
    await scene.untilActive(ACTOR_B);
    await time.advance(60_000);
    transcript.step('The administrator cancels the drain, and the drain leaves:');
    scene.setCordon('administrator', 'node-1', false);
    scene.leave(DRAIN, pod, request());
    transcript.step('The controller cancels the request, and B stops:');
    await scene.untilFinal('Canceled');
    await time.advance(2000);
    transcript.step('For half an hour nothing happens to the pod:');
    await time.advance(1_800_000);
    expect(uidOf(get(`${PODS}/p-1`))).toBe(uidOf(pod));
    checkGolden('one-requester-cancels', transcript.text());
  });

  test('ER-81: the surge of a Deployment equals the golden transcript', async () => {
    const cluster = await embeddedCluster();
    const { get, list, time, until } = cluster;
    const writes = writesOn(cluster);
    cluster.create(DEPLOYMENTS, deployment(4));
    const replicas = (): number => numberAt(get(`${DEPLOYMENTS}/web`), 'spec', 'replicas') ?? 0;
    await time.advance(30_000);
    start(cluster, SURGE, (client) => {
      const definition = surge({ client, time, seed: 1 });
      onTestFinished(definition.stop);
      return definition;
    });
    const transcript = transcriptOf(cluster);
    const pods = list(PODS).filter((pod) => textAt(pod, 'spec', 'nodeName') === 'node-1')
      .map((pod) => get(`${PODS}/${nameOf(pod)}`));
    expect(pods).toHaveLength(2);
    transcript.step('A node drain cordons the node and requests that its pods leave:');
    writes.setCordon(DRAIN, 'node-1', true);
    for (const pod of pods) writes.join(DRAIN, pod);
    transcript.step('The controller makes the surge active, which goes wave by wave:');
    await until(
      () => pods.every((pod) => conditionsOf(get(`${REQUESTS}/${uidOf(pod)}`)).includes('Evicted')),
      'the pods have left',
    );
    await until(() => replicas() === 4, 'the replicas are restored');
    transcript.step('The drain deletes its requests:');
    for (const pod of pods) writes.deleteRequest(DRAIN, pod);
    await time.advance(60_000);
    expect(list(PODS).map((pod) => textAt(pod, 'spec', 'nodeName')))
      .toEqual(Array.from({ length: 4 }, () => 'node-2'));
    checkGolden('pod-surge', transcript.text());
  });
});

const deployment = (replicas: number): JsonRecord => ({
  metadata: { name: 'web' },
  spec: {
    replicas,
    strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' }, annotations: { [ANNOTATION]: SURGE } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    },
  },
});
