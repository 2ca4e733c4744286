/** The answer table of evictions, row by row; bodies as Kubernetes 1.36 writes them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EvictionOutcome, evictionOutcome } from '../../../../src/domain/drain/answer.ts';

interface Details {
  readonly kind?: string;
  readonly causes?: readonly { readonly reason: string; readonly message?: string }[];
  readonly retryAfterSeconds?: number;
}

const answer = (
  code: number,
  message: string,
  details: Details = {},
): EvictionOutcome =>
  evictionOutcome({ status: code, body: { kind: 'Status', code, message, details } });

const budgetCause = (message: string) => ({ causes: [{ reason: 'DisruptionBudget', message }] });
const violates = "Cannot evict pod as it would violate the pod's disruption budget.";

describe('evictionOutcome', () => {
  it.each([
    [403, 'admission webhook "w.example" denied the request: no', 'w.example'],
    [429, 'admission webhook "w.example" denied the request: later', 'w.example'],
    [500, 'Internal error occurred: failed calling webhook "w.example": refused', 'w.example'],
    [500, 'failed calling webhook, because', ''],
    [422, `pods "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied`, 'p'],
    [401, `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: x`, 'p'],
    [413, `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: x`, 'p'],
  ])('answer %i of a policy is refused by that policy: %s', (status, message, policy) => {
    expect(answer(status, message)).toEqual({ _tag: 'PolicyRefused', policy, why: message });
  });

  it('a policy with causes of its own is recognized', () => {
    const message = 'admission webhook "w" denied the request: budget';
    expect(answer(429, message, budgetCause('x'))).toMatchObject({ _tag: 'PolicyRefused' });
  });

  it.each([200, 201])('answer %i is accepted', (status) => {
    expect(evictionOutcome({ status, body: { kind: 'Status', status: 'Success' } }))
      .toEqual({ _tag: 'Accepted' });
  });

  it('answer 401 concerns our credentials', () => {
    expect(answer(401, 'Unauthorized')).toEqual({ _tag: 'Unauthenticated', why: 'Unauthorized' });
  });

  it.each([undefined, 'pods'])('answer 404 about %s is a pod that is gone', (kind) => {
    const details = kind === undefined ? {} : { kind };
    expect(answer(404, 'pods "a" not found', details)).toEqual({ _tag: 'Gone' });
  });

  it('DR-24: answer 404 about a budget that was deleted meanwhile is transient', () => {
    const why = 'poddisruptionbudgets.policy "db" not found';
    expect(answer(404, why, { kind: 'poddisruptionbudgets' })).toEqual({ _tag: 'Transient', why });
  });

  it.each([
    [
      'Pod',
      'Operation cannot be fulfilled on Pod "a": the UID in the precondition (x) does not match',
    ],
    ['pods', 'Precondition failed: UID in precondition: x, UID in object meta: y'],
  ])('DR-22: answer 409 about the UID of a %s is another pod of that name', (kind, message) => {
    expect(answer(409, message, { kind })).toEqual({ _tag: 'OtherPod' });
  });

  it.each([
    ['poddisruptionbudgets', 'Operation cannot be fulfilled on poddisruptionbudgets "db": …'],
    ['Pod', 'Operation cannot be fulfilled on Pod "a": the ResourceVersion in the precondition'],
    ['poddisruptionbudgets', 'UID in precondition'],
  ])('answer 409 about %s otherwise is transient: %s', (kind, message) => {
    expect(answer(409, message, { kind })).toEqual({ _tag: 'Transient', why: message });
  });

  it('answer 429 with the cause DisruptionBudget is an exhausted budget', () => {
    const why = 'The disruption budget db needs 3 healthy pods and has 3 currently';
    expect(answer(429, violates, budgetCause(why))).toEqual({ _tag: 'BudgetExhausted', why });
  });

  it('answer 429 with that cause and a Retry-After is a budget with an outdated status', () => {
    const details = budgetCause('still being processed');
    const settling = { _tag: 'BudgetUnsettled', retryAfterSeconds: 10, why: violates };
    expect(answer(429, violates, { ...details, retryAfterSeconds: 10 })).toEqual(settling);
    const body = { message: violates, details };
    expect(evictionOutcome({ status: 429, body, retryAfterSeconds: 10 })).toEqual(settling);
  });

  it('answer 429 without that cause is the rate limit of the API server', () => {
    expect(answer(429, 'too many requests', { retryAfterSeconds: 3 }))
      .toEqual({ _tag: 'Throttled', retryAfterSeconds: 3 });
    expect(evictionOutcome({ status: 429, body: 'Too many requests', retryAfterSeconds: 2 }))
      .toEqual({ _tag: 'Throttled', retryAfterSeconds: 2 });
    expect(answer(429, 'too many requests')).toEqual({ _tag: 'Throttled', retryAfterSeconds: 1 });
  });

  it('answer 500 about more than one budget is two budgets', () => {
    const why = 'This pod has more than one PodDisruptionBudget, which the eviction …';
    expect(answer(500, why)).toEqual({ _tag: 'TwoBudgets', why });
  });

  it('answer 403 with the cause NamespaceTerminating leaves on its own', () => {
    const message = 'evictions "a" is forbidden: unable to create: namespace ns is terminating';
    expect(answer(403, message, { causes: [{ reason: 'NamespaceTerminating' }] }))
      .toEqual({ _tag: 'NamespaceTerminating' });
  });

  it.each([
    'poddisruptionbudget "db" is forbidden: pdb disruptions allowed is negative',
    'poddisruptionbudget "db" is forbidden: DisruptedPods map too big - too many evictions',
  ])('answer 403 is a broken budget: %s', (why) => {
    expect(answer(403, why)).toEqual({ _tag: 'BudgetBroken', why });
  });

  it('answer 403 of RBAC names the missing verb', () => {
    const why = 'pods "a" is forbidden: User "tidegate" cannot create resource "pods/eviction" ' +
      'in API group "" in the namespace "ns"';
    expect(answer(403, why)).toEqual({ _tag: 'Forbidden', why });
  });

  it.each([503, 500])('answer %i otherwise is transient', (status) => {
    expect(answer(status, 'not now')).toEqual({ _tag: 'Transient', why: 'not now' });
  });

  it.each([
    [504, 'Timeout: request did not complete'],
    [502, 'Bad Gateway'],
    [500, 'etcdserver: request timed out'],
  ])('answer %i (%s) is unknown', (status, why) => {
    expect(answer(status, why)).toEqual({ _tag: 'Unknown', why });
  });

  it.each([400, 403, 405, 410, 418, 422, 302])('answer %i is refused and named', (status) => {
    expect(answer(status, 'because')).toEqual({ _tag: 'Refused', status, why: 'because' });
  });

  it('an answer without a Status object is named by its text or its status', () => {
    expect(evictionOutcome({ status: 418, body: ' teapot\n' })).toMatchObject({ why: 'teapot' });
    expect(evictionOutcome({ status: 418, body: null })).toMatchObject({ why: 'HTTP status 418' });
  });

  it('every answer has a class, and only a success status is accepted', () => {
    fc.assert(fc.property(fc.integer({ min: 100, max: 599 }), fc.anything(), (status, body) => {
      const { _tag } = evictionOutcome({ status, body });
      expect(_tag === 'Accepted').toBe(status >= 200 && status < 300);
    }));
  });
});
