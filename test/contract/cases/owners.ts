/** Contract: what goes with its owner. Brought about by the garbage collector. */
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
    'in the background, what is owned goes after its owner': [
      ...FAMILY,
      deleted('Background'),
      gone('owner'),
      gone('child'),
    ],
    'without a word, what is owned goes as well': [
      ...FAMILY,
      del('configmaps/owner'),
      gone('child'),
    ],
    'what is owned by what is owned goes as well': [
      ...FAMILY,
      keep({ child: 'metadata.uid' }),
      post('configmaps', owned('grandchild', owner('child', '{child}'))),
      del('configmaps/owner'),
      gone('child'),
      gone('grandchild'),
    ],
    'what is owned may be of another kind': [
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
    'in the foreground, the owner stays until what is owned is gone': [
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
    'what is owned by nobody who ever was goes': [
      post('configmaps', owned('child', owner('nobody', '00000000-0000-4000-8000-000000000000'))),
      gone('child'),
    ],
    'what is owned by a namesake of its owner goes': [
      ...OWNER,
      post('configmaps', owned('child', owner('owner', '00000000-0000-4000-8000-000000000001'))),
      gone('child'),
      get('configmaps/owner'),
    ],
    'what is owned lives as long as its owner': [...FAMILY, ...stays('child')],
    'an owner that goes does not take what it no longer owns': [
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
