/** What is recorded of a session: its ends, its state, its transport, and an outage. */
import { expect, test } from 'vitest';
import {
  outageRecorder,
  recordEnding,
  reportTransport,
  sampledLogger,
  stateRecorder,
} from '../../../src/actors/fleet-session/session-events.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import type { SessionEnding } from '../../../src/domain/session.ts';

/** A telemetry with what it received, and the Events on the Lease. */
const receivers = () => {
  const logged: unknown[] = [];
  const counted: unknown[] = [];
  const gauges = new Map<string, number>();
  const recorded: string[] = [];
  const telemetry: Telemetry = {
    ...silentTelemetry,
    log: (level, message, fields) => logged.push([level, message, fields]),
    count: (name, by, ...[labels]) => counted.push([name, by, labels]),
    gauge: (name, value, ...[labels]) => {
      gauges.set([name, ...Object.values(labels ?? {})].join(' '), value);
    },
  };
  const record = (reason: string, note: string) => void recorded.push(`${reason}: ${note}`);
  return { logged, counted, gauges, recorded, telemetry, record };
};

test('wire 7: each end is counted and logged, a refusal as an error', () => {
  const { logged, counted, telemetry } = receivers();
  const ends: readonly SessionEnding[] = [
    { why: 'Unreachable', detail: 'UNAVAILABLE' },
    { why: 'RefusedByShard', detail: 'another session' },
    { why: 'CredentialsRefused', detail: 'expired' },
    { why: 'EndedByShard', detail: 'goes down' },
  ];
  ends.forEach((ending, attempt) => recordEnding({ telemetry }, ending, attempt));
  expect(counted).toEqual(ends.map(({ why }) => [
    'tidegate_session_endings_total',
    1,
    { cause: why },
  ]));
  expect(logged).toEqual(
    ends.map(({ why, detail }, attempt) =>
      why === 'Unreachable' || why === 'EndedByShard'
        ? ['warn', 'Session ended', { cause: why, detail, attempt }]
        : ['error', 'Session refused', { cause: why, detail, attempt }]
    ),
  );
});

test('wire 7: a refusal is recorded each time, with its own words; its end is one Event', () => {
  const { recorded, record } = receivers();
  const outage = outageRecorder('shard:7780', record);
  outage.refused({ why: 'CredentialsRefused', detail: 'no file' });
  outage.refused({ why: 'CredentialsRefused', detail: 'expired' });
  outage.refused({ why: 'RefusedByShard', detail: 'unknown cluster' });
  outage.refused({ why: 'RefusedByShard', detail: 'unknown cluster' });
  outage.reachable();
  outage.reachable();
  const refused = (part: string) => expect.stringMatching(`^SessionRefused: .*${part}`);
  expect(recorded).toEqual([
    refused('the key pair cannot be used \\(no file\\)'),
    refused('the key pair cannot be used \\(expired\\)'),
    refused('it refuses this cluster \\(unknown cluster\\)'),
    refused('it refuses this cluster \\(unknown cluster\\)'),
    'ShardReachable: The shard at "shard:7780" acknowledges roll-ups again',
  ]);
});

test('wire 7: an outage has the note of its first end for each cause; its end is one Event', () => {
  const { recorded, record } = receivers();
  const outage = outageRecorder('shard:7780', record);
  outage.reachable();
  expect(recorded, 'no outage came before').toEqual([]);
  outage.unreachable({ why: 'EndedByShard', detail: 'first' });
  outage.unreachable({ why: 'EndedByShard', detail: 'second' });
  outage.unreachable({ why: 'DialOverdue', detail: 'third' });
  outage.reachable();
  outage.reachable();
  outage.unreachable({ why: 'EndedByShard', detail: 'fourth' });
  const parts = ['(first)', '(first)', '(third)', 'ShardReachable', '(fourth)'];
  expect(recorded).toEqual(parts.map((part) => expect.stringContaining(part)));
});

test('the state of the session is a gauge, and each change is logged once', () => {
  const { logged, gauges, telemetry } = receivers();
  const show = stateRecorder({ telemetry });
  for (const state of ['standby', 'standby', 'dialling', 'dialling']) show(state);
  expect(logged).toEqual([
    ['info', 'Session state changed', { from: 'standby', to: 'dialling' }],
  ]);
  expect([
    gauges.get('tidegate_session_state standby'),
    gauges.get('tidegate_session_state dialling'),
  ]).toEqual([0, 1]);
});

test('wire 8: a session without TLS is logged and shown', () => {
  const secured = receivers();
  reportTransport(secured, true);
  const plain = receivers();
  reportTransport(plain, false);
  const metric = 'tidegate_session_plaintext';
  expect([secured.gauges.get(metric), plain.gauges.get(metric)]).toEqual([0, 1]);
  expect([secured.logged.length, plain.logged.length]).toEqual([0, 1]);
});

test('of equal warnings the first 20 are logged, then one in 1000; other lines always', () => {
  const { logged, telemetry } = receivers();
  const { log } = sampledLogger(telemetry);
  for (let times = 1; times <= 2000; times += 1) log('warn', 'same', { field: 1 });
  const numbers = [...Array.from({ length: 20 }, (_, at) => at + 1), 1000, 2000];
  expect(logged).toEqual(numbers.map((times) => ['warn', 'same', { field: 1, times }]));
  logged.splice(0);
  log('warn', 'another');
  for (let times = 1; times <= 30; times += 1) log('info', 'same');
  expect(logged).toHaveLength(31);
});
