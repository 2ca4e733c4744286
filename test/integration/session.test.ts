/** The session over real gRPC, with a scripted shard in its own process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Effect, Layer, ManagedRuntime } from 'effect';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type FleetSession,
  startFleetSession,
} from '../../src/actors/fleet-session/fleet-session.ts';
import type { FleetSessionOptions } from '../../src/actors/fleet-session/fleet-session-actor.ts';
import { sessionStateName } from '../../src/actors/fleet-session/session-events.ts';
import { makeActorEnvironment } from '../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import type { Need } from '../../src/domain/demand/need.ts';
import type { ShardEvent } from '../../src/domain/frames.ts';
import { clusterId, instructionId } from '../../src/domain/ids.ts';
import type { Time } from '../../src/domain/time.ts';
import {
  type CredentialFiles,
  credentialReader,
  Credentials,
} from '../../src/effects/credentials.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { shardCallsLayer } from '../../src/effects/shard-call.ts';
import { accepts } from '../../tools/testbed/ports.ts';
import { eventually } from '../support/eventually.ts';
import { countDials } from '../support/fleet/dial-counter.ts';
import { type ShardProcess, type ShardSetup, startShard } from '../support/fleet/shard-process.ts';
import { newAuthority, type Pair } from '../support/processes/certificates.ts';

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

const shardOf = async (setup?: Partial<ShardSetup>): Promise<ShardProcess> => {
  const shard = await startShard(setup);
  endings.push(() => shard.kill('SIGKILL'));
  return shard;
};

/** It cancels a stream that is half-closed after four seconds. */
const UNHURRIED: Time = {
  ...realTime,
  schedule: (delayMs, run) => realTime.schedule(10 * delayMs, run),
};

const session = (
  address: string,
  options: Partial<FleetSessionOptions> = {},
  time: Time = realTime,
) => {
  let readings = 0;
  const counted = Effect.tap(Effect.sync(() => {
    readings += 1;
  }));
  const read = credentialReader();
  const credentials = Layer.succeed(Credentials, {
    read: (files, cluster) => read(files, cluster).pipe(counted),
  });
  const runtime = ManagedRuntime.make(Layer.merge(shardCallsLayer, credentials));
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 7,
  });
  const shardEvents: ShardEvent[] = [];
  const refusals: string[] = [];
  const started = startFleetSession(environment, {
    clusterId: clusterId('prod-1'),
    address,
    rollupIntervalMs: 60_000,
    render: ({ requestId }) => ({ _tag: 'Rendered', userData: `#cloud-config ${requestId}` }),
    record: (reason, note) => refusals.push(`${reason}: ${note}`),
    ...options,
  });
  started.shardEvents.subscribe((one) => shardEvents.push(one));
  started.demandListed();
  started.setLeading(true);
  endings.push(async () => {
    await started.stop();
    await runtime.dispose();
  });
  /** Waits until the key files were read so many times more. */
  const readAgain = (times: number): Promise<unknown> => {
    const until = readings + times;
    return isTrue('the key files to be read', () => readings >= until);
  };
  return { session: started, shardEvents, refusals, readAgain };
};

const stateOf = ({ actor }: FleetSession): string =>
  actor === undefined ? 'ended' : sessionStateName(actor.getSnapshot());
const isTrue = (what: string, look: () => boolean): Promise<unknown> =>
  eventually(() => Promise.resolve(look()), { what });

const need = (key: string, group = ''): Need => ({
  key,
  requirements: [],
  aggregateResources: { cpu: '1' },
  minUnit: { cpu: '1' },
  priority: 0,
  spread: [],
  interruptionBucket: 0,
  reclamationBucket: 0,
  group,
  requests: 1,
});
const rollup = (number: number, needs: readonly Need[] = [need('a')]) => ({
  number,
  builtAtMs: 1000 + number,
  needs,
  unacknowledged: [],
});

/** Up to an acked Hello on stream `stream`. */
const greeted = async (shard: ShardProcess, stream = 1): Promise<void> => {
  await shard.message(stream, 'hello');
  shard.send(stream, { case: 'ack', value: { echo: 'hello' } });
};

