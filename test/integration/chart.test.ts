/**
 * The Helm chart: values that are wrong are refused by name, every set of values is accepted by a
 * real API server, and an installed operator runs with its rights and files.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
  valueAt,
} from '../../src/domain/json.ts';
import { ROLE_NAMES, type RoleName } from '../../src/domain/operator-roles.ts';
import { binaries } from '../../tools/testbed/binaries.ts';
import type { CommandResult } from '../../tools/testbed/commands.ts';
import { rulesFor } from '../../tools/rbac-rules.ts';
import { type ClusterClient, clusterClient } from '../support/api/cluster-client.ts';
import { accountKubeconfig } from '../support/api/service-account.ts';
import { describeWithBinaries, describeWithTestbed } from '../support/api/testbed.ts';
import { containerProcess } from '../support/chart/container-process.ts';
import {
  CHART,
  type Helm,
  helmBy,
  kindAndName,
  objectsIn,
  printed,
  VALUE_SETS,
  valuesFile,
} from '../support/chart/helm.ts';
import { operatorPod, startContainer, untilProbed } from '../support/chart/release-processes.ts';
import { MONITORING_KINDS, monitoringKinds } from '../support/chart/monitoring-kinds.ts';
import { authorities, hasMessage, securedFleet } from '../support/fleet/secured-session.ts';
import { clusterPair } from '../support/processes/key-files.ts';

const NAMESPACE = 'tidegate';
const TARGET = ['--namespace', NAMESPACE];
const RELEASE = ['tidegate', CHART, ...TARGET];
const PATIENT_MS = 300_000;

const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-chart-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** helm without a cluster. Must be called inside a test. */
const localHelm = async (): Promise<Helm> =>
  helmBy((await binaries(() => {})).helm, { folder: await newFolder() });

const IMAGE = 'image.repository=registry.example/tidegate';
const FLEET = `${IMAGE},settings.clusterId=try,settings.shardAddr=s:7443`;
const WHOLE = `${FLEET},tls.existingSecret=keys`;

/** What is wrong, with the path that the error must have. */
const WRONG: readonly (readonly [values: string, message: string])[] = [
  [`${WHOLE},replica=2`, "additional properties 'replica' not allowed"],
  [`${WHOLE},settings.clusterID=a`, "at '/settings': additional properties 'clusterID' not"],
  [`${WHOLE},operators.operator.replicas=two`, "at '/operators/operator/replicas'"],
  [`${WHOLE},operators.operator.roles={fleet,cook}`, "at '/operators/operator/roles/1'"],
  [`${WHOLE},operators.Big.enabled=true`, 'Big'],
  [`${WHOLE},operators.operator.settings.rollupInterval=10`, '/settings/rollupInterval'],
  [`${WHOLE},settings.via=mail`, "at '/settings/via'"],
  [`${WHOLE},settings.maxDraining=some`, "at '/settings/maxDraining'"],
  [`${WHOLE},settings.maxDraining=150%`, "at '/settings/maxDraining'"],
  [`${WHOLE},monitoring=null`, "missing property 'monitoring'"],
  [`${WHOLE},tls.certManager=null`, "at '/tls': missing property 'certManager'"],
  [`${WHOLE},settings=null`, 'settings.clusterId is required'],
  [`${WHOLE},settings.burst=0`, "at '/settings/burst'"],
  [`${WHOLE},settings.qps=0`, "at '/settings/qps'"],
  [`${WHOLE},settings.insecurePlaintext=true`, 'set settings.insecurePlaintext to false'],
  [`${WHOLE},image.digest=latest`, "at '/image/digest'"],
  [`${WHOLE},resources.memory=1Gi`, "at '/resources': additional properties 'memory'"],
  [`${WHOLE},resources.limits.memory=64Mi`, 'resources.limits.memory "64Mi" is too small'],
  [`${WHOLE},resources.limits.memory=lots`, 'resources.limits.memory "lots" is no amount'],
  ['settings.clusterId=a', 'settings.shardAddr is required'],
  ['settings.shardAddr=s:1', 'settings.clusterId is required'],
  [WHOLE.replace(IMAGE, 'image.tag=v1'), 'image.repository is required'],
  [FLEET, 'tls.existingSecret is required'],
  [`${WHOLE},tls.certManager.enabled=true`, 'tls.certManager.enabled exclude each other'],
  [`${FLEET},tls.certManager.enabled=true`, 'tls.certManager.issuerRef.name is required'],
  [`${WHOLE},operators.operator.enabled=false`, 'set operators.operator.enabled'],
  [`${WHOLE},operators.more.roles={pods}`, 'operators.operator.roles both have the role "pods"'],
  [`${WHOLE},operators.more.replicas=1`, 'operators.more.roles is required'],
  [`${WHOLE},serviceAccount.create=false`, 'operators.operator.serviceAccountName is required'],
  [`${WHOLE},bootstrapTemplate.text=a,bootstrapTemplate.existingSecret=b`, 'exclude one another'],
  [
    `${WHOLE},monitoring.serviceMonitor.enabled=true,monitoring.podMonitor.enabled=true`,
    'monitoring.podMonitor.enabled exclude each other',
  ],
];

