/** `tidegate doctor` on a real API server and on the embedded one. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { runCluster } from '@tidegate/embedded-kubernetes';
import { runFleet } from '@tidegate/stand-in-fleet';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { definitions } from '../../src/api/definitions.ts';
import { runDoctor } from '../../src/cli/doctor/doctor.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { evictionRequestPolicies } from '../support/api/impersonated-client.ts';
import { nativeSite } from '../support/eviction-requests/native-site.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { PLAIN_TERMINAL } from '../support/terminal/plain-terminal.ts';

interface Checked {
  readonly code: number;
  readonly states: Readonly<Record<string, string>>;
  readonly findings: string;
}

const doctor = async (flags: Readonly<Record<string, string>>): Promise<Checked> => {
  let stdout = '';
  const code = await runDoctor(
    { ...flags, output: 'json' },
    { environment: {}, namespace: undefined },
    {
      time: realTime,
      terminal: {
        print: (text) => void (stdout += text),
        report: () => {},
        ...PLAIN_TERMINAL,
      },
    },
  );
  const items: readonly { check: string; state: string; finding: string }[] =
    JSON.parse(stdout).items;
  return {
    code,
    states: Object.fromEntries(items.map(({ check, state }) => [check, state])),
    findings: items.map(({ finding }) => finding).join('\n'),
  };
};

const HEALTHY = {
  'api server': 'ok',
  'crd capacityrequests': 'ok',
  'crd upcomingnodes': 'ok',
  'crd availablecapacities': 'ok',
  // Drains work without theirs.
  policies: 'warning',
  rights: 'ok',
  lease: 'warning',
  clock: 'ok',
  certificate: 'skipped',
};

describeWithTestbed('doctor on a real API server', {}, (bed) => {
  beforeAll(() => bed().installCrds());

  test('finds the CRDs as this version has them, and the rights of an administrator', async () => {
    const asked = { kubeconfig: bed().kubeconfig, roles: 'fleet,pods' };
    const { code, states, findings } = await doctor(asked);
    expect([code, states]).toEqual([0, { ...HEALTHY, shard: 'skipped' }]);
    expect(findings).toContain('may stop a drain and pretend one');
  });

  test('finds the policies of EvictionRequests with the role evictions', async () => {
    await bed().apply(await evictionRequestPolicies());
    const { code, states } = await doctor({ kubeconfig: bed().kubeconfig, roles: 'evictions' });
    expect(code).toBe(0);
    expect(states).toMatchObject({ 'crd evictionrequests': 'ok', policies: 'ok', rights: 'ok' });
  });
});

describe('doctor on an embedded cluster', () => {
  const begun = async (hasDefinitions = true): Promise<string> => {
    const cluster = await runCluster({
      time: realTime,
      listen: { host: '127.0.0.1', port: 0 },
      seed: 1,
      nodes: 0,
      rate: 1,
      definitions: hasDefinitions ? definitions() : [],
    });
    onTestFinished(cluster.stop);
    const folder = await mkdtemp(join(tmpdir(), 'tidegate-doctor-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, cluster.kubeconfig);
    return kubeconfig;
  };

  test('reaches the shard without opening a session', async () => {
    const fleet = await runFleet({
      time: realTime,
      listen: { host: '127.0.0.1', port: 0 },
      seedMachines: 1,
      timing: {},
      guarded: false,
    });
    onTestFinished(fleet.stop);
    const address = `127.0.0.1:${fleet.address.port}`;
    const { code, states } = await doctor({ kubeconfig: await begun(), 'shard-addr': address });
    expect([code, states]).toEqual([0, { ...HEALTHY, shard: 'ok' }]);
    expect(fleet.script.shard.clusters.size).toBe(0);
  });

  test('needs no custom resource of ours where Kubernetes serves its own', async () => {
    const kubeconfig = await begun(false);
    await nativeSite({ kubeconfig });
    const { code, states, findings } = await doctor({ kubeconfig, roles: 'evictions' });
    expect([code, states]).toEqual([0, {
      'api server': 'ok',
      'eviction api': 'ok',
      rights: 'ok',
      lease: 'warning',
      clock: 'ok',
      certificate: 'skipped',
      shard: 'skipped',
    }]);
    expect(findings).toContain('Requests are in lifecycle.k8s.io');
  });

  test('says when the API of Kubernetes is served, too, and when the chosen one is not', async () => {
    const kubeconfig = await begun();
    const roles = 'evictions';
    const chosen = { kubeconfig, roles, 'eviction-request-api': 'native' };
    expect((await doctor(chosen)).states).toMatchObject({ 'eviction api': 'failed' });
    await nativeSite({ kubeconfig });
    const { findings } = await doctor({ kubeconfig, roles });
    expect(findings).toContain('lifecycle.k8s.io is served, too');
  });

  test('checks what the role evictions needs, and nothing of the fleet', async () => {
    const { code, states, findings } = await doctor({
      kubeconfig: await begun(),
      roles: 'evictions',
    });
    expect([code, states]).toEqual([1, {
      'api server': 'ok',
      'eviction api': 'ok',
      'crd evictionrequests': 'ok',
      policies: 'failed',
      rights: 'ok',
      lease: 'warning',
      clock: 'ok',
      certificate: 'skipped',
      shard: 'skipped',
    }]);
    expect(findings).toContain('Not installed: ValidatingAdmissionPolicy evictionrequests-spec');
  });

  test('fails with 1 when CRDs are missing, and when nothing listens at the shard', async () => {
    const { code, states, findings } = await doctor({
      kubeconfig: await begun(false),
      'shard-addr': '127.0.0.1:1',
    });
    expect(code).toBe(1);
    expect(states).toMatchObject({ 'crd upcomingnodes': 'failed', shard: 'failed' });
    expect(findings).toContain('ECONNREFUSED');
  });

  test('fails with 4 when the cluster cannot be reached, and checks the rest', async () => {
    const kubeconfig = await begun();
    await writeFile(
      kubeconfig,
      JSON.stringify({
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
        clusters: [{ name: 'k', cluster: { server: 'http://127.0.0.1:1' } }],
        users: [{ name: 'u', user: {} }],
      }),
    );
    const { code, states } = await doctor({ kubeconfig });
    expect([code, states]).toEqual([4, {
      'api server': 'failed',
      certificate: 'skipped',
      shard: 'skipped',
    }]);
  });

  test('names a certificate that cannot be used, and does not dial with it', async () => {
    const { code, states, findings } = await doctor({
      kubeconfig: await begun(),
      'cluster-id': 'c',
      'shard-addr': '127.0.0.1:1',
      'tls-cert': '/nowhere/tls.crt',
      'tls-key': '/nowhere/tls.key',
      'tls-ca': '/nowhere/ca.crt',
    });
    expect(code).toBe(1);
    expect(states).toMatchObject({ certificate: 'failed', shard: 'skipped' });
    expect(findings).toContain('/nowhere/tls.crt');
  });
});
