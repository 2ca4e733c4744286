/** Contract: paginated lists, and lists at a revision. */
import { expect } from 'vitest';
import { configMap } from '../objects.ts';
import {
  absent,
  containing,
  del,
  get,
  keep,
  keepResourceVersion,
  like,
  merge,
  names,
  newer,
  ok,
  patch,
  post,
  refused,
  type Step,
  unmoved,
} from '../steps.ts';
import { forget } from '../time-steps.ts';
import type { Area } from '../suite.ts';

const FIVE: readonly Step[] = ['a', 'b', 'c', 'd', 'e'].map((name) =>
  post('configmaps', configMap(name, { metadata: { labels: { odd: `${'ace'.includes(name)}` } } }))
);

const more = (remaining?: number) =>
  ok({
    metadata: {
      continue: like(/^[\w=-]+$/),
      ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
    },
  });

const keepToken: Step = keep({ token: 'metadata.continue' });
const next = (query: string) => `configmaps?${query}&continue={token}`;

/** Pages, continue tokens and revisions of lists. */
export const pages: Area = {
  title: 'Pages',
  cases: {
    'a page has as many items as requested': [
      ...FIVE,
      get('configmaps?limit=2', more(3)),
      names('a', 'b'),
    ],
    'the next page continues after the last item': [
      ...FIVE,
      get('configmaps?limit=2', more()),
      keepToken,
      get(next('limit=2'), more(1)),
      names('c', 'd'),
    ],
    'the last page has no token and nothing remains': [
      ...FIVE,
      get('configmaps?limit=3', more()),
      keepToken,
      get(next('limit=3')),
      names('d', 'e'),
      absent('metadata.continue', 'metadata.remainingItemCount'),
    ],
    'a page that is just full has no token': [
      ...FIVE,
      get('configmaps?limit=5'),
      names('a', 'b', 'c', 'd', 'e'),
      absent('metadata.continue'),
    ],
    'a page may be larger than the one before': [
      ...FIVE,
      get('configmaps?limit=1'),
      keepToken,
      get(next('limit=10')),
      names('b', 'c', 'd', 'e'),
    ],
    'a page without a limit is the rest': [
      ...FIVE,
      get('configmaps?limit=1'),
      keepToken,
      get('configmaps?continue={token}'),
      names('b', 'c', 'd', 'e'),
    ],
    'a limit of 0 is none': [...FIVE, get('configmaps?limit=0'), names('a', 'b', 'c', 'd', 'e')],
    'pages are of one revision': [
      ...FIVE,
      get('configmaps?limit=2'),
      keepToken,
      keepResourceVersion(),
      post('configmaps', configMap('f')),
      get(next('limit=2')),
      unmoved(),
    ],
    'objects created between pages are not in them': [
      ...FIVE,
      get('configmaps?limit=2'),
      keepToken,
      post('configmaps', configMap('bb')),
      get(next('limit=9')),
      names('c', 'd', 'e'),
    ],
    'objects deleted between pages are still in them': [
      ...FIVE,
      get('configmaps?limit=2'),
      keepToken,
      del('configmaps/d'),
      get(next('limit=9')),
      names('c', 'd', 'e'),
    ],
    'objects changed between pages are unchanged in them': [
      ...FIVE,
      get('configmaps?limit=2'),
      keepToken,
      patch('configmaps/c', merge({ data: { x: 'y' } })),
      get(next('limit=1')),
      names('c'),
      absent('items.0.data'),
    ],
    'a page may start after a deleted item': [
      ...FIVE,
      get('configmaps?limit=2'),
      keepToken,
      del('configmaps/b'),
      get(next('limit=9')),
      names('c', 'd', 'e'),
    ],
    'pages of a selection do not say how many remain': [
      ...FIVE,
      get('configmaps?limit=2&labelSelector=odd=true', more()),
      names('a', 'c'),
      absent('metadata.remainingItemCount'),
      keepToken,
      get(next('limit=2&labelSelector=odd=true')),
      names('e'),
      absent('metadata.continue'),
    ],
    'pages over all namespaces go on in the next namespace': [
      post('namespaces', { metadata: { name: '{ns}-z' } }),
      post(
        '/api/v1/namespaces/{ns}-z/configmaps',
        configMap('a', { metadata: { labels: { of: '{ns}' } } }),
      ),
      post('configmaps', configMap('b', { metadata: { labels: { of: '{ns}' } } })),
      get('all:configmaps?limit=1&labelSelector=of={ns}'),
      names('a'),
      keepToken,
      get('all:configmaps?limit=1&labelSelector=of={ns}&continue={token}'),
      names('b'),
    ],
    'a token that is none is a bad request': [
      get('configmaps?limit=1&continue=nonsense', refused(400, 'BadRequest')),
    ],
    'a token is not taken together with a revision': [
      ...FIVE,
      get('configmaps?limit=1'),
      keepToken,
      get(
        `${next('limit=1')}&resourceVersion=7`,
        refused(400, 'BadRequest', {
          message: 'specifying resource version is not allowed when using continue',
        }),
      ),
    ],
    'a limit that is no number is a bad request': [
      get('configmaps?limit=many', refused(400, 'BadRequest')),
    ],
    'a token of a compacted revision expires with an inconsistent one to continue': [
      ...FIVE,
      get('configmaps?limit=2'),
      keepToken,
      del('configmaps/d'),
      forget,
      get(
        next('limit=2'),
        refused(410, 'Expired', {
          message: containing('The provided continue parameter is too old'),
          metadata: { continue: like(/^[\w=-]+$/) },
        }),
      ),
      keepToken,
      get(next('limit=9')),
      names('c', 'e'),
    ],
    'revision 0 is any': [
      ...FIVE,
      get('configmaps?resourceVersion=0', ok({ kind: 'ConfigMapList' })),
    ],
    'a list not older than a revision has what was there then': [
      ...FIVE,
      keepResourceVersion(),
      get('configmaps?resourceVersion={rv}&resourceVersionMatch=NotOlderThan'),
      names('a', 'b', 'c', 'd', 'e'),
    ],
    'a list at an exact revision shows the state of that revision': [
      ...FIVE,
      get('configmaps'),
      keepResourceVersion(),
      del('configmaps/a'),
      post('configmaps', configMap('f')),
      get('configmaps?resourceVersion={rv}&resourceVersionMatch=Exact'),
      names('a', 'b', 'c', 'd', 'e'),
      unmoved(),
    ],
    'a list at a compacted revision has expired': [
      ...FIVE,
      get('configmaps'),
      keepResourceVersion(),
      del('configmaps/a'),
      forget,
      get('configmaps?resourceVersion={rv}&resourceVersionMatch=Exact', refused(410, 'Expired')),
    ],
    'a match without a revision is refused': [
      get('configmaps?resourceVersionMatch=Exact', { status: 422, body: { reason: 'Invalid' } }),
    ],
    'a match that is none is refused': [
      get('configmaps?resourceVersion=1&resourceVersionMatch=Nearly', {
        status: 422,
        body: { reason: 'Invalid' },
      }),
    ],
    'an exact match of revision 0 is refused': [
      get('configmaps?resourceVersion=0&resourceVersionMatch=Exact', {
        status: 422,
        body: { reason: 'Invalid' },
      }),
    ],
    'a revision that is no number is refused': [
      get('configmaps?resourceVersion=x', {
        status: 400,
        body: { message: expect.stringContaining('resourceVersion') },
      }),
    ],
    'a revision that is yet to come is waited for, then refused': [
      get('configmaps?resourceVersion=99999999', {
        status: 504,
        body: { reason: 'Timeout', message: containing('Too large resource version') },
      }),
    ],
    'one object is read at any revision that was': [
      ...FIVE,
      keepResourceVersion(),
      get('configmaps/a?resourceVersion={rv}', ok({ metadata: { name: 'a' } })),
      get('configmaps/a?resourceVersion=0', ok({ metadata: { name: 'a' } })),
    ],
    'a list after a list is as new or newer': [
      get('configmaps'),
      keepResourceVersion(),
      post('configmaps', configMap('a')),
      get('configmaps'),
      newer(),
    ],
  },
};
