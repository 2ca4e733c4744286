/** All that explains one object, as `tidegate explain` reads it. */
import { expect, test } from 'vitest';
import { GROUP_PATH } from '../../../src/domain/api-group.ts';
import { OWNED_BY_POD } from '../../../src/domain/pod-demand/pod-request.ts';
import {
  readExplainedMachine,
  readExplainedPod,
  readExplainedRequest,
} from '../../../src/effects/explained-objects.ts';
import { readableApi } from '../../support/api/readable-api.ts';

const EVENTS = '/apis/events.k8s.io/v1/namespaces';
const eventOf = (kind: string, name: string) => ({
  metadata: { name: `${kind}-${name}` },
  regarding: { kind, name },
});
const leaseIn = (namespace: string) => ({ metadata: { name: 'tidegate', namespace } });
const node = { metadata: { name: 'n1' } };
const machine = { metadata: { name: 'un-1' }, status: { nodeRef: { name: 'n1' } } };
const coming = { metadata: { name: 'un-2' } };
const pod = { metadata: { name: 'a', uid: 'uid-a' } };
const request = { metadata: { name: 'cr-a', labels: { [OWNED_BY_POD]: 'uid-a' } } };
const LEASES = ['l1', 'l2', 'l3', 'l4', 'l5', 'l6'];

const explaining = () =>
  readableApi({
    objects: {
      '/api/v1/nodes/n1': node,
      '/api/v1/namespaces/ns/pods/a': pod,
      [`${GROUP_PATH}/upcomingnodes/un-1`]: machine,
      [`${GROUP_PATH}/upcomingnodes/un-2`]: coming,
      [`${GROUP_PATH}/namespaces/ns/capacityrequests/cr-a`]: request,
      [`${GROUP_PATH}/namespaces/ns/capacityrequests/cr-b`]: { metadata: { name: 'cr-b' } },
      [`${EVENTS}/ns/events/1`]: eventOf('Pod', 'a'),
      [`${EVENTS}/ns/events/2`]: eventOf('CapacityRequest', 'cr-a'),
      [`${EVENTS}/default/events/3`]: eventOf('UpcomingNode', 'un-1'),
      [`${EVENTS}/default/events/4`]: eventOf('Node', 'n1'),
      ...Object.fromEntries(LEASES.flatMap((namespace) => [
        [
          `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/tidegate`,
          leaseIn(namespace),
        ],
        [`${EVENTS}/${namespace}/events/1`, eventOf('Lease', 'tidegate')],
      ])),
    },
  });

const itemsOf = (...items: readonly object[]) => ({ items });

test('a pod is explained by its requests, its Events and the Leases of operators', async () => {
  const api = explaining();
  const read = await api.run(readExplainedPod('ns', 'a', 'tidegate'));
  expect(read).toMatchObject({
    pod: { _tag: 'Found', object: pod },
    requests: itemsOf(request),
    events: [itemsOf(eventOf('Pod', 'a'))],
  });
  expect(read.leases).toMatchObject({ items: LEASES.map(leaseIn) });
  expect(read.leaseEvents).toMatchObject(
    LEASES.slice(0, 5).map(() => itemsOf(eventOf('Lease', 'tidegate'))),
  );
});

test('a request is explained by its own Events', async () => {
  const read = await explaining().run(readExplainedRequest('ns', 'cr-a', 'tidegate'));
  expect(read).toMatchObject({
    request: { _tag: 'Found', object: request },
    events: [itemsOf(eventOf('CapacityRequest', 'cr-a'))],
    leaseEvents: LEASES.slice(0, 5).map(() => itemsOf(eventOf('Lease', 'tidegate'))),
  });
});

test('a machine is explained with its Node and the Events of both, when it has one', async () => {
  const read = await explaining().run(readExplainedMachine('un-1', 'tidegate'));
  expect(read).toMatchObject({
    upcomingNode: { _tag: 'Found', object: machine },
    node,
    events: [itemsOf(eventOf('UpcomingNode', 'un-1')), itemsOf(eventOf('Node', 'n1'))],
  });
  const alone = await explaining().run(readExplainedMachine('un-2', 'tidegate'));
  expect(alone).toMatchObject({ upcomingNode: { object: coming }, node: undefined });
  expect(alone.events).toHaveLength(1);
});

test('a pod that is missing is explained by what is known of its name', async () => {
  const read = await explaining().run(readExplainedPod('ns', 'gone', 'tidegate'));
  expect(read).toMatchObject({ pod: { _tag: 'Absent' }, requests: { items: [] } });
});
