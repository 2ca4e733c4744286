/** What `tidegate doctor` makes of what it read. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { definitions } from '../../../src/api/definitions.ts';
import { NEEDED_RIGHTS, rightName } from '../../../src/domain/operator-rights.ts';
import type { RoleName } from '../../../src/domain/operator-roles.ts';
import {
  certificateFinding,
  clockFinding,
  definitionFinding,
  diagnosisText,
  finding,
  hasFailed,
  leaseFinding,
  rightsFinding,
} from '../../../src/view/diagnosis.ts';

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const DAY_MS = 86_400_000;
const LEASE = { name: 'tidegate-operator', namespace: 'tidegate' };

const right = (name: string) => {
  const found = NEEDED_RIGHTS.fleet.find((one) => rightName(one) === name);
  if (found === undefined) throw new Error(`The operator does not need ${name}`);
  return found;
};
const denied = (name: string, verb: string) => ({ right: right(name), verb, namespace: undefined });

describe('rights', () => {
  test('all of them are ok', () => {
    expect(rightsFinding(30, [])).toMatchObject({ state: 'ok', remedy: null });
  });

  test('missing verbs are named together by resource', () => {
    const found = rightsFinding(30, [
      denied('nodes', 'patch'),
      denied('nodes', 'watch'),
      denied('pods/eviction', 'create'),
    ]);
    expect(found.state).toBe('failed');
    expect(found.finding).toContain('may not patch, watch nodes; create pods/eviction');
  });

  test('rights that the operator can do without are a warning', () => {
    const found = rightsFinding(30, [denied('volumeattachments.storage.k8s.io', 'list')]);
    expect(found.state).toBe('warning');
  });
});

/** The table of permissions below a heading of docs/compatibility.md: resources and verbs. */
const documentedRights = (below: string): ReadonlyMap<string, string> => {
  const page = readFileSync(new URL('../../../docs/compatibility.md', import.meta.url), 'utf8');
  const [table = ''] = page.slice(page.indexOf(below)).split('\n\n').filter((block) =>
    block.startsWith('| resource')
  );
  return new Map(
    table.split('\n').slice(2).flatMap((row) => {
      const [, resources = '', verbs = ''] = row.split('|').map((cell) => cell.trim());
      return [...resources.matchAll(/`([^`]+)`/g)].map(([, name = '']) => [name, verbs] as const);
    }),
  );
};

test.each<[RoleName, string]>([
  ['fleet', '## Permissions'],
  ['pods', 'With `--with-pods`'],
  ['evictions', 'With the role `evictions`'],
  ['maintenance', 'With the role `maintenance`'],
  ['interceptors', 'With the role `interceptors`'],
])('the rights of the role %s are those that the documents list', (role, below) => {
  const needed = NEEDED_RIGHTS[role].map(({ resource, subresource, verbs }) =>
    [subresource === '' ? resource : `${resource}/${subresource}`, verbs.join(', ')] as const
  );
  expect(new Map(needed)).toEqual(documentedRights(below));
});

describe('a CRD', () => {
  const [wanted] = definitions();
  const established = { conditions: [{ type: 'Established', status: 'True' }] };

  test('that is not installed, or not established, failed', () => {
    expect(definitionFinding(wanted, undefined)).toMatchObject({ state: 'failed' });
    expect(definitionFinding(wanted, wanted)).toMatchObject({ state: 'failed' });
  });

  test('with the schema of this version is ok, with another one a warning', () => {
    expect(definitionFinding(wanted, { ...wanted, status: established }).state).toBe('ok');
    const [, other] = definitions();
    expect(definitionFinding(wanted, { ...other, status: established }).state).toBe('warning');
  });
});

describe('the Lease', () => {
  const held = (agoSeconds: number, holderIdentity = 'pod-1_a') => ({
    spec: {
      holderIdentity,
      leaseDurationSeconds: 15,
      renewTime: new Date(NOW_MS - agoSeconds * 1000).toISOString(),
    },
  });

  test('that does not exist, or was released, is a warning', () => {
    expect(leaseFinding(undefined, LEASE, NOW_MS).state).toBe('warning');
    expect(leaseFinding(held(1, ''), LEASE, NOW_MS).state).toBe('warning');
  });

  test('that is renewed names its holder', () => {
    expect(leaseFinding(held(3), LEASE, NOW_MS)).toMatchObject({
      state: 'ok',
      finding: 'Lease tidegate/tidegate-operator is held by "pod-1_a", renewed 3s ago',
    });
  });

  test('that its holder no longer renews failed', () => {
    expect(leaseFinding(held(60), LEASE, NOW_MS)).toMatchObject({
      state: 'failed',
      finding: expect.stringContaining('renewed it last 1m ago'),
    });
  });
});

test.each([
  [undefined, 'skipped'],
  [-4_000, 'ok'],
  [90_000, 'warning'],
  [-90_000, 'warning'],
])('a clock that is %s ms behind the API server is %s', (skewMs, state) => {
  expect(clockFinding(skewMs).state).toBe(state);
});

test('a certificate that expires within two weeks is a warning', () => {
  const about = { file: 'tls.crt', identity: 'bigfleet://cluster/c' };
  const left = (days: number) =>
    certificateFinding({ ...about, expiresMs: NOW_MS + days * DAY_MS }, NOW_MS);
  expect(left(13).state).toBe('warning');
  expect(left(90)).toMatchObject({
    state: 'ok',
    finding: 'tls.crt is for bigfleet://cluster/c and expires in 90d',
  });
});

test('findings are wrapped below their mark, with the remedy, its page and a summary', () => {
  const findings = [
    finding('clock', 'ok', 'It agrees'),
    finding('shard', 'failed', [
      'It cannot be reached from here by anything',
      'Check the address',
      'docs/tasks/mtls.md',
    ]),
  ];
  expect(diagnosisText(findings, { columns: 40, colors: false })).toBe(
    'ok       clock: It agrees\n' +
      'FAILED   shard: It cannot be reached\n' +
      '         from here by anything\n' +
      '         → Check the address\n' +
      '           https://tidegate.dev/docs/tasks/mtls.md\n' +
      '\n' +
      '1 failed, 1 ok\n',
  );
  expect([hasFailed(findings), hasFailed(findings.slice(0, 1))]).toEqual([true, false]);
});
