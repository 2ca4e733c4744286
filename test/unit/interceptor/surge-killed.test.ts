/**
 * RS-10: a surge that is killed anywhere, again and again, leaves nothing behind.
 *
 * Every process dies at a request that a seed picks, before the API server has it or before the
 * answer is there. The next one finishes the surge or undoes it.
 */
import { expect, onTestFinished, test } from 'vitest';
import { seededRandom } from '../../../packages/embedded-kubernetes/src/values/random.ts';
import {
  type KubernetesClient,
  startInterceptor,
  surge,
} from '../../../packages/interceptor/mod.ts';
import { type JsonRecord, recordAt, textAt } from '../../../src/domain/json.ts';
import {
  autoscalerOf,
  HPAS,
  SCALED_OBJECTS,
  scaledObjectOf,
  startAutoscalers,
} from '../../support/interceptors/autoscalers.ts';
import { conditionsOf, type EmbeddedCluster } from '../../support/interceptors/embedded-cluster.ts';
import {
  surgeDeployment,
  WEB,
  withDeployment,
} from '../../support/interceptors/surged-deployment.ts';

/** Kills in the middle of a surge, of each kind: more than two hundred of all three. */
const KILLS = 70;
const KILLS_A_RUN = 5;

const written = (object: unknown): string =>
  JSON.stringify([recordAt(object, 'spec'), recordAt(object, 'metadata', 'annotations') ?? {}]);

/** A client that dies at this request; whether the API server has it is the seed's choice. */
const mortal = (client: KubernetesClient, life: number, isReceived: boolean): {
  readonly client: KubernetesClient;
  readonly isDead: () => boolean;
} => {
  let left = life;
  const request: KubernetesClient['request'] = async (asked) => {
    left -= 1;
    if (left < 0) throw new Error('the process is dead');
    if (left > 0) return await client.request(asked);
    if (isReceived) await client.request(asked);
    throw new Error('the process is dead');
  };
  return { client: { ...client, request }, isDead: () => left <= 0 };
};

const startSurge = (cluster: EmbeddedCluster, client: KubernetesClient): () => void => {
  const options = { client, time: cluster.time, seed: 1 };
  const interceptor = surge(options);
  const running = startInterceptor(interceptor, options);
  const stop = (): void => {
    running.stop();
    interceptor.stop();
  };
  onTestFinished(stop);
  return stop;
};

const OWNERS: readonly (readonly [
  what: string,
  collection: string | null,
  object: JsonRecord,
])[] = [
  ['a Deployment', null, {}],
  [
    'a HorizontalPodAutoscaler',
    HPAS,
    autoscalerOf('web', { minReplicas: 1, maxReplicas: 3 }),
  ],
  ['a ScaledObject', SCALED_OBJECTS, scaledObjectOf('web')],
];

/** One surge, whose processes are killed; how many of them had changed something by then. */
const killedSurge = async (
  seed: number,
  collection: string | null,
  object: JsonRecord,
): Promise<number> => {
  const random = seededRandom(seed);
  const { cluster, cordon, seen, available, chosen, pods } = await withDeployment(
    surgeDeployment(1),
  );
  startAutoscalers(cluster);
  const paths = collection === null ? [WEB] : [WEB, `${collection}/web`];
  if (collection !== null) cluster.create(collection, object);
  await cluster.time.advance(3000);
  const before = paths.map((path) => written(cluster.get(path)));
  const [pod] = pods();
  cordon(textAt(pod, 'spec', 'nodeName') ?? '');
  const request = cluster.request(pod);
  const isCanceled = random() < 0.25;
  const isEvicted = () => conditionsOf(cluster.get(request)).includes('Evicted');
  const isRestored = () => paths.every((path, at) => written(cluster.get(path)) === before[at]);
  let kills = 0;
  for (let run = 0; run < KILLS_A_RUN && !isEvicted(); run += 1) {
    const life = 6 + Math.floor(random() * 30);
    const { client, isDead } = mortal(cluster.client().client, life, random() < 0.5);
    const stop = startSurge(cluster, client);
    await cluster.until(() => isDead() || isEvicted(), `it is killed (${seed})`);
    stop();
    if (isDead() && !isRestored()) kills += 1;
    await cluster.time.advance(Math.floor(random() * 3000));
  }
  if (isCanceled && !isEvicted()) cluster.request(pod, false);
  startSurge(cluster, cluster.client().client);
  await cluster.until(() => conditionsOf(cluster.get(request)).length > 0, `it ends (${seed})`);
  await cluster.until(isRestored, `it is restored (${seed})`);
  await cluster.time.advance(60_000);
  expect([seed, isRestored(), chosen(), available()]).toEqual([seed, true, [], 1]);
  expect([seed, seen().least, seen().most]).toEqual([seed, 1, 2]);
  return kills;
};

for (const [what, collection, object] of OWNERS) {
  test(`RS-10: killed anywhere, the surge leaves nothing of itself on ${what}`, async () => {
    let kills = 0;
    for (let seed = 1; kills < KILLS; seed += 1) {
      kills += await killedSurge(seed, collection, object);
    }
  }, 120_000);
}
