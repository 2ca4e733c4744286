/** Which pods the operator adds interceptors to, as `drain plan` reads it. */
import { expect, test } from 'vitest';
import { type DrainPod, projectPod } from '../../../src/domain/drain/pod.ts';
import { readLosing } from '../../../src/effects/default-interceptor-reads.ts';
import { readableApi } from '../../support/api/readable-api.ts';
import { budgetOf, rawPod } from '../../support/drains/drain-facts.ts';

const raw = (name: string, hash: string, node = 'n1'): object =>
  rawPod({
    name,
    node,
    labels: { 'app': hash, 'pod-template-hash': hash },
    controller: { kind: 'ReplicaSet', name: hash },
  });

const projected = (object: object): DrainPod => projectPod(object) ?? expect.fail();

const losing = async (
  here: readonly object[],
  elsewhere: readonly object[],
  refused: Readonly<Record<string, number>> = {},
) => {
  const objects = Object.fromEntries(
    [...here, ...elsewhere].map((object) => {
      const { name } = projected(object);
      return [`/api/v1/namespaces/ns/pods/${name}`, object];
    }),
  );
  const { run, calls } = readableApi({ objects, refused });
  const never = budgetOf({
    selector: { matchLabels: { app: 'kept' } },
    status: { desiredHealthy: 2, expectedPods: 2 },
  });
  const found = await run(readLosing(here.map(projected), [never]));
  return { found: [...found], calls: calls.length };
};

test('ER-55: pods that are the only ones of their Deployment on any node', async () => {
  const here = [
    raw('only-1', 'only'),
    raw('web-1', 'web'),
    raw('two-1', 'two'),
    raw('two-2', 'two'),
  ];
  const { found, calls } = await losing(here, [raw('web-2', 'web', 'n2')]);
  expect(found).toEqual(['uid-only-1']);
  // The two on this node need no other.
  expect(calls).toBe(2);
});

test('ER-55: pods whose budget never allows a disruption', async () => {
  const { found } = await losing([raw('kept-1', 'kept')], [raw('kept-2', 'kept', 'n2')]);
  expect(found).toEqual(['uid-kept-1']);
});

test('a refused read counts as no other pods', async () => {
  const { found } = await losing([raw('web-1', 'web')], [raw('web-2', 'web', 'n2')], {
    '/api/v1/namespaces/ns/pods': 403,
  });
  expect(found).toEqual(['uid-web-1']);
});
