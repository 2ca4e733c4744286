/** Whether drains follow EvictionRequests, by `--via` and by what the API server permits. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { drainRequests } from '../../../src/actors/eviction-requests/drain-requests.ts';
import { sharedInformers } from '../../../src/actors/informers/shared-informers.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import { projectPod } from '../../../src/domain/drain/pod.ts';
import type { EvictionMode } from '../../../src/domain/eviction-requests/drain-requester.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { evictionRequestsLayer } from '../../../src/effects/eviction-requests.ts';
import { KubeApi, NotSent } from '../../../src/effects/kube-api.ts';
import { Writes } from '../../../src/effects/writes.ts';
import { unwatched } from '../../support/api/fake-api.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const OWN = '/apis/lifecycle.tidegate.dev/v1alpha1';
const NATIVE = '/apis/lifecycle.k8s.io/v1alpha1';

/** The start on an API server that answers lists with this status. */
const started = async (
  mode: EvictionMode,
  status: number | 'unreachable' | ((path: string) => number),
) => {
  const paths: string[] = [];
  const api = Layer.succeed(KubeApi, {
    watch: unwatched,
    call: ({ path }) =>
      Effect.suspend(() => {
        paths.push(path);
        return status === 'unreachable'
          ? Effect.fail(new NotSent({ why: 'reset' }))
          : Effect.succeed({
            status: typeof status === 'number' ? status : status(path),
            body: { resources: [{ name: 'evictionrequests' }, { name: 'evictions' }] },
          });
      }),
  });
  const writes = Layer.succeed(Writes, { send: () => Effect.never });
  const warnings: string[] = [];
  const telemetry = {
    ...silentTelemetry,
    log: (level: string, message: string) => {
      if (level === 'warn') warnings.push(message);
    },
  };
  const time = simulatedTime();
  const environment = makeActorEnvironment({
    time,
    runtime: ManagedRuntime.make(
      Layer.provideMerge(evictionRequestsLayer, Layer.mergeAll(api, writes, clockLayer(time))),
    ),
    telemetry,
    firstSeed: 1,
  });
  const informers = sharedInformers(environment);
  const requested = drainRequests(environment, { informers, record: () => {} }, {
    mode,
    pods: informers.collection({ id: 'pods', path: '/api/v1/pods', project: projectPod }),
    nodes: informers.collection({ id: 'nodes', path: '/api/v1/nodes', project: projectNode }),
  });
  const starting = requested?.discover();
  await time.advance(60_000);
  const start = await starting;
  return { start, isUsed: requested?.isUsed(), paths, warnings };
};

const STARTED = { _tag: 'Started' };

test.each(
  [
    [200, true, [OWN], []],
    ['unreachable', true, [OWN], []],
    [404, false, [OWN, NATIVE], []],
    [403, false, [OWN], ['Drains ask no interceptors']],
  ] as const,
)('--via auto starts after %s, and follows requests: %s', async (status, isUsed, asked, logs) => {
  const tries = status === 403 ? 3 : status === 'unreachable' ? 30 : 1;
  const paths = [...asked, ...Array.from({ length: tries }, () => `${OWN}/evictionrequests`)];
  expect(await started('auto', status)).toEqual({ start: STARTED, isUsed, paths, warnings: logs });
});

test('an API server that refuses them for a moment after its start is asked again', async () => {
  let refusals = 2;
  const settling = (path: string) =>
    path.endsWith('/evictionrequests') && refusals-- > 0 ? 403 : 200;
  expect(await started('auto', settling)).toMatchObject({ isUsed: true, warnings: [] });
});

test('a refusal for a moment is asked about again also after answers that were missing', async () => {
  const answers = [503, 503, 403];
  const settling = (path: string) =>
    path.endsWith('/evictionrequests') ? answers.shift() ?? 200 : 200;
  expect(await started('auto', settling)).toMatchObject({ isUsed: true, warnings: [] });
});

test('one answer that is missing does not let a list be awaited that nobody serves', async () => {
  let failures = 1;
  const busy = (path: string) => path.endsWith('/evictionrequests') && failures-- > 0 ? 503 : 404;
  expect(await started('auto', busy)).toMatchObject({ start: STARTED, isUsed: false });
});

test('drains follow the API of Kubernetes where only that is served', async () => {
  const served = (path: string) => path.startsWith(NATIVE) ? 200 : 404;
  expect(await started('auto', served)).toEqual({
    start: STARTED,
    isUsed: true,
    paths: [OWN, NATIVE, `${NATIVE}/evictionrequests`, `${NATIVE}/evictions`],
    warnings: [],
  });
});

test.each(
  [
    [404, 'does not serve evictionrequests.lifecycle.tidegate.dev; install its CRD with'],
    [403, 'may not list evictionrequests.lifecycle.tidegate.dev; grant it the rights of'],
  ] as const,
)('--via eviction-requests does not start after %s', async (status, problem) => {
  const { start } = await started('eviction-requests', status);
  expect(start).toMatchObject({ _tag: 'Refused', problem: expect.stringContaining(problem) });
});

test('--via evictions reads nothing', async () => {
  expect(await started('evictions', 404))
    .toEqual({ start: undefined, isUsed: undefined, paths: [], warnings: [] });
});
