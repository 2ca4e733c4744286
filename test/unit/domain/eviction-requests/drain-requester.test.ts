/** What a drain as requester writes, waits for and falls back to. */
import { describe, expect, test } from 'vitest';
import {
  asksByRequest,
  EVICTION_MODES,
  fallbackIn,
  ownerOfRequester,
  RENEWALS_MAX,
  requesterBlocker,
  type RequesterFacts,
  requesterName,
  requesterStep,
  unanswered,
} from '../../../../src/domain/eviction-requests/drain-requester.ts';
import { isQualifiedName } from '../../../../src/domain/eviction-requests/qualified-name.ts';
import {
  ACTOR_A,
  ACTOR_B,
  atSeconds,
  DRAIN,
  entry,
  IMPERATIVE,
  observedRequest,
  type RequestTraits,
  statusWith,
} from '../../../support/eviction-requests/request-fixture.ts';

const OURS = 'reclaim.tidegate.dev';
const { namespace, pod } = observedRequest();

const ended = (type: string, reason: string) =>
  statusWith({
    active: null,
    conditions: [{ type, status: 'True', reason, message: 'm', lastTransitionTime: atSeconds(9) }],
  });

const facts = (
  traits: RequestTraits | null,
  more: Partial<RequesterFacts> = {},
): RequesterFacts => ({
  requester: OURS,
  pod: { namespace, ...pod },
  request: traits === null ? null : observedRequest({ requesters: [OURS], ...traits }),
  wanted: true,
  life: 'Runs',
  renewals: 0,
  fallback: null,
  overdue: false,
  ...more,
});

const writeOf = (given: RequesterFacts) => requesterStep(given).write?.write ?? null;
const phaseOf = (given: RequesterFacts) => requesterStep(given).phase;

const ACTIVE = { status: statusWith({ active: ACTOR_B }) };

describe('a drain that wants its pod to leave', () => {
  test('ER-74: creates the request, and joins that of others', () => {
    expect(writeOf(facts(null))).toBe('join');
    expect(writeOf(facts({ ...ACTIVE, requesters: [DRAIN] }))).toBe('join');
  });

  test('ER-75: adds its entry again when somebody else removed it', () => {
    expect(writeOf(facts({ ...ACTIVE, requesters: [DRAIN] }))).toBe('join');
    expect(writeOf(facts(ACTIVE))).toBe(null);
  });

  test.each([
    ['was canceled', { requesters: [], status: ended('Canceled', 'NoRequesters') }],
    ['says that the running pod was evicted', { status: ended('Evicted', 'PodDeleted') }],
    ['lost its last requester', { ...ACTIVE, requesters: [] }],
  ])('ER-75: makes a request anew that %s', (_, traits) => {
    expect(writeOf(facts(traits))).toBe('remove');
  });

  test('ER-75: makes a request anew that names another pod under the UID of this one', () => {
    const given = facts(ACTIVE);
    expect(writeOf({ ...given, pod: { ...given.pod, name: 'other' } })).toBe('remove');
  });

  test('ER-75: a request that is always canceled is made anew five times', () => {
    const traits = { requesters: [], status: ended('Canceled', 'NoRequesters') };
    expect(fallbackIn(facts(traits, { renewals: RENEWALS_MAX - 1 }))).toBe(null);
    expect(fallbackIn(facts(traits, { renewals: RENEWALS_MAX }))?.cause).toBe('Canceled');
  });

  test('a request that is being deleted is waited for', () => {
    const deleting = { ...ACTIVE, metadata: { deletionTimestamp: atSeconds(5) } };
    expect([writeOf(facts(deleting)), phaseOf(facts(deleting))]).toEqual([null, 'Unanswered']);
  });

  test('ER-78: reads from the status what it waits for', () => {
    expect(phaseOf(facts({}))).toBe('Unanswered');
    expect(phaseOf(facts({ ...ACTIVE, generation: 2 }))).toBe('Unanswered');
    expect(phaseOf(facts(ACTIVE))).toBe('Intercepted');
    expect(phaseOf(facts({ status: statusWith({ active: IMPERATIVE }) }))).toBe('Evicting');
  });

  test('evicts by itself after a canceled, processed or unanswered request', () => {
    const processed = [ACTOR_B, ACTOR_A, IMPERATIVE];
    expect(fallbackIn(facts({ status: ended('Canceled', 'ValidationFailed') })))
      .toEqual({ cause: 'Canceled', text: 'its EvictionRequest was canceled: m' });
    expect(fallbackIn(facts({ status: statusWith({ active: null, processed }) }))?.cause)
      .toBe('Processed');
    expect(fallbackIn(facts(ACTIVE))).toBe(null);
    const given = facts({}, { fallback: unanswered(60) });
    expect([requesterBlocker(given), writeOf(given)]).toEqual([undefined, 'leave']);
  });

  test('the request of another requester that is invalid is made anew, and no reason to evict', () => {
    const given = facts({ requesters: [DRAIN], status: ended('Canceled', 'ValidationFailed') });
    expect([fallbackIn(given), writeOf(given)]).toEqual([null, 'remove']);
  });
});

