/** Contract: discovery endpoints. */
import { expect } from 'vitest';
import { get, getAs, like, ok } from '../steps.ts';
import type { Area } from '../suite.ts';

const has = (...entries: readonly object[]) =>
  expect.arrayContaining(entries.map((entry) => expect.objectContaining(entry)));

const verbs = (...wanted: readonly string[]) => expect.arrayContaining([...wanted]);
const ALL = verbs(
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
);
const AGGREGATED =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

const resource = (name: string, kind: string, namespaced = true) => ({ name, kind, namespaced });

/** Health, versions, groups, resources and schemas. */
export const discovery: Area = {
  title: 'Discovery',
  cases: {
    'serves the version': [
      get('/version', ok({ major: '1', minor: like(/^\d+/), gitVersion: like(/^v1\.\d+\.\d+/) })),
    ],
    'serves livez, readyz and healthz': [
      get('/livez', ok({ text: 'ok' })),
      get('/readyz', ok({ text: 'ok' })),
      get('/healthz', ok({ text: 'ok' })),
    ],
    'lists the core versions': [
      get('/api', ok({ kind: 'APIVersions', versions: ['v1'] })),
    ],
    'lists the groups': [
      get(
        '/apis',
        ok({
          kind: 'APIGroupList',
          groups: has(
            { name: 'apps', preferredVersion: { groupVersion: 'apps/v1', version: 'v1' } },
            { name: 'policy' },
            { name: 'coordination.k8s.io' },
            { name: 'apiextensions.k8s.io' },
            { name: 'contract.tidegate.dev' },
          ),
        }),
      ),
    ],
    'a group lists its versions': [
      get(
        '/apis/policy',
        ok({
          kind: 'APIGroup',
          name: 'policy',
          versions: has({ groupVersion: 'policy/v1', version: 'v1' }),
        }),
      ),
    ],
    'a group that is not there is not found': [get('/apis/none.example.com', 404)],
    'lists the core resources': [
      get(
        '/api/v1',
        ok({
          kind: 'APIResourceList',
          groupVersion: 'v1',
          resources: has(
            { ...resource('pods', 'Pod'), singularName: 'pod', shortNames: ['po'], verbs: ALL },
            { ...resource('nodes', 'Node', false), shortNames: ['no'], verbs: ALL },
            { ...resource('pods/eviction', 'Eviction'), group: 'policy', version: 'v1' },
            { ...resource('pods/binding', 'Binding'), verbs: ['create'] },
            { ...resource('pods/status', 'Pod'), verbs: verbs('get', 'patch', 'update') },
            { ...resource('namespaces', 'Namespace', false), shortNames: ['ns'] },
            { ...resource('configmaps', 'ConfigMap'), shortNames: ['cm'] },
          ),
        }),
      ),
    ],
    'lists the apps resources with their scales': [
      get(
        '/apis/apps/v1',
        ok({
          kind: 'APIResourceList',
          groupVersion: 'apps/v1',
          resources: has(
            { ...resource('deployments', 'Deployment'), shortNames: ['deploy'], verbs: ALL },
            { ...resource('deployments/scale', 'Scale'), group: 'autoscaling', version: 'v1' },
            { ...resource('replicasets', 'ReplicaSet'), shortNames: ['rs'] },
            { ...resource('statefulsets', 'StatefulSet'), shortNames: ['sts'] },
            { ...resource('daemonsets', 'DaemonSet'), shortNames: ['ds'] },
          ),
        }),
      ),
    ],
    'lists the policy resources': [
      get(
        '/apis/policy/v1',
        ok({
          resources: has({
            ...resource('poddisruptionbudgets', 'PodDisruptionBudget'),
            shortNames: ['pdb'],
          }),
        }),
      ),
    ],
    'lists custom resources as defined': [
      get(
        '/apis/contract.tidegate.dev/v1',
        ok({
          kind: 'APIResourceList',
          groupVersion: 'contract.tidegate.dev/v1',
          resources: has(
            { ...resource('boats', 'Boat'), singularName: 'boat', verbs: ALL },
            { ...resource('boats/status', 'Boat'), verbs: verbs('get', 'patch', 'update') },
            { ...resource('boats/scale', 'Scale'), group: 'autoscaling', version: 'v1' },
            resource('harbours', 'Harbour', false),
          ),
        }),
      ),
    ],
    'aggregated discovery lists the core': [
      getAs(
        AGGREGATED,
        '/api',
        ok({
          kind: 'APIGroupDiscoveryList',
          apiVersion: 'apidiscovery.k8s.io/v2',
          items: has({
            versions: has({
              version: 'v1',
              resources: has({
                resource: 'pods',
                responseKind: expect.objectContaining({ kind: 'Pod' }),
                scope: 'Namespaced',
                singularResource: 'pod',
                verbs: ALL,
                subresources: has({
                  subresource: 'eviction',
                  responseKind: expect.objectContaining({ group: 'policy', kind: 'Eviction' }),
                }),
              }),
            }),
          }),
        }),
      ),
    ],
    'aggregated discovery lists groups': [
      getAs(
        AGGREGATED,
        '/apis',
        ok({
          kind: 'APIGroupDiscoveryList',
          items: has(
            {
              metadata: expect.objectContaining({ name: 'apps' }),
              versions: has({
                version: 'v1',
                resources: has({
                  resource: 'deployments',
                  shortNames: ['deploy'],
                  categories: ['all'],
                  subresources: has({ subresource: 'scale' }),
                }),
              }),
            },
            {
              metadata: expect.objectContaining({ name: 'contract.tidegate.dev' }),
              versions: has({ resources: has({ resource: 'harbours', scope: 'Cluster' }) }),
            },
          ),
        }),
      ),
    ],
    'schemas are listed by group and version': [
      get(
        '/openapi/v3',
        ok({
          paths: expect.objectContaining({
            'api/v1': { serverRelativeURL: like(/^\/openapi\/v3\/api\/v1\?hash=/) },
            'apis/apps/v1': { serverRelativeURL: like(/^\/openapi\/v3\/apis\/apps\/v1\?hash=/) },
          }),
        }),
      ),
    ],
    'the schema of a group names its kinds': [
      get(
        '/openapi/v3/apis/policy/v1',
        ok({
          openapi: like(/^3\./),
          components: {
            schemas: {
              'io.k8s.api.policy.v1.PodDisruptionBudget': {
                type: 'object',
                'x-kubernetes-group-version-kind': has({
                  group: 'policy',
                  kind: 'PodDisruptionBudget',
                  version: 'v1',
                }),
              },
            },
          },
        }),
      ),
    ],
  },
};
