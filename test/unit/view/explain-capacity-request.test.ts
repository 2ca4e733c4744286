/** `explain capacityrequest`: the sentences for each state that a request can be in. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explainCapacityRequest } from '../../../src/view/explain-capacity-request.ts';
import { explanationText } from '../../../src/view/explanation-text.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');

const request = (status: unknown, spec: object = {}, createdAt = '2026-03-01T11:59:50Z') => ({
  metadata: {
    name: 'batch-7',
    namespace: 'team-a',
    creationTimestamp: createdAt,
    labels: { 'bigfleet.lucy.sh/owned-by-pod': 'pod-uid' },
  },
  spec: { resources: { cpu: '4', memory: '16Gi' }, priority: 1000, ...spec },
  status,
});

const explain = (object: unknown, leases?: unknown) =>
  explainCapacityRequest({ request: object, events: [], leases, nowMs });

const lease = (renewTime: string, holderIdentity = 'host-a') => ({
  items: [{ spec: { renewTime, holderIdentity, leaseDurationSeconds: 15 } }],
});

describe('explainCapacityRequest', () => {
  test('an acknowledged request waits for the fleet, and needs no action', () => {
    const explained = explain(
      request({ phase: 'Acknowledged', acknowledgedAt: '2026-03-01T11:48:00Z' }),
    );
    expect(explained).toMatchObject({ state: 'Acknowledged', canAct: 'nobody' });
    expect(explained.details).toContainEqual({
      name: 'Acknowledged',
      value: '2026-03-01T11:48:00Z (12m ago)',
    });
    expect(explained.details).toContainEqual({ name: 'Asks for', value: 'cpu 4, memory 16Gi' });
    expect(explained.details).toContainEqual({ name: 'For pod', value: 'pod-uid' });
  });

  test('a new request waits for the next roll-up', () => {
    const explained = explain(request(undefined));
    expect(explained).toMatchObject({
      state: 'Pending',
      why: 'No roll-up that includes it was acknowledged yet',
      waitsFor: 'The fleet to acknowledge the next roll-up',
      canAct: 'nobody',
    });
  });

  test.each([
    [undefined, 'No roll-up that includes it was acknowledged for longer than usual'],
    [{ items: [] }, 'No operator was ever leader in this cluster: its Lease does not exist'],
    [
      lease('2026-03-01T11:00:00.000000Z'),
      'No operator is leader: nothing renews the Lease',
    ],
    [
      lease('2026-03-01T11:59:59Z', ''),
      'No operator is leader: nothing renews the Lease',
    ],
    [
      lease('2026-03-01T11:59:59.000000Z'),
      'An operator is leader, but no roll-up with this request was acknowledged',
    ],
  ])('a request that waits long with the Lease %j: %s', (leases, why) => {
    const explained = explain(request({ phase: 'Pending' }, {}, '2026-03-01T11:00:00Z'), leases);
    expect(explained).toMatchObject({ why, canAct: 'platform' });
    expect(explained.action).not.toBe('');
  });

  test('an invalid request names its field and the remedy, for the application to fix', () => {
    const explained = explain(request({ phase: 'Pending' }, { resources: { cpu: 'four' } }));
    expect(explained).toMatchObject({
      why: 'It is invalid, so the fleet is not asked for it',
      canAct: 'application',
      problems: [{ field: 'spec.resources["cpu"]' }],
    });
  });

  test('wire 5: a request that became invalid keeps its last valid spec', () => {
    const explained = explain(
      request({ phase: 'Acknowledged' }, { interruptionPenalty: '-1' }),
    );
    expect(explained.why).toContain('the fleet is still asked for its last valid spec');
    expect(explained.problems[0]?.field).toBe('spec.interruptionPenalty');
  });

  test('terms are shown as the operator reads them', () => {
    const explained = explain(request({ phase: 'Acknowledged' }, {
      requirements: [{ key: 'zone', operator: 'In', values: ['b', 'a'] }],
      topologySpread: [{
        topologyKey: 'zone',
        maxSkew: 1,
        whenUnsatisfiable: 'DoNotSchedule',
      }],
      coLocation: { topologyKey: 'rack', labelSelector: { matchLabels: { app: 'db' } } },
    }));
    expect(explained.details).toEqual(expect.arrayContaining([
      { name: 'Requirement', value: 'zone In a, b' },
      { name: 'Requirement', value: 'rack Same' },
      { name: 'Spread', value: 'over zone, at most 1 apart' },
      { name: 'Co-located', value: 'with all requests of its group' },
    ]));
  });

  test.each([
    ['0', 'for $0'],
    ['500m', 'for up to $0.50'],
    ['0.51', 'for up to $1'],
    ['8000', 'for up to $8,192'],
    ['20M', 'never, its penalty exceeds all buckets'],
  ])('a penalty of %s is shown as its bucket: %s', (penalty, words) => {
    const explained = explain(
      request({}, { interruptionPenalty: penalty, reclamationPenalty: penalty }),
    );
    expect(explained.details).toContainEqual({ name: 'Interrupted', value: words });
    expect(explained.details).toContainEqual({ name: 'Reclaimed', value: words });
  });

  test('any JSON has an explanation', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (object, events) => {
        const explained = explainCapacityRequest({
          request: object,
          events: [events],
          leases: events,
          nowMs,
        });
        explanationText(explained, { nowMs, colors: false });
      }),
      { numRuns: 2000 },
    );
  });
});

test('explanationText prints sentences, fields to correct, details and events', () => {
  const events = {
    items: [
      {
        reportingController: 'default-scheduler',
        type: 'Normal',
        reason: 'Older',
        note: 'An older note',
        eventTime: '2026-03-01T11:00:00.000000Z',
      },
      {
        reportingController: 'tidegate.dev/operator',
        type: 'Warning',
        reason: 'InvalidCapacityRequest',
        note: 'spec.resources["cpu"] is no quantity\u001b[2J',
        eventTime: '2026-03-01T11:30:00.000000Z',
        series: { count: 4, lastObservedTime: '2026-03-01T11:58:00.000000Z' },
      },
    ],
  };
  const explained = explainCapacityRequest({
    request: request({ phase: 'Pending' }, { resources: { cpu: 'four' } }),
    events: [events],
    leases: undefined,
    nowMs,
  });
  expect(explanationText(explained, { nowMs, colors: false })).toMatchInlineSnapshot(`
    "CapacityRequest team-a/batch-7: Pending
      What       Capacity that this cluster requests from the fleet
      Why        It is invalid, so the fleet is not asked for it
      Waits for  A correction of the fields below
      Can act    The owner of the application: Correct the fields below
      Runbook    https://tidegate.dev/docs/runbooks.md#invalid-capacity-request

    Fields to correct
      spec.resources["cpu"] is "four", which is not a number with a suffix. Give a quantity such as "1500m" or "2Gi"

    Details
      Created   10s ago
      For pod   pod-uid
      Asks for  cpu four
      Priority  1000

    Events, newest first
      2m ago  Warning InvalidCapacityRequest (4 times): spec.resources["cpu"] is no quantity�[2J
      1h ago  Normal Older from "default-scheduler": An older note
    "
  `);
});
