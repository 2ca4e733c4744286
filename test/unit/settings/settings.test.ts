/** Settings: precedence, defaults, and one line per invalid option. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OPERATOR_OPTIONS } from '../../../src/effects/operator-options.ts';
import { fleetSettings, operatorSettings } from '../../../src/effects/settings.ts';

const processEnvironment = (environment: Record<string, string>, namespace?: string) => ({
  environment,
  hostname: 'host-a',
  namespace,
  nonce: '0badf00d',
});

const least = {
  'cluster-id': 'prod-1',
  'shard-addr': 'shard.fleet.svc:7700',
  'insecure-plaintext': 'true',
};

const settled = (flags: Record<string, string>, environment: Record<string, string> = {}) => {
  const outcome = operatorSettings(flags, processEnvironment(environment));
  if (outcome._tag === 'SettingsProblem') throw new Error(outcome.message);
  return outcome.settings;
};

const problem = (flags: Record<string, string>, environment: Record<string, string> = {}) => {
  const outcome = operatorSettings(flags, processEnvironment(environment));
  return outcome._tag === 'SettingsProblem' ? outcome.message : 'no problem';
};

describe('operator settings', () => {
  test('require only a cluster, a shard and its transport; everything else has a default', () => {
    expect(settled(least)).toEqual({
      fleet: {
        clusterId: 'prod-1',
        shardAddress: 'shard.fleet.svc:7700',
        acknowledgeConcurrency: 16,
        rollupIntervalMs: 10_000,
        bootstrapTemplateFile: undefined,
        tls: undefined,
        tlsRenewalDelayMs: 30_000,
        drains: {
          tierWaitMs: undefined,
          isPaused: false,
          evictionsPerBudget: 1,
          via: 'auto',
          evictionsApi: 'auto',
          defaultInterceptors: [],
          isReclaimable: expect.any(Function),
          maxDraining: { _tag: 'Percent', percent: 100 },
          localVolumes: 'evict',
          ownPod: null,
        },
      },
      interceptors: undefined,
      kubeconfig: undefined,
      metricsAddress: { host: '', port: 8770 },
      healthAddress: { host: '', port: 8771 },
      inspectHosts: [],
      writesPerSecond: 200,
      writeBurst: 400,
      logLevel: 'info',
      lease: {
        name: 'tidegate-operator',
        namespace: 'default',
        identity: 'host-a_0badf00d',
        durationMs: 15_000,
        renewDeadlineMs: 10_000,
        retryPeriodMs: 2000,
      },
    });
  });

  // Manifests of the Go operator may say 0, which it reads as its default.
  test('read a rollup-interval or an ack-concurrency of 0 as the default', () => {
    for (const zero of ['0', '0s', '+0', '0m0s']) {
      expect(settled({ ...least, 'rollup-interval': zero }).fleet?.rollupIntervalMs).toBe(10_000);
    }
    const flags = { ...least, 'ack-concurrency': '0' };
    expect(settled(flags).fleet?.acknowledgeConcurrency).toBe(16);
    expect(problem({ ...least, 'ack-concurrency': '-1' })).toContain('out of range');
    expect(problem({ ...least, 'ack-concurrency': '0zz' })).toContain('not a whole number');
    expect(problem({ ...least, 'rollup-interval': '0abc' })).toContain('--rollup-interval "0abc"');
  });

  test('DR-20: identify the operator pod, by its variables or its host name', () => {
    const own = (environment: Record<string, string>, namespace?: string) => {
      const outcome = operatorSettings(least, processEnvironment(environment, namespace));
      return outcome._tag === 'Settled' ? outcome.settings.fleet?.drains.ownPod : outcome.message;
    };
    expect(own({ POD_NAME: 'tide-0', POD_NAMESPACE: 'fleet' })).toEqual({
      namespace: 'fleet',
      name: 'tide-0',
    });
    expect(own({}, 'fleet')).toEqual({ namespace: 'fleet', name: 'host-a' });
    expect(own({ POD_NAME: 'tide-0' })).toBeNull();
    expect(own({})).toBeNull();
  });

  test('DR-20: name the pod in the Lease, also where the host has another name', () => {
    const identity = (environment: Record<string, string>) => {
      const outcome = operatorSettings(least, processEnvironment(environment, 'fleet'));
      return outcome._tag === 'Settled' ? outcome.settings.lease.identity : outcome.message;
    };
    expect(identity({ POD_NAME: 'tide-0' })).toBe('tide-0_0badf00d');
    expect(identity({})).toBe('host-a_0badf00d');
  });

  test('DR-45: accept --pause-drains as true or false and nothing else', () => {
    expect(settled({ ...least, 'pause-drains': 'true' }).fleet?.drains.isPaused).toBe(true);
    expect(settled(least, { TIDEGATE_PAUSE_DRAINS: 'true' }).fleet?.drains.isPaused).toBe(true);
    expect(problem({ ...least, 'pause-drains': 'maybe' })).toBe(
      'Cannot use --pause-drains "maybe": unknown value; write true or false',
    );
  });

  test('DR-21: read --tier-wait as the wait between tiers', () => {
    expect(settled({ ...least, 'tier-wait': '5s' }).fleet?.drains.tierWaitMs).toBe(5000);
  });

  test('DR-18: select every Node but those of the control plane as reclaimable', () => {
    const isReclaimable = (flags: Record<string, string>, label: string) =>
      settled({ ...least, ...flags }).fleet?.drains.isReclaimable({ [label]: '' });
    expect(isReclaimable({}, 'node-role.kubernetes.io/control-plane')).toBe(false);
    expect(isReclaimable({}, 'fleet')).toBe(true);
    const flags = { 'reclaimable-node-selector': 'fleet' };
    expect(isReclaimable(flags, 'fleet')).toBe(true);
    expect(isReclaimable(flags, 'other')).toBe(false);
    expect(problem({ ...least, 'reclaimable-node-selector': 'a b' })).toContain(
      'Cannot use --reclaimable-node-selector "a b"',
    );
  });

  test('DR-19: read --max-draining as a number of Nodes or a percentage', () => {
    const limit = (text: string) =>
      settled({ ...least, 'max-draining': text }).fleet?.drains.maxDraining;
    expect([limit('1'), limit('100%'), limit('1%')]).toEqual([
      { _tag: 'Nodes', nodes: 1 },
      { _tag: 'Percent', percent: 100 },
      { _tag: 'Percent', percent: 1 },
    ]);
    for (const text of ['0', '0%', '101%', '-1', '1.5', 'all']) {
      expect(problem({ ...least, 'max-draining': text })).toBe(
        `Cannot use --max-draining "${text}": it is neither a number of Nodes nor a percentage; ` +
          'write a whole number above 0 such as 10, or a percentage from 1% to 100%',
      );
    }
  });

  test('prefer a flag to the environment, and the environment to the default', () => {
    const environment = { TIDEGATE_ROLLUP_INTERVAL: '30s', TIDEGATE_QPS: '7.5' };
    const settings = settled({ ...least, qps: '9' }, environment);
    expect([settings.fleet?.rollupIntervalMs, settings.writesPerSecond]).toEqual([30_000, 9]);
  });

  test('count an empty variable as not set', () => {
    expect(settled(least, { TIDEGATE_ROLLUP_INTERVAL: '' }).fleet?.rollupIntervalMs).toBe(10_000);
  });

  test('count an empty flag of an optional option as not set', () => {
    const empty = { 'tls-cert': '', 'tls-key': '', 'tls-ca': '', 'kubeconfig': '' };
    expect(settled({ ...least, ...empty })).toMatchObject({
      fleet: { tls: undefined },
      kubeconfig: undefined,
    });
    expect(problem({ ...least, 'cluster-id': '' })).toContain('Cannot use --cluster-id ""');
    expect(problem({ ...least, qps: '' })).toContain('Cannot use --qps ""');
  });

  test('disable the metrics with --metrics-addr 0 and keep the probes', () => {
    const settings = settled({ ...least, 'metrics-addr': '0' });
    expect(settings.metricsAddress).toBeUndefined();
    expect(settings.healthAddress).toEqual({ host: '', port: 8771 });
  });

  test('put the Lease into the namespace of the pod', () => {
    const outcome = operatorSettings(least, processEnvironment({}, 'tidegate-system'));
    expect(outcome).toMatchObject({ settings: { lease: { namespace: 'tidegate-system' } } });
  });

  test.each([
    [
      { 'shard-addr': 'a:1' },
      'Cannot start without --cluster-id: the fleet must identify the cluster; add --cluster-id=ID or set TIDEGATE_CLUSTER_ID',
    ],
    [
      { 'cluster-id': 'c' },
      'Cannot start without --shard-addr: the operator must know the address of its shard; add --shard-addr=HOST:PORT or set TIDEGATE_SHARD_ADDR',
    ],
    [
      { ...least, 'rollup-interval': '10' },
      'Cannot use --rollup-interval "10": it is not a duration; write a number with its unit, such as 10s or 1m30s',
    ],
    [
      { ...least, 'rollup-interval': '1ms' },
      'Cannot use --rollup-interval "1ms": it is too short; write 100ms or longer',
    ],
    [
      { ...least, 'shard-addr': 'shard' },
      'Cannot use --shard-addr "shard": it is not an address; write HOST:PORT, such as shard.fleet.svc:7700',
    ],
    [
      { ...least, 'metrics-addr': 'x:99999' },
      'Cannot use --metrics-addr "x:99999": it is not an address; write HOST:PORT, :PORT, or 0 to disable it',
    ],
    [
      { ...least, burst: '0' },
      'Cannot use --burst "0": it is out of range; write a whole number from 1 to 100000',
    ],
    [
      { ...least, qps: 'fast' },
      'Cannot use --qps "fast": it is not a rate; write a number above 0',
    ],
    [
      { ...least, 'log-level': 'loud' },
      'Cannot use --log-level "loud": unknown value; write one of debug, info, warn, error',
    ],
    [{ ...least, 'cluster-id': ' ' }, 'Cannot use --cluster-id " ": it is empty; give it a value'],
    [
      { ...least, 'lease-renew-deadline': '15s' },
      'Cannot use --lease-renew-deadline "15s": two leaders could write at once; make it shorter than --lease-duration (15s)',
    ],
    [
      { ...least, 'lease-retry-period': '6s' },
      'Cannot use --lease-retry-period "6s": one lost call would end the leadership; make it at most half of --lease-renew-deadline (10s)',
    ],
    [
      { ...least, 'lease-name': 'Not A Name' },
      'Cannot use --lease-name "Not A Name": invalid object name; write lower-case letters, digits, "-" and "."',
    ],
    [
      { ...least, 'lease-namespace': 'a.b' },
      'Cannot use --lease-namespace "a.b": invalid namespace name; write lower-case letters, digits and "-"',
    ],
  ])('%j: %s', (flags, message) => {
    expect(problem(flags)).toBe(message);
  });

  test('name the variable when the text came from the environment', () => {
    expect(problem(least, { TIDEGATE_BURST: 'many' })).toBe(
      'Cannot use TIDEGATE_BURST "many": it is not a whole number; write a whole number from 1 to 100000',
    );
  });

  const { 'insecure-plaintext': _, ...undecided } = least;
  const files = { 'tls-cert': 'c.pem', 'tls-key': 'k.pem', 'tls-ca': 'ca.pem' };

  test('wire 8: all three TLS files give mTLS', () => {
    expect(settled({ ...undecided, ...files }).fleet?.tls).toEqual({
      certFile: 'c.pem',
      keyFile: 'k.pem',
      caFile: 'ca.pem',
    });
  });

  // Plaintext was what a forgotten flag gave: user data with join tokens, readable on the network.
  test('wire 8: without TLS files, plaintext must be requested', () => {
    const message = 'Cannot start without --tls-cert, --tls-key and --tls-ca: anyone on the ' +
      'network could read user data and reclaim Nodes; add the three files, or ' +
      '--insecure-plaintext to accept that';
    expect(problem(undecided)).toBe(message);
    expect(problem({ ...undecided, 'insecure-plaintext': 'false' })).toBe(message);
    expect(settled(least).fleet?.tls).toBeUndefined();
    expect(settled(undecided, { TIDEGATE_INSECURE_PLAINTEXT: 'true' }).fleet?.tls).toBeUndefined();
    expect(settled({ roles: 'pods' }).fleet).toBeUndefined();
  });

  test('wire 8: plaintext and TLS files contradict each other', () => {
    expect(problem({ ...least, ...files })).toBe(
      'Cannot use --insecure-plaintext with --tls-cert: the session has one transport; remove one',
    );
  });

  test.each([
    [['tls-cert'], '--tls-key and --tls-ca'],
    [['tls-cert', 'tls-key'], '--tls-ca'],
    [['tls-ca'], '--tls-cert and --tls-key'],
  ])('wire 8: TLS with only %j is refused and %s named', (given, missing) => {
    const flags = Object.fromEntries(given.map((name) => [name, 'some.pem']));
    expect(problem({ ...undecided, ...flags })).toContain(
      `add ${missing}, or give none and --insecure-plaintext`,
    );
  });

  test('report every problem in one line, whatever the text', () => {
    const names = Object.values(OPERATOR_OPTIONS).map((option) => option.name);
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.string({ unit: 'binary' }), (name, text) => {
        const outcome = operatorSettings({ ...least, [name]: text }, processEnvironment({}));
        if (outcome._tag === 'SettingsProblem') expect(outcome.message).not.toMatch(/[\r\n]/);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('roles of an operator', () => {
  const rolesOf = (flags: Record<string, string>, environment: Record<string, string> = {}) => {
    const { fleet, pods, evictions } = settled(flags, environment);
    return Object.entries({ fleet, pods, evictions })
      .flatMap(([role, selected]) => selected === undefined ? [] : [role]);
  };

  test('are only the fleet by default', () => {
    expect(rolesOf(least)).toEqual(['fleet']);
  });

  test('are those of --roles, and pods with --with-pods', () => {
    expect(rolesOf({ ...least, roles: 'fleet, pods' })).toEqual(['fleet', 'pods']);
    expect(rolesOf({ ...least, 'with-pods': 'true' })).toEqual(['fleet', 'pods']);
    expect(rolesOf({ roles: 'pods' })).toEqual(['pods']);
    expect(rolesOf({ roles: 'pods', 'with-pods': 'true' })).toEqual(['pods']);
    expect(rolesOf({}, { TIDEGATE_ROLES: 'pods' })).toEqual(['pods']);
    expect(rolesOf({ roles: 'pods,evictions' })).toEqual(['pods', 'evictions']);
  });

  test('ER-40: interceptors have 20 minutes and a warning after one, unless flags say else', () => {
    expect(settled({ roles: 'evictions' }).evictions).toEqual({
      timing: { deadlineMs: 1_200_000, warningMs: 60_000, skewMs: 10_000 },
      ttlMs: null,
      api: 'auto',
      defaultInterceptors: [],
    });
    const flags = { 'interceptor-deadline': '90s', 'eviction-request-ttl': '1h' };
    expect(settled({ roles: 'evictions', ...flags }).evictions).toMatchObject({
      timing: { deadlineMs: 90_000 },
      ttlMs: 3_600_000,
    });
  });

  test('ER-55: surge is a default interceptor where it runs, or where a flag says so', () => {
    const defaultsOf = (flags: Record<string, string>) => {
      const { fleet, evictions } = settled({ ...least, ...flags });
      expect(fleet?.drains.defaultInterceptors).toEqual(evictions?.defaultInterceptors);
      return evictions?.defaultInterceptors;
    };
    const [apart, beside] = ['fleet,evictions', 'fleet,evictions,interceptors'];
    expect(defaultsOf({ roles: apart })).toEqual([]);
    expect(defaultsOf({ roles: beside })).toEqual(['surge.tidegate.dev']);
    expect(defaultsOf({ roles: apart, 'default-interceptors': 'surge.tidegate.dev' }))
      .toEqual(['surge.tidegate.dev']);
    expect(defaultsOf({ roles: beside, 'default-interceptors': 'none' })).toEqual([]);
  });

  test('RS-10: a pod without a surge is evicted, or waits by a flag', () => {
    const surges = (flags: Record<string, string>) => settled(flags).interceptors;
    expect(surges({ roles: 'interceptors' })).toEqual({ withoutSurge: 'evict' });
    expect(surges({ roles: 'interceptors', 'without-surge': 'wait' }))
      .toEqual({ withoutSurge: 'wait' });
    expect(surges({ roles: 'evictions' })).toBeUndefined();
  });

  test('require a cluster id and a shard only with the fleet', () => {
    expect(settled({ roles: 'pods' }).fleet).toBeUndefined();
    expect(problem({ roles: 'fleet,pods' })).toContain('Cannot start without --cluster-id');
  });

  test.each([
    [
      'fleet,pod',
      'Cannot use --roles "fleet,pod": unknown role "pod"; choose from fleet, pods, evictions, interceptors, maintenance, availability',
    ],
    [
      '',
      'Cannot use --roles "": unknown role ""; choose from fleet, pods, evictions, interceptors, maintenance, availability',
    ],
  ])('are refused as "%s" with the list of roles', (roles, message) => {
    expect(problem({ ...least, roles })).toBe(message);
  });
});

describe('fleet settings', () => {
  test('have their own variables, so that one shell can start operator and fleet', () => {
    const environment = { TIDEGATE_TLS_CERT: 'client.pem', TIDEGATE_FLEET_SEED_MACHINES: '7' };
    expect(fleetSettings({}, { environment })).toMatchObject({
      settings: { seedMachines: 7, tls: undefined, listen: { host: '127.0.0.1', port: 7700 } },
    });
  });

  test('have a flag for the duration of every step of the fleet', () => {
    const outcome = fleetSettings({ 'joining-time': '3s', 'empty-rollup-guard': 'false' }, {
      environment: {},
    });
    expect(outcome).toMatchObject({
      settings: {
        emptyRollupGuard: false,
        timing: {
          cycleMs: 1000,
          helloMs: 0,
          rollupMs: 20,
          bootstrapMs: 30_000,
          bootstrapPauseMs: 5000,
          creationMs: 2000,
          joiningMs: 3000,
          drainingMs: 2000,
          deletionMs: 1000,
        },
      },
    });
  });

  test('refuse an unreachable fleet', () => {
    expect(fleetSettings({ listen: '0' }, { environment: {} })).toMatchObject({
      _tag: 'SettingsProblem',
      message: 'Cannot use --listen "0": the fleet would be unreachable; write HOST:PORT',
    });
  });
});
