/** Contract: dry runs, generated names and what one may do. */
import { boat, budget, configMap, pod, workload } from '../objects.ts';
import {
  absent,
  get,
  includes,
  keepResourceVersion,
  like,
  made,
  merge,
  names,
  ok,
  patch,
  post,
  put,
  refused,
  type Step,
  unmoved,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const review = (attributes: object) => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  spec: attributes,
});

const generated = (prefix: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { generateName: prefix },
});
const MISSING: Step = get('configmaps/a', refused(404, 'NotFound'));

/** Dry runs, names, permissions. */
export const access: Area = {
  title: 'Dry runs, names and rights',
  cases: {
    'a dry run of a new object answers it and makes none': [
      post(
        'configmaps?dryRun=All',
        configMap('a', { data: { x: 'y' } }),
        made({
          metadata: { name: 'a', uid: like(/-/) },
          data: { x: 'y' },
        }),
      ),
      MISSING,
    ],
    'a dry run fills in defaults': [
      post('pods?dryRun=All', pod('a'), made({ spec: { restartPolicy: 'Always' } })),
      get('pods/a', 404),
    ],
    'a dry run refuses what is there': [
      post('configmaps', configMap('a')),
      post('configmaps?dryRun=All', configMap('a'), refused(409, 'AlreadyExists')),
    ],
    'a dry run refuses what is invalid': [
      post('configmaps?dryRun=All', configMap('A'), refused(422, 'Invalid')),
    ],
    'a dry run of an update writes nothing': [
      post('configmaps', configMap('a')),
      keepResourceVersion(),
      put(
        'configmaps/a?dryRun=All',
        configMap('a', { data: { x: 'y' } }),
        ok({ data: { x: 'y' } }),
      ),
      get('configmaps/a'),
      unmoved(),
      absent('data'),
    ],
    'a dry run of a patch writes nothing': [
      post('deployments', workload('a')),
      keepResourceVersion(),
      patch(
        'deployments/a?dryRun=All',
        merge({ spec: { replicas: 9 } }),
        ok({
          spec: { replicas: 9 },
          metadata: { generation: 2 },
        }),
      ),
      get('deployments/a', ok({ spec: { replicas: 1 } })),
      unmoved(),
    ],
    'a dry run of a status writes nothing': [
      post('poddisruptionbudgets', budget('a')),
      keepResourceVersion(),
      patch('poddisruptionbudgets/a/status?dryRun=All', merge({ status: { expectedPods: 4 } })),
      get('poddisruptionbudgets/a'),
      unmoved(),
    ],
    'a dry run of a scale writes nothing': [
      post('deployments', workload('a')),
      patch(
        'deployments/a/scale?dryRun=All',
        merge({ spec: { replicas: 4 } }),
        ok({
          spec: { replicas: 4 },
        }),
      ),
      get('deployments/a', ok({ spec: { replicas: 1 } })),
    ],
    'a dry run of a custom resource writes nothing': [
      post(
        'boats?dryRun=All',
        boat('a', { spec: { length: 1 } }),
        made({ spec: { kind: 'sail' } }),
      ),
      get('boats/a', 404),
    ],
    'a dry run that is none is refused': [
      post('configmaps?dryRun=Some', configMap('a'), { status: 422, body: { reason: 'Invalid' } }),
      MISSING,
    ],
    'a name is generated from its prefix': [
      post(
        'configmaps',
        generated('web-'),
        made({
          metadata: { generateName: 'web-', name: like(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/) },
        }),
      ),
    ],
    'a name stands before a prefix': [
      post('configmaps', {
        ...generated('web-'),
        metadata: { generateName: 'web-', name: 'a' },
      }, made({ metadata: { name: 'a', generateName: 'web-' } })),
    ],
    'a prefix that is too long is cut': [
      post(
        'configmaps',
        generated('x'.repeat(70)),
        made({
          metadata: { name: like(/^x{58}[a-z0-9]{5}$/) },
        }),
      ),
    ],
    'a prefix that makes no name is invalid': [
      post('configmaps', generated('WEB-'), refused(422, 'Invalid')),
    ],
    'two generated names differ': [
      post('configmaps', generated('a-')),
      post('configmaps', generated('a-')),
      get('configmaps'),
      get('configmaps?limit=1', ok({ metadata: { remainingItemCount: 1 } })),
    ],
    'an administrator may evict': [
      post(
        'selfsubjectaccessreviews',
        review({
          resourceAttributes: {
            verb: 'create',
            resource: 'pods',
            subresource: 'eviction',
            namespace: '{ns}',
          },
        }),
        made({
          kind: 'SelfSubjectAccessReview',
          apiVersion: 'authorization.k8s.io/v1',
          spec: { resourceAttributes: { verb: 'create', resource: 'pods' } },
          status: { allowed: true },
        }),
      ),
    ],
    'an administrator may read any path': [
      post(
        'selfsubjectaccessreviews',
        review({
          nonResourceAttributes: { verb: 'get', path: '/metrics' },
        }),
        made({ status: { allowed: true } }),
      ),
    ],
    'a review of nothing is invalid': [
      post('selfsubjectaccessreviews', review({}), { status: 422, body: { reason: 'Invalid' } }),
    ],
    'a review of a resource and of a path is invalid': [
      post(
        'selfsubjectaccessreviews',
        review({
          resourceAttributes: { verb: 'get', resource: 'pods' },
          nonResourceAttributes: { verb: 'get', path: '/metrics' },
        }),
        { status: 422, body: { reason: 'Invalid' } },
      ),
    ],
    "a user's rules are listed for a namespace": [
      post(
        'selfsubjectrulesreviews',
        {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectRulesReview',
          spec: { namespace: '{ns}' },
        },
        made({ kind: 'SelfSubjectRulesReview', apiVersion: 'authorization.k8s.io/v1' }),
      ),
      includes('status.resourceRules', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]),
      includes('status.nonResourceRules', [{ verbs: ['*'], nonResourceURLs: ['*'] }]),
    ],
    "a user's rules are listed for no namespace: a bad request": [
      post('selfsubjectrulesreviews', {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectRulesReview',
        spec: {},
      }, refused(400, 'BadRequest')),
    ],
    'a user is told its name and groups': [
      post(
        'selfsubjectreviews',
        { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
        made({
          kind: 'SelfSubjectReview',
          apiVersion: 'authentication.k8s.io/v1',
          status: { userInfo: { username: like(/./) } },
        }),
      ),
      includes('status.userInfo.groups', ['system:masters']),
    ],
    'reviews are not kept': [get('selfsubjectaccessreviews', refused(405, 'MethodNotAllowed'))],
    'a generated name is not kept by a dry run': [
      post('configmaps?dryRun=All', generated('a-')),
      get('configmaps'),
      names(),
    ],
  },
};
