/**
 * The stand-in fleet over real sockets, in its own process, with another gRPC library as the
 * client.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { STATUS } from '../../packages/stand-in-fleet/src/session.ts';
import { cpus } from '../../packages/stand-in-fleet/test/fleet-cluster.ts';
import { GrpcCluster, type GrpcDial, inspectNeeds } from '../support/fleet/grpc-cluster.ts';
import { type Authority, newAuthority, type Pair } from '../support/processes/certificates.ts';
import {
  type FleetOptions,
  type FleetProcess,
  startFleet,
} from '../support/processes/fleet-process.ts';

const opened: GrpcCluster[] = [];
const folders: string[] = [];
afterEach(() => {
  for (const cluster of opened.splice(0)) cluster.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const dial = (fleet: FleetProcess, how: GrpcDial = {}): GrpcCluster => {
  const cluster = new GrpcCluster(fleet.address, how);
  opened.push(cluster);
  return cluster;
};

const scratch = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-fleet-'));
  folders.push(folder);
  return folder;
};

describe('fleet over gRPC', () => {
  test('serves a session from hello to a running machine', async () => {
    const fleet = await startFleet();
    const cluster = dial(fleet).hello('prod');
    await cluster.frames('ack', 1);
    cluster.send({ case: 'rollup', value: { clusterId: 'prod', needs: [cpus(1)] } });
    const [pull] = await cluster.frames('bootstrapRequest', 1);
    if (pull?.payload.case !== 'bootstrapRequest') throw new Error('No pull');
    const { requestId } = pull.payload.value;
    cluster.send({ case: 'bootstrapResponse', value: { requestId, ttlSeconds: 600n } });
    const updates = await cluster.frames('nodeStateUpdate', 2);
    expect(updates.at(-1)?.payload).toMatchObject({ value: { state: 5 } });
    const [header, need] = await inspectNeeds(fleet.address, 'prod');
    expect(header?.payload).toMatchObject({ case: 'header', value: { totalNeeds: 1 } });
    expect(need?.payload).toMatchObject({ case: 'need', value: { clusterId: 'prod' } });
    cluster.halfClose();
    expect((await cluster.end()).code).toBe(0);
  });

  test('refuses a stream that does not begin with hello as INVALID_ARGUMENT', async () => {
    const cluster = dial(await startFleet());
    cluster.send({ case: 'reclaimAck', value: {} });
    expect((await cluster.end()).code).toBe(STATUS.INVALID_ARGUMENT);
  });

  test('takes and gives frames of megabytes', async () => {
    const fleet = await startFleet();
    const cluster = dial(fleet).hello('prod');
    const group = 'x'.repeat(40 * 1024 * 1024);
    cluster.send({ case: 'rollup', value: { clusterId: 'prod', needs: [cpus(1, { group })] } });
    await cluster.frames('ack', 2);
    await fleet.script('POST', '/frames', { cluster: 'prod', odd: 'enormous-labels' });
    const isEnormous = (): boolean =>
      cluster.received.some(({ payload }) =>
        payload.case === 'nodeStateUpdate' && payload.value.machineId === 'odd-labels'
      );
    await cluster.frames('nodeStateUpdate', 2);
    expect(isEnormous()).toBe(true);
  });

  test('throws a client out that pings more often than every five minutes', async () => {
    const fleet = await startFleet();
    const cluster = dial(fleet, {
      options: {
        'grpc.keepalive_time_ms': 1000,
        'grpc.keepalive_timeout_ms': 1000,
        'grpc.keepalive_permit_without_calls': 1,
      },
    }).hello('prod');
    expect([STATUS.RESOURCE_EXHAUSTED, STATUS.UNAVAILABLE]).toContain((await cluster.end()).code);
  });

  test('restores its machines after it was killed', async () => {
    const bindingsFile = join(scratch(), 'bindings');
    const fleet = await startFleet({ bindingsFile });
    await fleet.script('POST', '/mass', {
      cluster: 'prod',
      count: 500,
      states: ['CONFIGURING', 'CONFIGURED'],
    });
    const cluster = dial(fleet).hello('prod');
    await cluster.frames('nodeStateUpdate', 500);
    fleet.signal('KILL');
    await fleet.exited;
    expect((await cluster.end()).code).toBe(STATUS.UNAVAILABLE);
    const again = dial(await startFleet({ bindingsFile, ports: fleet.ports })).hello('prod');
    expect(await again.frames('nodeStateUpdate', 500)).toHaveLength(500);
  });
});

describe('fleet over mutual TLS', () => {
  const secured = (authority: Authority): Promise<FleetProcess> => {
    const folder = scratch();
    const { certificate, key } = authority.issue({
      commonName: 'fleet',
      alternativeNames: ['DNS:localhost', 'IP:127.0.0.1'],
    });
    const flags: Record<string, string> = {};
    for (
      const [name, pem] of Object.entries({ cert: certificate, key, ca: authority.certificate })
    ) {
      const path = join(folder, `${name}.pem`);
      writeFileSync(path, pem);
      flags[`tls-${name}`] = path;
    }
    const options: FleetOptions = { flags };
    return startFleet(options);
  };
  const pairOf = ({ certificate: ca }: Authority, { certificate, key }: Pair): GrpcDial => ({
    pair: { ca, certificate, key },
  });

  test('serves the cluster that its certificate names, and no other', async () => {
    const authority = newAuthority();
    const fleet = await secured(authority);
    const issue = (...alternativeNames: readonly string[]): GrpcDial =>
      pairOf(authority, authority.issue({ commonName: 'operator', alternativeNames }));
    const prod = 'URI:bigfleet://cluster/prod';

    const welcome = dial(fleet, issue(prod, 'DNS:operator')).hello('prod');
    await welcome.frames('ack', 1);
    for (const names of [['URI:bigfleet://cluster/test'], [prod, `${prod}2`], ['DNS:prod']]) {
      const refused = dial(fleet, issue(...names)).hello('prod');
      const { code, details } = await refused.end();
      expect(code).toBe(STATUS.PERMISSION_DENIED);
      expect(details).toContain('certificate');
    }
  });

  test('refuses clients without a certificate of its authority', async () => {
    const authority = newAuthority();
    const fleet = await secured(authority);
    const stranger = newAuthority().issue({
      commonName: 'operator',
      alternativeNames: ['URI:bigfleet://cluster/prod'],
    });
    const cluster = dial(fleet, pairOf(authority, stranger)).hello('prod');
    expect((await cluster.end()).code).toBe(STATUS.UNAVAILABLE);
  });
});