describe('a drain that does not want its pod to leave any more', () => {
  const released = { wanted: false } as const;

  test('ER-76: removes its entry, and leaves a request of others alone', () => {
    expect(writeOf(facts(ACTIVE, released))).toBe('leave');
    expect(writeOf(facts({ ...ACTIVE, requesters: [DRAIN, OURS] }, released))).toBe('leave');
    expect(phaseOf(facts({ ...ACTIVE, requesters: [DRAIN] }, released))).toBe('Done');
    expect(phaseOf(facts(null, released))).toBe('Done');
  });

  test('ER-78: deletes the final request as the last one interested', () => {
    const status = ended('Canceled', 'NoRequesters');
    expect(writeOf(facts({ requesters: [], status }, released))).toBe('remove');
    expect(writeOf(facts({ status: ended('Evicted', 'PodDeleted') }, { life: 'Gone' })))
      .toBe('remove');
    const evicted = { requesters: [DRAIN, OURS], status: ended('Evicted', 'PodDeleted') };
    expect(writeOf(facts(evicted, { life: 'Gone' }))).toBe('leave');
  });

  test('ER-78: waits for the end of the request, within a bound', () => {
    expect(phaseOf(facts(ACTIVE, { life: 'Leaves' }))).toBe('Leaving');
    expect(phaseOf(facts(ACTIVE, { life: 'Gone' }))).toBe('Ending');
    expect(phaseOf(facts({ ...ACTIVE, requesters: [] }, released))).toBe('Ending');
    expect(writeOf(facts(ACTIVE, { life: 'Gone', overdue: true }))).toBe('remove');
  });
});

describe('why the pod waits', () => {
  test('names the interceptor, and since when', () => {
    const status = statusWith({
      active: ACTOR_B,
      interceptors: [entry(ACTOR_B, { startTime: 5 }, 'copying')],
    });
    expect(requesterBlocker(facts({ status }))).toEqual({
      reason: 'WaitingForInterceptor',
      text: `interceptor "${ACTOR_B}" active since ${atSeconds(5)}: copying`,
      subject: ACTOR_B,
    });
  });

  test('says that nobody was asked yet', () => {
    expect(requesterBlocker(facts(null))?.reason).toBe('EvictionRequestPending');
    expect(requesterBlocker(facts({}))?.reason).toBe('EvictionRequestPending');
  });
});

describe('--via', () => {
  const open = observedRequest(ACTIVE);
  const none = { interceptors: [], request: undefined };

  test.each(
    [
      ['auto', none, false],
      ['auto', { ...none, interceptors: [ACTOR_A] }, true],
      ['auto', { ...none, request: open }, true],
      ['auto', { ...none, request: observedRequest({ ...ACTIVE, requesters: [] }) }, false],
      ['eviction-requests', none, true],
      ['evictions', { interceptors: [ACTOR_A], request: open }, false],
    ] as const,
  )('%s with %j', (mode, given, asks) => {
    expect(asksByRequest(mode, { ...given, isOfDaemonSet: false })).toBe(asks);
  });
});

test('NM-44: a pod of a DaemonSet is asked for only when it registers an interceptor', () => {
  const request = observedRequest();
  for (const mode of EVICTION_MODES) {
    const given = { interceptors: [], request, isOfDaemonSet: true };
    expect(asksByRequest(mode, given), mode).toBe(false);
    expect(asksByRequest(mode, { ...given, interceptors: [ACTOR_A] }), mode)
      .toBe(mode !== 'evictions');
  }
});

test('ER-08: every owner of a drain has a requester with a qualified name', () => {
  for (const owner of ['reclaim', 'disabled', 'maintenance-0123456789ab'] as const) {
    const name = requesterName(owner) ?? '';
    expect(isQualifiedName(name)).toBe(true);
    expect(ownerOfRequester(name)).toBe(owner);
  }
  expect(requesterName('maintenance-Wrong')).toBe(undefined);
});

test.each([
  DRAIN,
  'person.tidegate.dev',
  'surge.tidegate.dev',
  'maintenance-a.tidegate.dev',
  'maintenance-0123456789abc.tidegate.dev',
  'maintenance-a.nodemaintenance.tidegate.dev',
  'maintenance-0123456789ab.nodemaintenance.tidegate.dev',
])('NM-19: %s is not the requester of a drain by the name of its owner', (name) => {
  expect(ownerOfRequester(name)).toBe('');
});
