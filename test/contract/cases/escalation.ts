/** Contract: nobody grants more than they may do themselves. */
import {
  binding,
  clusterRole,
  forbidden,
  granted,
  grantedEverywhere,
  role,
  rule,
  user,
} from '../access.ts';
import { as, get, merge, patch, post, until } from '../steps.ts';
import type { Area } from '../suite.ts';

const asAlice = as('{ns}-alice');
const ALICE = user('{ns}-alice');
const RBAC = 'rbac.authorization.k8s.io';
const writes = (verbs: readonly string[] = ['create', 'get', 'patch']) =>
  rule(verbs, ['roles', 'rolebindings'], { apiGroups: [RBAC] });

const attempting = (resource: string, name: string, rules: readonly string[]) =>
  forbidden(
    `${resource}.${RBAC} "${name}" is forbidden: user "{ns}-alice" ` +
      '(groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently ' +
      `held:\n${rules.join('\n')}`,
  );

/** Roles and bindings by users with few rights. */
export const escalation: Area = {
  title: 'Escalation of rights',
  cases: {
    'a role may not hold more than its writer': [
      ...granted(ALICE, writes(), rule(['get'], ['configmaps'])),
      until(asAlice(post('roles', role('a', rule(['get'], ['configmaps']))))),
      asAlice(
        post(
          'roles',
          role('b', rule(['get', 'list'], ['configmaps', 'secrets'])),
          attempting('roles', 'b', [
            '{APIGroups:[""], Resources:["configmaps"], Verbs:["list"]}',
            '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
          ]),
        ),
        patch(
          'roles/a',
          merge({ rules: [rule(['get'], ['secrets'])] }),
          attempting('roles', 'a', ['{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}']),
        ),
      ),
    ],
    'a writer with the verb escalate may write any role': [
      ...granted(ALICE, writes(['create', 'escalate'])),
      until(asAlice(post('roles', role('a', rule(['*'], ['secrets']))))),
    ],
    'a binding may not grant more than its writer holds': [
      ...granted(ALICE, writes()),
      until(asAlice(get('roles/granted'))),
      asAlice(
        post(
          'rolebindings',
          binding('a', ['ClusterRole', 'cluster-admin'], ALICE),
          attempting('rolebindings', 'a', [
            '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
            '{NonResourceURLs:["*"], Verbs:["*"]}',
          ]),
        ),
        post('rolebindings', binding('b', ['Role', 'granted'], user('zoe'))),
      ),
    ],
    'a writer with the verb bind may bind the role that it names': [
      post('clusterroles', clusterRole('{ns}-power', rule(['*'], ['secrets']))),
      ...granted(
        ALICE,
        writes(),
        rule(['bind'], ['clusterroles'], { apiGroups: [RBAC], resourceNames: ['{ns}-power'] }),
      ),
      until(asAlice(post('rolebindings', binding('a', ['ClusterRole', '{ns}-power'], ALICE)))),
      asAlice(
        post('rolebindings', binding('b', ['ClusterRole', 'cluster-admin'], ALICE), 403),
      ),
    ],
    'a binding to an absent role is refused': [
      ...granted(ALICE, writes()),
      until(asAlice(get('roles/granted'))),
      asAlice(post('rolebindings', binding('a', ['Role', 'none'], ALICE), 404)),
    ],
    'a role that collects others needs every right': [
      ...grantedEverywhere(ALICE, rule(['create'], ['clusterroles'], { apiGroups: [RBAC] })),
      until(asAlice(post('clusterroles', clusterRole('{ns}-a')))),
      asAlice(
        post(
          'clusterroles',
          {
            ...clusterRole('{ns}-b'),
            aggregationRule: { clusterRoleSelectors: [{ matchLabels: { of: 'x' } }] },
          },
          forbidden(
            `clusterroles.${RBAC} "{ns}-b" is forbidden: must have cluster-admin privileges to ` +
              'use the aggregationRule',
          ),
        ),
      ),
    ],
  },
};
