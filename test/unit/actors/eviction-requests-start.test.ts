/** The start of the role evictions: without its CRD it would wait for a list forever. */
import { Effect, Layer } from 'effect';
import { expect, test } from 'vitest';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import type { EvictionsApiOption } from '../../../src/domain/native-evictions/evictions-api.ts';
import { type KubeAnswer, KubeApi, NotSent } from '../../../src/effects/kube-api.ts';
import { Writes } from '../../../src/effects/writes.ts';
import { answeringApi, unwatched } from '../../support/api/fake-api.ts';
import { TIMING } from '../../support/eviction-requests/request-fixture.ts';
import { roleOnApi } from '../../support/eviction-requests/role-rig.ts';

const GROUP = '/apis/lifecycle.tidegate.dev/v1alpha1';
const NATIVE = '/apis/lifecycle.k8s.io/v1alpha1';

/** The start of the role on an API server that answers so about our group. */
const started = async (
  answer: KubeAnswer | 'unreachable',
  { api: option = 'auto', native = answer, asked = [GROUP] }: {
    readonly api?: EvictionsApiOption;
    readonly native?: KubeAnswer | 'unreachable';
    readonly asked?: readonly string[];
  } = {},
) => {
  const paths: string[] = [];
  const api = Layer.succeed(KubeApi, {
    watch: unwatched,
    call: ({ path }) =>
      Effect.suspend(() => {
        paths.push(path);
        const one = path === NATIVE ? native : answer;
        return one === 'unreachable'
          ? Effect.fail(new NotSent({ why: 'reset' }))
          : Effect.succeed(one);
      }),
  });
  const writes = Layer.succeed(Writes, { send: () => Effect.never });
  const { role } = roleOnApi(Layer.mergeAll(api, writes), { api: option });
  const start = await role.discover?.();
  await role.stop();
  expect(paths).toEqual(asked);
  return start;
};

const resources = (...names: readonly string[]): KubeAnswer => ({
  status: 200,
  body: { kind: 'APIResourceList', resources: names.map((name) => ({ name })) },
});

test.each([
  ['the group', { status: 404, body: '404 page not found' }],
  ['the resource', resources('others')],
])('the role evictions does not start when the API server lacks %s', async (_, answer) => {
  expect(await started(answer, { asked: [GROUP, NATIVE] })).toEqual({
    _tag: 'Refused',
    problem: 'Cannot start the role evictions: the API server does not serve ' +
      'evictionrequests.lifecycle.tidegate.dev; install its CRD with "kubectl apply ' +
      '--server-side -f charts/tidegate/files/crds", or leave the role out of --roles',
  });
});

test.each([
  ['serves them', resources('evictionrequests', 'evictionrequests/status')],
  ['does not answer, which it may later', 'unreachable' as const],
  ['does not permit discovery', { status: 403, body: {} }],
])('the role evictions starts when the API server %s', async (_, answer) => {
  expect(await started(answer)).toEqual({ _tag: 'Started' });
});

const ABSENT: KubeAnswer = { status: 404, body: '404 page not found' };
const NATIVE_KINDS = resources('evictionrequests', 'evictionrequests/status', 'evictions');

test('the role evictions serves the API of Kubernetes where only that is served', async () => {
  expect(await started(ABSENT, { native: NATIVE_KINDS, asked: [GROUP, NATIVE] }))
    .toEqual({ _tag: 'Started' });
});

test('an API that has EvictionRequests alone is another one', async () => {
  const native = resources('evictionrequests');
  expect(await started(ABSENT, { native, asked: [GROUP, NATIVE] }))
    .toMatchObject({ _tag: 'Refused' });
});

test('a chosen API is not exchanged for another one', async () => {
  expect(await started(ABSENT, { native: NATIVE_KINDS, api: 'tidegate' }))
    .toMatchObject({ _tag: 'Refused' });
  const own = resources('evictionrequests');
  expect(await started(own, { native: ABSENT, api: 'native', asked: [NATIVE] })).toMatchObject({
    _tag: 'Refused',
    problem: expect.stringContaining('evictionrequests and evictions of lifecycle.k8s.io'),
  });
});

test.each([[59_000, 1], [60_000, 1], [60_001, 0]])(
  'ER-36: a deadline of %i ms, which no heartbeat may extend, is warned of %i times',
  async (deadlineMs, times) => {
    const warnings: unknown[] = [];
    const api = answeringApi(() => Effect.succeed(resources('evictionrequests')));
    const { role } = roleOnApi(api, { timing: { ...TIMING, deadlineMs } }, {
      ...silentTelemetry,
      log: (level, _, fields) => {
        if (level === 'warn') warnings.push(fields);
      },
    });
    await role.discover?.();
    await role.stop();
    const warning = { deadlineSeconds: deadlineMs / 1000, leastSeconds: 60 };
    expect(warnings).toEqual(Array.from({ length: times }, () => warning));
  },
);
