/** Requests as commands read them, from either API. */
import { describe, expect, test } from 'vitest';
import { readRequest, readRequests, selectionsOf } from '../../../src/effects/request-reads.ts';
import { readableApi } from '../../support/api/readable-api.ts';
import {
  rawNativeEviction,
  rawNativeRequest,
} from '../../support/eviction-requests/native-fixture.ts';
import { rawRequest } from '../../support/eviction-requests/request-fixture.ts';
import { textAt } from '../../../src/domain/json.ts';

const OWN = '/apis/lifecycle.tidegate.dev/v1alpha1';
const NATIVE = '/apis/lifecycle.k8s.io/v1alpha1';
const UID = textAt(rawRequest(), 'metadata', 'name') ?? '';
const REQUESTER = 'nodes.example.com/drain';
const IN = '/namespaces/blueberry';

describe('requests are selected', () => {
  test.each([
    ['all', {}, `${OWN}/evictionrequests`, undefined],
    ['of a namespace', { namespace: 'a' }, `${OWN}/namespaces/a/evictionrequests`, undefined],
    ['of labels', { labelSelector: 'app=b' }, `${OWN}/evictionrequests`, {
      labelSelector: 'app=b',
    }],
    ['of a pod', { podUid: 'u' }, `${OWN}/evictionrequests`, { fieldSelector: 'metadata.name=u' }],
  ])('%s', (_, scope, path, query) => {
    expect(selectionsOf('tidegate', { namespace: undefined, ...scope }))
      .toEqual({ _tag: 'Own', requests: { path, ...(query === undefined ? {} : { query }) } });
  });

  test('from both collections of Kubernetes, which are not named after pods', () => {
    expect(selectionsOf('native', { namespace: 'a', podUid: 'u' })).toEqual({
      _tag: 'Native',
      evictions: { path: `${NATIVE}/namespaces/a/evictions` },
      requests: { path: `${NATIVE}/namespaces/a/evictionrequests` },
    });
  });
});

const own = { [`${OWN}${IN}/evictionrequests/${UID}`]: rawRequest() };
const native = {
  [`${NATIVE}${IN}/evictions/pod-1-p-1`]: rawNativeEviction(),
  [`${NATIVE}${IN}/evictionrequests/r`]: rawNativeRequest(REQUESTER),
};
const nameless = { [`${OWN}${IN}/evictionrequests/${UID}`]: { metadata: { name: UID } } };

describe('the request of a pod', () => {
  test('is found in the API that has it', async () => {
    const ours = await readableApi({ objects: own }).run(readRequest('tidegate', 'blueberry', UID));
    expect(ours).toMatchObject({ _tag: 'Found', request: { pod: { uid: UID } } });
    const theirs = await readableApi({ objects: native })
      .run(readRequest('native', 'blueberry', UID));
    expect(theirs).toMatchObject({
      _tag: 'Found',
      request: { pod: { uid: UID }, requesters: ['drain.nodes.example.com'] },
    });
  });

  test('is absent where another pod has one', async () => {
    const theirs = await readableApi({ objects: native }).run(
      readRequest('native', 'blueberry', 'x'),
    );
    expect(theirs).toEqual({ _tag: 'Absent' });
    const ours = await readableApi({ objects: own }).run(readRequest('tidegate', 'blueberry', 'x'));
    expect(ours._tag).toBe('Absent');
  });

  test('needs a name, a UID and a version', async () => {
    const read = await readableApi({ objects: nameless })
      .run(readRequest('tidegate', 'blueberry', UID));
    expect(read).toEqual({ _tag: 'Refused', status: 200, why: 'the answer has no name' });
  });

  test.each(['evictions', 'evictionrequests'])('is refused with its %s', async (collection) => {
    const path = `${NATIVE}${IN}/${collection}`;
    const api = readableApi({ objects: native, refused: { [path]: 403 } });
    expect(await api.run(readRequest('native', 'blueberry', UID)))
      .toMatchObject({ _tag: 'Refused', status: 403 });
  });
});

test('all requests of Kubernetes are joined by their pods', async () => {
  const read = await readableApi({ objects: native })
    .run(readRequests('native', { namespace: undefined }));
  expect(read).toMatchObject({
    objects: [{ pod: { uid: UID }, native: { evictionName: 'pod-1-p-1' } }],
  });
});
