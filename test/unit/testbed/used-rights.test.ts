/** What is wrong with the rights of operators on a test bed, from made-up audit logs. */
import { expect, test } from 'vitest';
import type { AuditEntry } from '../../../tools/testbed/audit.ts';
import { type EndedSuite, rightsProblems } from '../../support/rights/used-rights.ts';
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

const problemsOf = (entries: readonly AuditEntry[], suite: EndedSuite): readonly string[] =>
  rightsProblems(entries, suite, false);

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
  expect(problemsOf([NODES, refused, refused], OTHER)).toEqual(['fleet may not list nodes']);
  const both = 'system:serviceaccount:default:tidegate.fleet.pods';
  expect(problemsOf([{ ...refused, user: both }], OTHER)).toEqual([
    'fleet,pods may not list nodes',
  ]);
});

test('an API server that has just started may refuse what the rights allow', () => {
  const refused = { ...NODES, code: 403, isUnauthorized: true };
  const lacking = { ...refused, verb: 'delete' };
  expect(rightsProblems([refused, lacking], OTHER, true)).toEqual(['fleet may not delete nodes']);
});

test('a request that a policy refused, and one of another user, are none', () => {
  const refused = { ...NODES, code: 403 };
  const others = ['viewer', 'system:serviceaccount:kube-system:job.fleet', 'tidegate'];
  const entries = others.map((user) => ({ ...refused, user, isUnauthorized: true }));
  expect(problemsOf([refused, ...entries], OTHER)).toEqual([]);
});

test('a witness that no longer uses a right is a problem, unless tests of it are left out', () => {
  const suite = { fullName: WITNESS, tasks: [PASSED] };
  expect(WITNESSED).toContain('patch leases.coordination.k8s.io');
  expect(problemsOf(requestsOf(WITNESSED), suite)).toEqual([]);
  const less = WITNESSED.filter((right) => right !== 'list namespaces');
  expect(problemsOf(requestsOf(less), suite)).toEqual([
    'pods did not list namespaces, which this suite is a witness of',
  ]);
  const partly = { ...suite, tasks: [PASSED, { type: 'test' } as const] };
  expect(problemsOf(requestsOf(less), partly)).toEqual([]);
});

test('what a process with other roles as well used is no witness', () => {
  const suite = { fullName: WITNESS, tasks: [PASSED] };
  const user = 'system:serviceaccount:default:tidegate.fleet.pods';
  const entries = requestsOf(WITNESSED).map((entry) => ({ ...entry, user }));
  expect(problemsOf(entries, suite)).toHaveLength(WITNESSED.length);
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
  expect(problemsOf(entries, suite)).toEqual([]);
});