/** Targets of gRPC, and the ports that it dials for each: 443 without one. */
const SHARD_PORTS: readonly (readonly [target: string, ...ports: readonly number[]])[] = [
  ['shard.example:7443', 7443],
  ['[::1]:50051', 50051],
  ['dns:///shard.example', 443],
  ['dns:shard.example:7443', 7443],
  ['dns://10.0.0.10/shard.example:7443', 7443],
  ['dns://10.0.0.10:5353/shard.example', 443],
  ['dns:///[2001:db8::1]', 443],
  ['ipv4:10.0.0.1', 443],
  ['ipv4:10.0.0.1:7443,10.0.0.2,10.0.0.3:7443', 7443, 443],
  ['ipv6:[2001:db8::1]:7443', 7443],
  ['ipv6:2001:db8::1', 443],
  ['unix:/run/shard.sock'],
];

/** Rules without their order. */
const ruleTexts = (rules: readonly unknown[]): readonly string[] =>
  rules.map((rule) => {
    const verbs = [valueAt(rule, 'verbs')].flat().toSorted();
    return JSON.stringify([
      valueAt(rule, 'apiGroups'),
      valueAt(rule, 'resources'),
      valueAt(rule, 'resourceNames'),
      verbs,
    ]);
  }).toSorted();

describeWithBinaries('chart', () => {
  test('passes the lint', async () => {
    const helm = await localHelm();
    for (const name of ['fleet', 'many-processes', 'extras']) {
      const { code, stdout } = await helm('lint', '--strict', '-f', valuesFile(name), CHART);
      expect([name, code, stdout]).toEqual([name, 0, expect.not.stringContaining('[ERROR]')]);
    }
  });

  test('an error about a value names it', async () => {
    const helm = await localHelm();
    for (const [values, message] of WRONG) {
      const { code, stderr } = await helm('template', ...RELEASE, '--set', values);
      expect([values, code]).toEqual([values, 1]);
      expect(stderr).toContain(message);
    }
  });

  /** The value of a variable of a Deployment. */
  const variableOf = (deployment: JsonRecord, name: string): string | undefined => {
    const [container] = listOrEmptyAt(deployment, 'spec', 'template', 'spec', 'containers');
    const found = listOrEmptyAt(container, 'env').find((one) => textAt(one, 'name') === name);
    return textAt(found, 'value');
  };

  const deploymentsWith = async (helm: Helm, values: string): Promise<readonly JsonRecord[]> => {
    const only = ['-s', 'templates/deployments.yaml', '--set', values];
    return objectsIn(await printed(helm('template', ...RELEASE, ...only)));
  };

  test('a setting of a Deployment wins over the one of all, also when it is false', async () => {
    const helm = await localHelm();
    const values = `${WHOLE},settings.pauseDrains=true,settings.via=evictions,` +
      'operators.maintenance.enabled=true,operators.maintenance.settings.pauseDrains=false';
    expect((await deploymentsWith(helm, values)).map((one) => [
      kindAndName(one),
      variableOf(one, 'TIDEGATE_PAUSE_DRAINS'),
      variableOf(one, 'TIDEGATE_VIA'),
    ])).toEqual([
      ['Deployment/tidegate-maintenance', 'false', 'evictions'],
      ['Deployment/tidegate-operator', 'true', 'evictions'],
    ]);
  });

  test('every Deployment that drains asks the interceptor that another one runs', async () => {
    const helm = await localHelm();
    const drains = ['fleet', 'maintenance', 'availability', 'evictions'];
    const names = async (interceptors: string): Promise<unknown> => {
      const apart = ['pods', ...drains].map((role) => `operators.x-${role}.roles={${role}}`);
      const values = [WHOLE, 'operators.operator.enabled=false', ...apart, interceptors].join(',');
      return (await deploymentsWith(helm, values)).map((one) => [
        variableOf(one, 'TIDEGATE_ROLES'),
        variableOf(one, 'TIDEGATE_DEFAULT_INTERCEPTORS'),
      ]);
    };
    expect(await names('operators.x-surge.roles={interceptors}')).toEqual([
      ['availability', 'surge.tidegate.dev'],
      ['evictions', 'surge.tidegate.dev'],
      ['fleet', 'surge.tidegate.dev'],
      ['maintenance', 'surge.tidegate.dev'],
      ['pods', undefined],
      ['interceptors', undefined],
    ]);
    expect(await names('settings.via=auto')).toEqual(
      [...drains, 'pods'].toSorted().map((role) => [role, undefined]),
    );
  });

  test('a NetworkPolicy lets out what the operator dials, and nothing else', async () => {
    const helm = await localHelm();
    const egress = async (target: string): Promise<readonly (readonly string[])[]> => {
      const values = `${WHOLE},networkPolicy.enabled=true,networkPolicy.apiServer.ports={6443}`;
      const shard = `settings.shardAddr=${target.replaceAll(',', '\\,')}`;
      const only = ['-s', 'templates/network-policy.yaml', '--set', `${values},${shard}`];
      const [policy] = objectsIn(await printed(helm('template', ...RELEASE, ...only)));
      return listOrEmptyAt(policy, 'spec', 'egress').map((rule) =>
        listOrEmptyAt(rule, 'ports').map((one) =>
          `${numberAt(one, 'port')}/${textAt(one, 'protocol') ?? 'TCP'}`
        )
      );
    };
    // OpenShift's DNS pods listen on 5353, and its policies apply to the ports of pods.
    const others = [['53/UDP', '53/TCP', '5353/UDP', '5353/TCP'], ['6443/TCP']];
    for (const [target, ...ports] of SHARD_PORTS) {
      const shard = ports.length === 0 ? [] : [ports.map((port) => `${port}/TCP`)];
      expect([target, await egress(target)]).toEqual([target, [...others, ...shard]]);
    }
  });

  test('the notes forward the live page of the pods that lead, by their Leases', async () => {
    const helm = await localHelm();
    const values = `${WHOLE},livePage.enabled=true,operators.evictions.enabled=true`;
    const notes = await printed(helm('install', ...RELEASE, '--dry-run=client', '--set', values));
    const forwards = notes.split('\n').filter((line) => line.includes('port-forward'));
    expect(forwards.map((line) => /port-forward "pod\/\$\(.* get lease (\S+)/.exec(line)?.[1]))
      .toEqual(['tidegate-evictions', 'tidegate-operator']);
  });

  test('a key without a value is as one that is not there', async () => {
    const helm = await localHelm();
    const render = (values: string): Promise<string> =>
      printed(helm('template', ...RELEASE, '--set', `${WHOLE}${values}`));
    const lists = ['extraArgs', 'extraEnv', 'extraVolumes', 'extraObjects', 'tolerations'];
    const values = [...lists, 'imagePullSecrets', 'podLabels', 'commonLabels', 'nodeSelector'];
    expect(await render(values.map((key) => `,${key}=null`).join(''))).toBe(await render(''));
    expect(await render(',resources=null')).not.toContain('NODE_OPTIONS');
  });

  test('the Service of metrics has a name that Services may have', async () => {
    const helm = await localHelm();
    const dotted = 'fullnameOverride=1tide.gate-of-a-name-with-40-characters';
    const long = 'operators.operator.enabled=false,operators.a-name-of-20-letters.roles={fleet}';
    const names = await Promise.all(
      ['', `,${dotted}`, `,${dotted},${long}`].map(
        async (more) => {
          const values = `${WHOLE},monitoring.serviceMonitor.enabled=true${more}`;
          const only = ['-s', 'templates/monitoring.yaml', '--set', values];
          const [service] = objectsIn(await printed(helm('template', ...RELEASE, ...only)));
          return textAt(service, 'metadata', 'name');
        },
      ),
    );
    expect(names).toEqual([
      'tidegate-operator-metrics',
      't-1tide-gate-of-a-name-with-40-characters-operator-metrics',
      't-1tide-gate-of-a-name-with-40-cha-a-name-of-20-letters-metrics',
    ]);
    for (const name of names) expect(name).toMatch(/^[a-z][-a-z0-9]{0,61}[a-z0-9]$/);
  });

  test('the namespaces and pods that metrics are about keep their labels', async () => {
    const helm = await localHelm();
    const labelsHonoured = async (kind: 'serviceMonitor' | 'podMonitor'): Promise<unknown> => {
      const values = `${WHOLE},monitoring.${kind}.enabled=true`;
      const only = ['-s', 'templates/monitoring.yaml', '--set', values];
      const monitor = objectsIn(await printed(helm('template', ...RELEASE, ...only))).at(-1);
      const endpoints = kind === 'podMonitor' ? 'podMetricsEndpoints' : 'endpoints';
      return listOrEmptyAt(monitor, 'spec', endpoints).map((one) => valueAt(one, 'honorLabels'));
    };
    expect(await labelsHonoured('serviceMonitor')).toEqual([true]);
    expect(await labelsHonoured('podMonitor')).toEqual([true]);
  });

  test('each ServiceAccount has the rights of its roles and no others', async () => {
    const helm = await localHelm();
    const sets: readonly (readonly RoleName[])[] = [ROLE_NAMES, ...ROLE_NAMES.map((one) => [one])];
    for (const roles of sets) {
      const values = `${WHOLE},operators.operator.roles={${roles.join(',')}}`;
      const only = ['-s', 'templates/rights.yaml', '--set', values];
      const objects = objectsIn(await printed(helm('template', ...RELEASE, ...only)));
      const rules = (kind: string): readonly string[] =>
        ruleTexts(
          objects
            .filter((one) => kindAndName(one) === `${kind}/tidegate-operator`)
            .flatMap((one) => listOrEmptyAt(one, 'rules')),
        );
      const { cluster, lease } = rulesFor(roles);
      expect([rules('ClusterRole'), rules('Role')]).toEqual([ruleTexts(cluster), ruleTexts(lease)]);
    }
  });

  test('the heap of Node is three quarters of the memory limit, its young generation less', async () => {
    const helm = await localHelm();
    const limits = [
      ['1Gi', 768, 4],
      ['1.5Gi', 1152, 6],
      ['512Mi', 384, 1],
      ['1G', 714, 3],
      ['1073741824', 768, 4],
      ['8Gi', 6144, 16],
    ];
    for (const [limit, heap, young] of limits) {
      const values = `${WHOLE},resources.limits.memory=${limit}`;
      const only = ['-s', 'templates/deployments.yaml', '--set', values];
      const text = await printed(helm('template', ...RELEASE, ...only));
      const sizes = text.match(/(?<=value: ?(?:>-)?\s*)--max-old.*(?:\n\s+--max-semi.*)?/)?.[0];
      expect([limit, sizes?.split(/\s+/)]).toEqual([
        limit,
        [`--max-old-space-size=${heap}`, `--max-semi-space-size=${young}`],
      ]);
    }
  });

  test('alerts are those of the documentation, for the Leases and roles of the release', async () => {
    const helm = await localHelm();
    const alertsOf = async (name: string): Promise<readonly unknown[]> => {
      const only = ['-s', 'templates/alerts.yaml', '-f', valuesFile(name)];
      const [rule] = objectsIn(await printed(helm('template', ...RELEASE, ...only)));
      return listOrEmptyAt(rule, 'spec', 'groups').flatMap((one) => listOrEmptyAt(one, 'rules'));
    };
    const leases = (alerts: readonly unknown[]): readonly string[] =>
      alerts.flatMap((alert) => /name="([^"]+)"/.exec(textAt(alert, 'expr') ?? '')?.[1] ?? []);
    const all = await alertsOf('service-monitor');
    expect(leases(all)).toEqual(['tidegate-evictions', 'tidegate-operator']);
    const without = await alertsOf('pod-monitor');
    expect(leases(without)).toEqual(['tidegate-maintenance']);
    const names = (alerts: readonly unknown[]) => alerts.map((alert) => textAt(alert, 'alert'));
    expect(names(all)).toContain('TidegateSessionDown');
    expect(names(without)).not.toContain('TidegateSessionDown');
    expect(names(without)).toContain('TidegateActorCrashed');
  });
});

/** A namespace in which pods must be restricted, and warnings about those that are not. */
const NAMESPACED = stringify({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: NAMESPACE,
    labels: {
      'pod-security.kubernetes.io/enforce': 'restricted',
      'pod-security.kubernetes.io/warn': 'restricted',
    },
  },
});

