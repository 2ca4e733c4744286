/**
 * Regression: an UpcomingNode whose status was patched forever.
 *
 * Cause: `lastError` was cut after 4,096 UTF-16 units, and the text about one pod after 300. With
 * an emoji at the cut the text ended in a lone surrogate. The API server stores U+FFFD in its place
 * (`test/contract/cases/fields.ts`), so the object never equalled the wanted one.
 */
import { expect, test } from 'vitest';
import { asRecord } from '../../../src/domain/json.ts';
import { remainingSentence } from '../../../src/domain/drain/blocker.ts';
import {
  projectUpcomingNode,
  statusPatch,
  type UpcomingNodeFacts,
} from '../../../src/domain/upcoming-node.ts';

const identity = { name: 'un-m-1', uid: 'u1', resourceVersion: '7' };

/** The status as the API server stores it. */
const stored = (status: object): object =>
  Object.fromEntries(
    Object.entries(status).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.toWellFormed() : value,
    ]),
  );

const failedDrain = (lastError: string, status: object): UpcomingNodeFacts => ({
  reported: null,
  current: projectUpcomingNode({ metadata: identity, status }) ?? null,
  node: null,
  drain: { _tag: 'Failed', lastError },
});

const secondPatch = (lastError: string): object | undefined => {
  const before = { phase: 'Draining' };
  const patch = asRecord(statusPatch(failedDrain(lastError, before), 0)) ?? {};
  expect(patch['status']).toMatchObject({ phase: 'Failed' });
  const after = stored({ ...before, ...asRecord(patch['status']) });
  return statusPatch(failedDrain(lastError, after), 0);
};

test('upcomingNodes: an emoji where lastError is cut settles with one write', () => {
  expect(secondPatch(`${'x'.repeat(4095)}😀 and more`)).toBeUndefined();
});

test('upcomingNodes: an emoji where the text about one pod is cut settles with one write', () => {
  const text = remainingSentence([{ key: 'shop/web-1', text: `${'x'.repeat(299)}😀 and more` }]);
  expect(text).toContain('x…');
  expect(secondPatch(text)).toBeUndefined();
});

test('upcomingNodes: a lone surrogate in the message of a policy settles with one write', () => {
  expect(secondPatch('denied: \ud83d is not allowed')).toBeUndefined();
});
