/** Settings of the pods role, in a separate process and within the operator. */
import { describe, expect, test } from 'vitest';
import { podsOperatorSettings } from '../../../src/effects/pod-settings.ts';
import { operatorSettings } from '../../../src/effects/settings.ts';

const processEnvironment = (environment: Record<string, string> = {}) => ({
  environment,
  hostname: 'host-a',
  namespace: 'tidegate',
  nonce: '0badf00d',
});

const settled = (flags: Record<string, string>, environment: Record<string, string> = {}) => {
  const outcome = podsOperatorSettings(flags, processEnvironment(environment));
  if (outcome._tag === 'SettingsProblem') throw new Error(outcome.message);
  return outcome.settings;
};

const problem = (flags: Record<string, string>): string => {
  const outcome = podsOperatorSettings(flags, processEnvironment());
  if (outcome._tag === 'Settled') throw new Error('It was settled');
  return outcome.message;
};

describe('settings of the pods role', () => {
  test('nothing is required, and every pod of every namespace counts', () => {
    const { pods, lease, writesPerSecond, writeBurst } = settled({});
    expect([writesPerSecond, writeBurst]).toEqual([200, 400]);
    expect(lease).toMatchObject({ name: 'tidegate-pods', namespace: 'tidegate' });
    expect(pods.penaltyDefaultsFile).toBeUndefined();
    expect(pods.selectsNamespace).toBeUndefined();
    expect(pods.selectsPod({})).toBe(true);
  });

  test('it is an operator with the role pods alone', () => {
    const { fleet, healthAddress } = settled({});
    expect(fleet).toBeUndefined();
    expect(healthAddress).toEqual({ host: '', port: 8771 });
  });

  test('its metrics have the port of the Go pod controller', () => {
    expect(settled({}).metricsAddress).toEqual({ host: '', port: 8080 });
  });

  test('its variables are its own', () => {
    const { pods, kubeconfig } = settled({}, {
      TIDEGATE_KUBECONFIG: '/operator',
      TIDEGATE_PODS_KUBECONFIG: '/pods',
      TIDEGATE_PODS_PRIORITY_CLASS_DEFAULTS_FILE: '/penalties.yaml',
    });
    expect([kubeconfig, pods.penaltyDefaultsFile]).toEqual(['/pods', '/penalties.yaml']);
  });

  test('selectors are label selectors', () => {
    const { pods } = settled({
      'pod-selector': 'app in (web,db),!old',
      'namespace-selector': 'team',
    });
    expect(pods.selectsPod({ app: 'db' })).toBe(true);
    expect(pods.selectsPod({ app: 'db', old: '' })).toBe(false);
    expect(pods.selectsNamespace?.({ team: 'a' })).toBe(true);
    expect(pods.selectsNamespace?.({})).toBe(false);
  });

  test('an invalid selector is a problem with its position', () => {
    expect(problem({ 'pod-selector': 'app web' })).toBe(
      'Cannot use --pod-selector "app web": it has "app web", which is not a condition; ' +
        'write conditions on labels such as "app=web,tier!=test"',
    );
  });

  test('a Lease that two leaders could hold is a problem, as for the operator', () => {
    expect(problem({ 'lease-duration': '5s' })).toContain('two leaders could write at once');
  });
});

describe('settings of the operator about pods', () => {
  const operator = (flags: Record<string, string>) => {
    const least = {
      'cluster-id': 'prod-1',
      'shard-addr': 'shard:7700',
      'insecure-plaintext': 'true',
    };
    const outcome = operatorSettings({ ...least, ...flags }, processEnvironment());
    if (outcome._tag === 'SettingsProblem') throw new Error(outcome.message);
    return outcome.settings.pods;
  };

  test('the role pods is off by default', () => {
    expect(operator({})).toBeUndefined();
    expect(operator({ 'pod-selector': 'app' })).toBeUndefined();
  });

  test('with pods it accepts the flags of the pods role', () => {
    const pods = operator({
      'with-pods': 'true',
      'pod-selector': 'app',
      'priority-class-defaults-file': '/penalties.yaml',
    });
    expect(pods?.penaltyDefaultsFile).toBe('/penalties.yaml');
    expect([pods?.selectsPod({ app: '' }), pods?.selectsPod({})]).toEqual([true, false]);
  });
});
