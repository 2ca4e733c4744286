/** What is wrong with the rights of operators on a test bed, from made-up audit logs. */
import { expect, test } from 'vitest';
import type { AuditEntry } from '../../../tools/testbed/audit.ts';
import { rightsProblems } from '../../support/rights/used-rights.ts';
import { WITNESSES } from '../../support/rights/right-witnesses.ts';

const NODES: AuditEntry = {
  user: 'system:serviceaccount:default:tidegate.fleet',
  userAgent: '',
  verb: 'list',
  uri: '/api/v1/nodes',
  apiGroup: '',
  resource: 'nodes',
  subresource: '',
  namespace: '',
  name: '',
  uid: '',
  code: 200,
  isUnauthorized: false,
  receivedMs: 0,
  answeredMs: 0,
  requestObject: undefined,
};
const PASSED = { type: 'test', result: { state: 'pass' } } as const;
const OTHER = { fullName: 'test/e2e/other.test.ts > other', tasks: [PASSED] };
const [WITNESS = '', WITNESSED = []] = Object.entries(WITNESSES.pods)[0] ?? [];

/** The requests that use some rights of the role pods, such as `patch nodes/status`. */
const requestsOf = (rights: readonly string[]): readonly AuditEntry[] =>
  rights.map((right) => {
    const [verb = '', path = ''] = right.split(' ');
    const [kind = '', subresource = ''] = path.split('/');
    const [resource = '', ...group] = kind.split('.');
    const user = 'system:serviceaccount:default:pods.pods';
    return { ...NODES, user, verb, resource, subresource, apiGroup: group.join('.') };
  });

test('a request that lacks a right is a problem of its role, also once', () => {
  const refused = { ...NODES, code: 403, isUnauthorized: true };
  expect(rightsProblems([NODES, refused, refused], OTHER)).toEqual(['fleet may not list nodes']);
  const both = 'system:serviceaccount:default:tidegate.fleet.pods';
  expect(rightsProblems([{ ...refused, user: both }], OTHER)).toEqual([
    'fleet,pods may not list nodes',
  ]);
});

test('a request that a policy refused, and one of another user, are none', () => {
  const refused = { ...NODES, code: 403 };
  const others = ['viewer', 'system:serviceaccount:kube-system:job.fleet', 'tidegate'];
  const entries = others.map((user) => ({ ...refused, user, isUnauthorized: true }));
  expect(rightsProblems([refused, ...entries], OTHER)).toEqual([]);
});

test('a witness that no longer uses a right is a problem, unless tests of it are left out', () => {
  const suite = { fullName: WITNESS, tasks: [PASSED] };
  expect(WITNESSED).toContain('patch leases.coordination.k8s.io');
  expect(rightsProblems(requestsOf(WITNESSED), suite)).toEqual([]);
  const less = WITNESSED.filter((right) => right !== 'list namespaces');
  expect(rightsProblems(requestsOf(less), suite)).toEqual([
    'pods did not list namespaces, which this suite is a witness of',
  ]);
  const partly = { ...suite, tasks: [PASSED, { type: 'test' } as const] };
  expect(rightsProblems(requestsOf(less), partly)).toEqual([]);
});

test('what a process with other roles as well used is no witness', () => {
  const suite = { fullName: WITNESS, tasks: [PASSED] };
  const user = 'system:serviceaccount:default:tidegate.fleet.pods';
  const entries = requestsOf(WITNESSED).map((entry) => ({ ...entry, user }));
  expect(rightsProblems(entries, suite)).toHaveLength(WITNESSED.length);
});

test('a patch that creates uses the verb create', () => {
  const suite = { fullName: WITNESS, tasks: [PASSED] };
  const applied = 'capacityrequests.bigfleet.lucy.sh';
  const entries = requestsOf(WITNESSED.filter((right) => right !== `create ${applied}`))
    .map((entry) =>
      entry.verb === 'patch' && entry.subresource === '' && entry.apiGroup.startsWith('bigfleet')
        ? { ...entry, code: 201 }
        : entry
    );
  expect(rightsProblems(entries, suite)).toEqual([]);
});
