/** One operator over roles that record their calls. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { startOperator } from '../../../src/actors/operator.ts';
import {
  type Role,
  type RoleContext,
  roleDefaults,
  type RoleStart,
  STARTED,
} from '../../../src/actors/role.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { LEASE_TIMES } from '../../support/api/lease-times.ts';
import { identityOf } from '../../../src/domain/object-meta.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { Events } from '../../../src/effects/events.ts';
import { KubeApi, NotSent } from '../../../src/effects/kube-api.ts';
import { writeGate } from '../../../src/effects/write-gate.ts';
import { leaseApi } from '../../support/api/lease-api.ts';
import { scriptedApi } from '../../support/api/scripted-api.ts';

const VERSION = { status: 200, body: { gitVersion: 'v1.36.3', major: '1', minor: '36' } };

/** The differences of one synthetic role. */
interface Differences {
  readonly start?: RoleStart;
  readonly discovers?: boolean;
  readonly reads?: readonly string[];
  readonly ready?: string;
  readonly notice?: string;
}

/** A process whose roles are created by name; `log` records all their calls. */
const startProcess = (
  names: Readonly<Record<string, Differences>>,
  isAway: () => boolean = () => false,
) => {
  const time = simulatedTime();
  const lease = leaseApi();
  const client = lease.client();
  const things = scriptedApi();
  const isThing = (path: string): boolean => path.startsWith('/thing');
  const kube: KubeApi['Service'] = {
    call: (call) => {
      if (call.path === '/version') {
        return isAway() ? Effect.fail(new NotSent({ why: 'away' })) : Effect.succeed(VERSION);
      }
      return (isThing(call.path) ? things : client).service.call(call);
    },
    watch: (call) => (isThing(call.path) ? things : client).service.watch(call),
  };
  const recorded: string[] = [];
  const events = Layer.succeed(Events, {
    write: ({ reason, note, count }) => {
      recorded.push(`${reason} ${count}: ${note}`);
      return Effect.succeed('written' as const);
    },
  });
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(Layer.succeed(KubeApi, kube), writeGate(time), events, clockLayer(time)),
  );
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  const log: string[] = [];
  const roleOf = (name: string, given: Differences, { informers }: RoleContext): Role => {
    const logs = (word: string) => () => void log.push(`${name} ${word}`);
    const logsAsync = (word: string) => () => Promise.resolve(logs(word)());
    const read = (given.reads ?? []).map((id) =>
      informers.collection({ id, path: `/${id}`, project: identityOf })
    );
    return {
      ...roleDefaults(name, read),
      start: () => {
        logs('starts')();
        return Promise.resolve(given.start ?? STARTED);
      },
      ...(given.discovers === true
        ? {
          discover: () => {
            logs('discovers')();
            return Promise.resolve(STARTED);
          },
        }
        : {}),
      onLeading: logs('leads'),
      onLeadershipLost: logs('leads no more'),
      close: logsAsync('closes'),
      stop: logsAsync('stops'),
      dispose: logsAsync('is disposed of'),
      ...(given.notice === undefined
        ? {}
        : { notices: [{ name: `${name} peer`, failing: () => given.notice }] }),
      ...(given.ready === undefined ? {} : { ready: () => given.ready }),
    };
  };
  const operator = startOperator(environment, {
    lease: { identity: 'process-1', namespace: 'ns', name: 'l', ...LEASE_TIMES },
    roles: (context) => Object.entries(names).map(([name, given]) => roleOf(name, given, context)),
  });
  onTestFinished(async () => {
    operator.actor.stop();
    await runtime.dispose();
  });
  const stopped = async () => {
    const done = operator.stop();
    await time.advance(1000);
    await done;
  };
  return { time, lease, things, client, operator, log, recorded, stopped };
};