describe('session over gRPC', () => {
  test('wire 1: Hello is sent first, then one roll-up at a time, each acked', async () => {
    const shard = await shardOf();
    const { session: started, shardEvents } = session(shard.address);
    await greeted(shard);
    await isTrue('the stream to open', () => shardEvents.length > 0);
    started.offerRollup(rollup(1));
    await shard.message(1, 'rollup');
    started.offerRollup(rollup(2));
    started.offerRollup(rollup(3));
    shard.send(1, { case: 'ack', value: { echo: 'rollup' } });
    const second = await shard.message(1, 'rollup', 1);
    expect(second).toMatchObject({ value: { timestampUnixNanos: 1_003_000_000n } });
    expect(shard.received().map(({ payload }) => payload.case)).toEqual([
      'hello',
      'rollup',
      'rollup',
    ]);
    expect(shardEvents.map(({ _tag }) => _tag)).toEqual(['StreamOpened', 'Resynced']);
  });

  test('20,000 frames are read while the shard reads nothing', async () => {
    const shard = await shardOf();
    const { session: started, shardEvents } = session(shard.address);
    await greeted(shard);
    await isTrue('the stream to open', () => shardEvents.length > 0);
    shard.command({ command: 'pause', stream: 1 });
    started.offerRollup(rollup(1, [need('large', 'g'.repeat(32 * 1024 * 1024))]));
    for (let index = 0; index < 300; index += 1) {
      started.reply({
        _tag: 'ReclaimAcknowledged',
        instructionId: instructionId(`i-${index}`),
        nodesStarted: 1,
      });
    }
    shard.send(1, { case: 'nodeStateUpdate', value: { machineId: 'm-1', state: 5 } }, 20_000);
    await isTrue('all frames', () => shardEvents.length === 20_001);
    shard.command({ command: 'resume', stream: 1 });
    const large = await shard.message(1, 'rollup');
    expect(large.case === 'rollup' && large.value.needs[0]?.group.length).toBe(32 * 1024 * 1024);
  });

  test('wire 9: a pull is answered while a large roll-up is on its way', async () => {
    const shard = await shardOf();
    const { session: started, shardEvents } = session(shard.address);
    await greeted(shard);
    await isTrue('the stream to open', () => shardEvents.length > 0);
    started.offerRollup(rollup(1, [need('large', 'g'.repeat(16 * 1024 * 1024))]));
    shard.send(1, { case: 'bootstrapRequest', value: { requestId: 'r-1', clusterId: 'prod-1' } });
    expect(await shard.message(1, 'bootstrapResponse')).toMatchObject({
      value: { requestId: 'r-1', ttlSeconds: 600n, error: '' },
    });
  });

  test('wire 7: a shard that is killed and restarted is found again', async () => {
    const shard = await shardOf();
    const { session: started, shardEvents } = session(shard.address);
    await greeted(shard);
    await isTrue('the stream to open', () => shardEvents.length === 1);
    await shard.kill('SIGKILL');
    await isTrue('the end to be noticed', () => shardEvents.length === 2);
    const again = await shardOf({ port: shard.port });
    await greeted(again);
    await isTrue('the second stream', () => stateOf(started) === 'streaming');
    expect(shardEvents.map(({ _tag }) => _tag)).toEqual([
      'StreamOpened',
      'StreamEnded',
      'StreamOpened',
    ]);
  });

  test('a refusal by the shard is reported with its message', async () => {
    const shard = await shardOf();
    const { session: started, refusals } = session(shard.address);
    await shard.message(1, 'hello');
    shard.command({ command: 'end', stream: 1, code: 7, details: 'cluster "prod-1" is not yours' });
    await isTrue('the refusal', () => stateOf(started) === 'refused');
    expect(refusals).toEqual([
      expect.stringMatching(/^SessionRefused: .*PERMISSION_DENIED: cluster "prod-1" is not yours/),
    ]);
  });

  test('a stop half-closes and leaves nothing open', async () => {
    const shard = await shardOf();
    const { session: started, shardEvents } = session(shard.address, {}, UNHURRIED);
    await greeted(shard);
    await isTrue('the stream to open', () => shardEvents.length === 1);
    await started.stop();
    await shard.event(({ event }) => event === 'halfClosed');
    await shard.event(({ event }) => event === 'cancelled');
  });
});