const BED = { own: true };

describeWithTestbed('chart on a real API server', BED, (bed) => {
  beforeAll(async () => {
    await bed().apply(`${NAMESPACED}---\n${monitoringKinds()}`);
    const kinds = MONITORING_KINDS.map((name) => `crd/${name}`);
    await bed().kubectl('wait', '--for=condition=Established', '--timeout=120s', ...kinds);
  });

  const clusterHelm = (): Helm =>
    helmBy(bed().binaries.helm, { folder: bed().directory, kubeconfig: bed().kubeconfig });

  test('every set of values gives manifests that it accepts, with restricted pods', {
    timeout: PATIENT_MS,
  }, async () => {
    const helm = clusterHelm();
    const folder = await newFolder();
    const rendered = await Promise.all(VALUE_SETS.map(async (name) => {
      // Once is enough for what is the same in all of them.
      const less = name === 'fleet' ? [] : ['--set', 'crds.install=false,policies.install=false'];
      const flags = ['-f', valuesFile(name), ...less];
      const manifests = await printed(helm('template', ...RELEASE, ...flags));
      await writeFile(join(folder, `${name}.yaml`), manifests);
      return objectsIn(manifests);
    }));
    expect(rendered.length).toBeGreaterThanOrEqual(12);
    const { code, stdout, stderr } = await bed().kubectl(
      ...['apply', '--dry-run=server', '--validate=strict', '-n', NAMESPACE, '-f', folder],
    );
    expect([stderr, code]).toEqual(['', 0]);
    expect(stdout.trim().split('\n')).toHaveLength(rendered.flat().length);
  });

  const createKeys = async (
    cluster: ClusterClient,
    files: Readonly<Record<string, string>>,
  ): Promise<void> => {
    await cluster.create(`/api/v1/namespaces/${NAMESPACE}/secrets`, [{
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'shard-keys' },
      stringData: files,
    }]);
  };

  const manifestOf = async (helm: Helm): Promise<readonly JsonRecord[]> =>
    objectsIn(await printed(helm('get', 'manifest', 'tidegate', ...TARGET)));

  const presence = async (objects: readonly JsonRecord[]): Promise<readonly string[]> => {
    const file = join(await newFolder(), 'objects.yaml');
    await writeFile(file, objects.map((one) => stringify(one)).join('---\n'));
    const { stdout } = await bed().kubectl('get', '--ignore-not-found', '-f', file, '-o', 'json');
    const found = stdout.trim() === '' ? {} : parse(stdout);
    return (textAt(found, 'kind') === 'List' ? listOrEmptyAt(found, 'items') : [found])
      .filter((one) => asRecord(one) !== undefined && textAt(one, 'kind') !== undefined)
      .map(kindAndName);
  };

  const uninstalled = (helm: Helm): Promise<CommandResult> =>
    helm('uninstall', 'tidegate', ...TARGET);

  const REQUESTS = 'capacityrequests.bigfleet.lucy.sh';

  const printerColumns = async (): Promise<string> => {
    const path = 'jsonpath={.spec.versions[0].additionalPrinterColumns[*].name}';
    return (await bed().kubectl('get', 'crd', REQUESTS, '-o', path)).stdout;
  };

  /** The chart of an earlier version, whose CRDs had another column. */
  const earlierChart = async (): Promise<string> => {
    const folder = await newFolder();
    await cp(CHART, folder, { recursive: true });
    const file = join(folder, 'files', 'crds', `${REQUESTS}.yaml`);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace(/- name: [A-Z]\w+/, '- name: Earlier'));
    return folder;
  };

  test('a release runs two operators with their rights and files, and leaves only CRDs', {
    timeout: PATIENT_MS,
  }, async () => {
    const helm = clusterHelm();
    const cluster = await clusterClient(bed());
    const { fleets, operators } = authorities();
    const fleet = await securedFleet(fleets, operators);
    const { certificate, key } = clusterPair(operators, 'try');
    await createKeys(cluster, {
      'tls.crt': certificate,
      'tls.key': key,
      'ca.crt': fleets.certificate,
    });
    const flags = ['-f', valuesFile('files'), '--set', 'livePage.enabled=false'];
    const shard = ['--set', `settings.shardAddr=localhost:${fleet.ports.shard}`];
    await printed(
      helm('install', 'tidegate', await earlierChart(), ...TARGET, ...flags, ...shard),
    );
    expect(await printerColumns()).toContain('Earlier');
    const notes = await printed(helm('upgrade', ...RELEASE, ...flags, ...shard));
    expect(notes).toContain('rollout status deployment/tidegate-operator');
    expect(await printerColumns()).not.toContain('Earlier');

    const objects = await manifestOf(helm);
    const spec = operatorPod(objects);
    const kubeconfig = await accountKubeconfig(
      bed(),
      cluster,
      textAt(spec, 'serviceAccountName') ?? '',
    );
    const started = async (podName: string) => {
      const site = { cluster, namespace: NAMESPACE, podName, kubeconfig };
      const container = await containerProcess(spec, site);
      const child = startContainer(podName, container);
      await untilProbed(spec, container, child);
      return child;
    };
    const leader = await started('tidegate-operator-a');
    await leader.untilLog(hasMessage('Session resynced'), { what: 'that it has a session' });
    const standby = await started('tidegate-operator-b');
    const lease = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/tidegate-operator`;
    const { body } = await cluster.call('GET', lease);
    expect(textAt(body, 'spec', 'holderIdentity')).toMatch(/^tidegate-operator-a_/);

    const hooks = await printed(helm('get', 'hooks', 'tidegate', ...TARGET));
    const doctorSpec = recordAt(objectsIn(hooks)[0], 'spec') ?? {};
    const site = { cluster, namespace: NAMESPACE, podName: 'doctor', kubeconfig };
    const doctor = startContainer('doctor', await containerProcess(doctorSpec, site));
    expect([await doctor.exited, doctor.logs()]).toEqual([0, expect.anything()]);
    expect(JSON.stringify(doctor.logs())).toContain('The user of the kubeconfig has all');

    await standby.stop();
    await leader.stop();
    const definitions = objects.map(kindAndName)
      .filter((name) => name.startsWith('CustomResourceDefinition/'));
    expect(definitions).toHaveLength(5);
    expect((await presence(objects)).length).toBe(objects.length);
    await printed(uninstalled(helm));
    expect((await presence(objects)).toSorted()).toEqual(definitions.toSorted());

    await printed(helm('install', ...RELEASE, ...flags, ...shard));
    expect((await presence(objects)).length).toBe(objects.length);
    await printed(uninstalled(helm));
  });
});
