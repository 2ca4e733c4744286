/** The settings of `tidegate doctor`, from flags and the operator's variables. */
import { expect, test } from 'vitest';
import { doctorSettings } from '../../../src/effects/doctor-options.ts';

const TLS = { 'tls-cert': '/c', 'tls-key': '/k', 'tls-ca': '/a' };

interface Around {
  readonly environment?: Readonly<Record<string, string>>;
  /** Of the pod of the command. */
  readonly namespace?: string;
}

const settled = (
  flags: Readonly<Record<string, string>>,
  { environment = {}, namespace }: Around = {},
) => doctorSettings(flags, { environment, namespace });

const settingsOf = (...given: Parameters<typeof settled>) => {
  const decoded = settled(...given);
  if (decoded._tag === 'SettingsProblem') throw new Error(decoded.message);
  return decoded.settings;
};

test('without options the role fleet is checked, in plaintext', () => {
  expect(settingsOf({})).toEqual({
    roles: ['fleet'],
    evictionsApi: 'auto',
    kubeconfig: undefined,
    context: undefined,
    lease: { name: 'tidegate-operator', namespace: 'default' },
    shardAddress: undefined,
    certificate: undefined,
    format: 'text',
  });
});

test('the variables of the operator beside it are used', () => {
  const environment = { TIDEGATE_SHARD_ADDR: 'shard:7700', TIDEGATE_LEASE_NAME: 'mine' };
  expect(settingsOf({}, { environment }))
    .toMatchObject({ shardAddress: 'shard:7700', lease: { name: 'mine' } });
});

test('the role pods is added once', () => {
  expect(settingsOf({ 'with-pods': 'true' }).roles).toEqual(['fleet', 'pods']);
  expect(settingsOf({ 'with-pods': 'true', roles: 'pods' }).roles).toEqual(['pods']);
  expect(settingsOf({ roles: 'fleet' }).roles).toEqual(['fleet']);
});

test('the Lease is looked for where the operator runs, unless a namespace is given', () => {
  expect(settingsOf({}, { namespace: 'here' }).lease.namespace).toBe('here');
  expect(settingsOf({ 'lease-namespace': 'there' }, { namespace: 'here' }).lease.namespace).toBe(
    'there',
  );
});

test('a certificate is checked for the name of its cluster', () => {
  expect(settingsOf({ ...TLS, 'cluster-id': 'prod-1' }).certificate).toEqual({
    files: { certificate: '/c', key: '/k', authority: '/a' },
    cluster: 'prod-1',
  });
  expect(settingsOf({ 'cluster-id': 'prod-1' }).certificate).toBeUndefined();
});

test.each([
  [TLS, /^Cannot check --tls-cert without --cluster-id: /],
  [{ 'tls-cert': '/c' }, /^Cannot use --tls-cert "\/c" alone: mTLS needs all three files; /],
  [{ output: 'xml' }, /^Cannot use --output "xml": /],
])('%j is a problem in one line', (flags, line) => {
  expect(settled(flags)).toEqual({
    _tag: 'SettingsProblem',
    message: expect.stringMatching(line),
  });
});
