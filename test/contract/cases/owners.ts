/** Contract: garbage collection of owned objects. */
import { configMap, owned, owner, pod } from '../objects.ts';
import {
  absent,
  del,
  exactly,
  get,
  invalid,
  keep,
  like,
  merge,
  ok,
  patch,
  post,
  refused,
  type Step,
  until,
} from '../steps.ts';
import { moment } from '../time-steps.ts';
import type { Area } from '../suite.ts';

const OWNER: readonly Step[] = [
  post('configmaps', configMap('owner')),
  keep({ uid: 'metadata.uid' }),
];
const OWNED: Step = post('configmaps', owned('child', owner('owner', '{uid}')));
const FAMILY: readonly Step[] = [...OWNER, OWNED];

const gone = (name: string): Step => until(get(`configmaps/${name}`, refused(404, 'NotFound')));
const stays = (name: string): readonly Step[] => [moment, moment, get(`configmaps/${name}`)];
const deleted = (propagationPolicy: string): Step => del('configmaps/owner', { propagationPolicy });

/** Owners and what they own. */
export const owners: Area = {
  title: 'Owners',
  cases: {
    'background deletion deletes dependents after their owner': [
      ...FAMILY,
      deleted('Background'),
      gone('owner'),
      gone('child'),
    ],
    'the default policy deletes dependents too': [
      ...FAMILY,
      del('configmaps/owner'),
      gone('child'),
    ],
    'dependents of dependents are deleted too': [
      ...FAMILY,
      keep({ child: 'metadata.uid' }),
      post('configmaps', owned('grandchild', owner('child', '{child}'))),
      del('configmaps/owner'),
      gone('child'),
      gone('grandchild'),
    ],
    'dependents may be of another kind': [
      ...OWNER,
      post('pods', pod('child', {}, { ownerReferences: [owner('owner', '{uid}')] })),
      del('configmaps/owner'),
      until(get('pods/child', refused(404, 'NotFound'))),
    ],
    'an orphan stays, without its owner': [
      ...FAMILY,
      deleted('Orphan'),
      gone('owner'),
      ...stays('child'),
      absent('metadata.ownerReferences'),
    ],
    'foreground deletion keeps the owner until its dependents are gone': [
      ...OWNER,
      post(
        'configmaps',
        owned('child', owner('owner', '{uid}', { blockOwnerDeletion: true }), {
          finalizers: ['example.com/hold'],
        }),
      ),
      deleted('Foreground'),
      until(get('configmaps/child', ok({ metadata: { deletionTimestamp: like(/Z$/) } }))),
      get(
        'configmaps/owner',
        ok({
          metadata: { deletionTimestamp: like(/Z$/), finalizers: ['foregroundDeletion'] },
        }),
      ),
      patch('configmaps/child', merge({ metadata: { finalizers: null } })),
      gone('child'),
      gone('owner'),
    ],
    'in the foreground, an owner of nothing goes': [...OWNER, deleted('Foreground'), gone('owner')],
    'in the foreground, what does not block is not waited for': [
      ...OWNER,
      post(
        'configmaps',
        owned('child', owner('owner', '{uid}'), { finalizers: ['example.com/hold'] }),
      ),
      deleted('Foreground'),
      gone('owner'),
      get('configmaps/child'),
    ],
    'what has two owners goes with the last': [
      ...OWNER,
      post('configmaps', configMap('other')),
      keep({ other: 'metadata.uid' }),
      post(
        'configmaps',
        configMap('child', {
          metadata: { ownerReferences: [owner('owner', '{uid}'), owner('other', '{other}')] },
        }),
      ),
      del('configmaps/owner'),
      until(get('configmaps/child', ok({ metadata: { ownerReferences: [{ name: 'other' }] } }))),
      exactly('metadata.ownerReferences', [
        { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: '{other}' },
      ]),
      del('configmaps/other'),
      gone('child'),
    ],
    'an object whose owner never existed is deleted': [
      post('configmaps', owned('child', owner('nobody', '00000000-0000-4000-8000-000000000000'))),
      gone('child'),
    ],
    'an object whose owner has another UID is deleted': [
      ...OWNER,
      post('configmaps', owned('child', owner('owner', '00000000-0000-4000-8000-000000000001'))),
      gone('child'),
      get('configmaps/owner'),
    ],
    'a dependent stays as long as its owner': [...FAMILY, ...stays('child')],
    'deleting an owner keeps its former dependents': [
      ...FAMILY,
      patch('configmaps/child', merge({ metadata: { ownerReferences: null } })),
      del('configmaps/owner'),
      gone('owner'),
      ...stays('child'),
    ],
    'an owner is named in full': [
      post('configmaps', owned('child', { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner' }), {
        status: 422,
        body: { reason: 'Invalid' },
      }),
    ],
    'two controllers are one too many': [
      post(
        'configmaps',
        configMap('child', {
          metadata: {
            ownerReferences: [
              owner('a', 'u1', { controller: true }),
              owner('b', 'u2', { controller: true }),
            ],
          },
        }),
        invalid(['metadata.ownerReferences', 'FieldValueInvalid']),
      ),
    ],
  },
};