describe('session over mutual TLS', () => {
  const ca = newAuthority();
  const server = (...names: readonly string[]) => ({
    tls: {
      ...ca.issue({ commonName: 'shard', alternativeNames: names }),
      authority: ca.certificate,
    },
  });
  const issued = (...uris: readonly string[]): Pair =>
    ca.issue({
      commonName: 'operator',
      alternativeNames: uris.map((uri) => `URI:bigfleet://cluster/${uri}`),
    });

  const keyFiles = (pair: Pair, authority = ca.certificate) => {
    const folder = mkdtempSync(join(tmpdir(), 'tidegate-session-'));
    endings.push(() => Promise.resolve(rmSync(folder, { recursive: true })));
    const files: CredentialFiles = {
      certificate: join(folder, 'tls.crt'),
      key: join(folder, 'tls.key'),
      authority: join(folder, 'ca.crt'),
    };
    const write = ({ certificate, key }: Pair): void => {
      writeFileSync(files.certificate, certificate);
      writeFileSync(files.key, key);
    };
    write(pair);
    writeFileSync(files.authority, authority);
    return { files, write };
  };
  const FAST = { credentialsPollMs: 20 };

  test('wire 8: the right SAN is accepted, by host name and by address', async () => {
    const shard = await shardOf(server('DNS:localhost', 'IP:127.0.0.1'));
    const { files } = keyFiles(issued('prod-1'));
    for (const [stream, address] of [[1, `localhost:${shard.port}`], [2, shard.address]] as const) {
      const { session: started } = session(address, { credentialFiles: files, ...FAST });
      await greeted(shard, stream);
      await isTrue(`a stream to ${address}`, () => stateOf(started) === 'streaming');
    }
    const opened = shard.events.flatMap((one) => one.event === 'opened' ? [one.certificate] : []);
    expect(opened).toEqual(Array(2).fill('URI:bigfleet://cluster/prod-1'));
  });

  test('wire 8: the shard is verified by the host of a gRPC target, whatever its scheme', async () => {
    const shard = await shardOf(server('DNS:localhost', 'IP:127.0.0.1'));
    const { files } = keyFiles(issued('prod-1'));
    const targets = [
      `dns:///localhost:${shard.port}`,
      `dns:localhost:${shard.port}`,
      `dns:///127.0.0.1:${shard.port}`,
      `ipv4:127.0.0.1:${shard.port},127.0.0.2:${shard.port}`,
    ];
    for (const [index, address] of targets.entries()) {
      const { session: started } = session(address, { credentialFiles: files, ...FAST });
      await greeted(shard, index + 1);
      await isTrue(`a stream to ${address}`, () => stateOf(started) === 'streaming');
    }
  });

  test('wire 8: a wrong SAN and two SANs are refused before dialling, once and clearly', async () => {
    const shard = await shardOf(server('DNS:localhost'));
    for (const uris of [['prod-2'], ['prod-1', 'prod-2']]) {
      const { session: started, refusals, readAgain } = session(`localhost:${shard.port}`, {
        credentialFiles: keyFiles(issued(...uris)).files,
        ...FAST,
      });
      await isTrue('the refusal', () => refusals.length > 0);
      await readAgain(5);
      expect([stateOf(started), refusals.length]).toEqual(['refused', 1]);
      expect(refusals[0]).toMatch(/is for "bigfleet:\/\/cluster\/prod-2"|has 2 bigfleet URI SANs/);
    }
    expect(shard.events.filter(({ event }) => event === 'opened')).toEqual([]);
  });

  test('wire 8: a shard with another name or another authority is refused', async () => {
    const elsewhere = await shardOf(server('DNS:elsewhere.example', 'IP:10.0.0.1'));
    const stranger = newAuthority('stranger');
    const { files } = keyFiles(issued('prod-1'));
    const { files: trusting } = keyFiles(issued('prod-1'), stranger.certificate);
    const cases = [
      [elsewhere.address, files, /IP: 127\.0\.0\.1 is not in the cert's list/],
      [`localhost:${elsewhere.port}`, files, /localhost.* is not in the cert's altnames/],
      [`dns:///localhost:${elsewhere.port}`, files, /localhost.* is not in the cert's altnames/],
      [`ipv4:127.0.0.1:${elsewhere.port}`, files, /IP: 127\.0\.0\.1 is not in the cert's list/],
      [elsewhere.address, trusting, /unable to verify|self-signed certificate/],
    ] as const;
    for (const [address, credentialFiles, words] of cases) {
      const { session: started } = session(address, { credentialFiles, ...FAST });
      const ending = () => started.actor?.getSnapshot().context.ending;
      await isTrue('the ending', () => ending() !== null);
      expect(ending()).toMatchObject({ why: 'Unreachable', detail: expect.stringMatching(words) });
    }
    expect(elsewhere.events.filter(({ event }) => event === 'opened')).toEqual([]);
  });

  test('wire 7: a failed dial makes no further connection', async () => {
    const shard = await shardOf(server('DNS:localhost', 'IP:127.0.0.1'));
    const counter = await countDials(shard.port);
    const { files } = keyFiles(issued('prod-1'), newAuthority('stranger').certificate);
    vi.useFakeTimers({ toFake: ['setTimeout'], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    const { session: started } = session(counter.address, { credentialFiles: files, ...FAST });
    const ending = () => started.actor?.getSnapshot().context.ending;
    await isTrue('the first ending', () => ending() !== null);
    await started.stop();
    const dials = counter.dials();
    // The channel's own first backoff takes a second.
    await vi.advanceTimersByTimeAsync(60_000);
    // Other dials in between are counted first.
    expect(await accepts(counter.port)).toBe(true);
    await isTrue('our own dial to be counted', () => counter.dials() > dials);
    expect(counter.dials() - dials).toBe(1);
  });

  test('wire 8: certificates are rotated under load without losing the stream', async () => {
    const shard = await shardOf(server('DNS:localhost'));
    const [first, second] = [issued('prod-1'), issued('prod-1')];
    const { files, write } = keyFiles(first);
    const { session: started, shardEvents, readAgain } = session(`localhost:${shard.port}`, {
      credentialFiles: files,
      ...FAST,
    });
    await greeted(shard);
    await isTrue('the stream to open', () => shardEvents.length > 0);
    const update = { case: 'nodeStateUpdate', value: { machineId: 'm', state: 5 } } as const;
    shard.send(1, update, 5000);
    writeFileSync(files.key, second.key);
    await readAgain(2);
    write(second);
    await readAgain(2);
    shard.send(1, update, 5000);
    await isTrue('all frames', () => shardEvents.length === 10_001);
    expect([stateOf(started), started.actor?.getSnapshot().context.stream]).toEqual([
      'streaming',
      1,
    ]);
  });
});