describe('an operator', () => {
  test('starts every role, and lets them lead in list order', async () => {
    const { time, operator, log } = startProcess({ one: {}, two: {} });
    await time.settle();
    expect(operator.roles).toEqual(['one', 'two']);
    expect(log).toEqual(['one starts', 'two starts', 'one leads', 'two leads']);
  });

  test('asks for what is served once the API server has answered, and before a role leads', async () => {
    let isAway = true;
    const { time, log } = startProcess({ one: { discovers: true } }, () => isAway);
    await time.advance(20_000);
    expect(log).toEqual(['one starts']);
    isAway = false;
    await time.advance(60_000);
    expect(log).toEqual(['one starts', 'one discovers', 'one leads']);
  });

  test('DR-15: closes roles, stops them, releases the lease, and disposes of them', async () => {
    const { time, lease, log, stopped } = startProcess({ one: {}, two: {} });
    await time.settle();
    log.splice(0);
    await stopped();
    expect(log).toEqual([
      'one closes',
      'two closes',
      'one stops',
      'two stops',
      'one is disposed of',
      'two is disposed of',
    ]);
    expect(lease.holder()).toBe('');
  });

  test('notifies every role in list order of lost leadership, and leads again', async () => {
    const { time, lease, log } = startProcess({ one: {}, two: {} });
    await time.settle();
    log.splice(0);
    lease.overwrite({ holderIdentity: 'stranger', leaseDurationSeconds: 15 });
    await time.advance(2000);
    expect(log).toEqual(['one leads no more', 'two leads no more']);
    await time.advance(16_000);
    expect(log.slice(2)).toEqual(['one leads', 'two leads']);
  });

  test('ends when a role cannot start, with its problem', async () => {
    const start: RoleStart = { _tag: 'Refused', problem: 'Cannot use the file "x": it is bad' };
    const { operator, log } = startProcess({ one: {}, two: { start } });
    expect(await operator.done).toEqual({
      _tag: 'Unsupported',
      why: 'Cannot use the file "x": it is bad',
    });
    expect(log.slice(2)).toEqual(['one is disposed of', 'two is disposed of']);
  });

  test('starts roles once, however often the cluster is retried', async () => {
    const { time, client, log } = startProcess({ one: {} });
    client.meets('unreachable');
    await time.advance(60_000);
    expect(log).toEqual(['one starts']);
  });

  test('does not request the lease before every list of every role is complete', async () => {
    const rig = startProcess({ one: { reads: ['things'] }, two: { reads: ['things'] } });
    const held = rig.things.holdPages();
    await rig.time.advance(10_000);
    expect([rig.lease.holder(), rig.log]).toEqual(['', ['one starts', 'two starts']]);
    held.release();
    await rig.time.settle();
    expect(rig.lease.holder()).toBe('process-1');
  });

  test('watches a collection once, however many roles read it', async () => {
    const { time, things } = startProcess({
      one: { reads: ['things'] },
      two: { reads: ['things'] },
    });
    await time.settle();
    expect(things.openWatches()).toBe(1);
  });

  // A watch that was asked for in an outage stayed unanswered for 30 s, a list for a minute.
  test('opens a lost watch again after an outage in which it keeps the lease', async () => {
    const { time, client, things, log } = startProcess({ one: { reads: ['things'] } });
    await time.settle();
    things.bookmark();
    await time.settle();
    things.refuseWatches('lost');
    things.endWatches('eof');
    client.meets('unreachable');
    await time.advance(4000);
    client.meets('fair');
    await time.advance(2000);
    expect(things.watches.length).toBe(2);
    await time.advance(5000);
    expect(things.watches.length).toBe(3);
    expect(log).toEqual(['one starts', 'one leads']);
  });

  test('records on the Lease that a collection is refused, once per incident and as leader', async () => {
    const { time, lease, things, recorded } = startProcess({ one: { reads: ['things'] } });
    const note = 'Cannot list or watch "things": refused';
    const refuse = async (times: number) => {
      things.bookmark();
      await time.settle();
      things.refuseWatches(...Array.from({ length: times }, () => ({ status: 403 })));
      things.endWatches('eof');
      await time.settle();
    };
    await time.settle();
    await refuse(3);
    await time.advance(2 * 60_000);
    expect(recorded).toEqual([`CollectionRefused 1: ${note}`]);
    await refuse(1);
    await time.advance(2 * 60_000);
    expect(recorded.slice(1), 'an equal one is a repeat').toEqual([`CollectionRefused 2: ${note}`]);
    things.bookmark();
    lease.overwrite({ holderIdentity: 'stranger', leaseDurationSeconds: 15 });
    await time.advance(2000);
    await refuse(100);
    expect(recorded.length).toBe(2);
    await time.advance(60_000);
    expect(recorded.slice(2)).toEqual([`CollectionRefused 3: ${note}`]);
  });

  test('is ready when every role is', async () => {
    const rig = startProcess({ one: { reads: ['things'] }, two: { ready: 'waits' } });
    const held = rig.things.holdPages();
    await rig.time.settle();
    const failing = () =>
      rig.operator.checks.map(({ name, failing: why }) => `${name}: ${why() ?? 'ready'}`);
    expect(failing()).toEqual([
      'cluster: ready',
      'one: initial list incomplete: things',
      'two: waits',
      'lease: ready',
    ]);
    held.release();
    await rig.time.settle();
    expect(failing()).toEqual(['cluster: ready', 'one: ready', 'two: waits', 'lease: ready']);
  });

  test('shows the notices of its roles and is ready without them', async () => {
    const { time, operator } = startProcess({ one: { notice: 'out of reach' } });
    await time.settle();
    expect(operator.checks.map(({ name, isNotice, failing }) => [name, isNotice, failing()]))
      .toEqual([
        ['cluster', undefined, undefined],
        ['one', undefined, undefined],
        ['one peer', true, 'out of reach'],
        ['lease', true, undefined],
      ]);
  });

  test('is alive while its statechart runs and its lease is renewed', async () => {
    const { time, operator } = startProcess({ one: {} });
    await time.settle();
    expect(operator.liveChecks.map(({ name, failing }) => [name, failing()]))
      .toEqual([['operator', undefined], ['lease', undefined]]);
  });
});
