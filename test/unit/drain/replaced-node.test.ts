/** A drain is of one Node, not of all that will have its name. */
import { expect, onTestFinished, test } from 'vitest';
import { valueAt } from '../../../src/domain/json.ts';
import { drainRig } from '../../support/drains/drain-rig.ts';

test('the drain of a Node that another one replaced under its name ends with it', async () => {
  const rig = drainRig();
  onTestFinished(rig.stop);
  const { node, nodes, order, pods, time } = rig;
  node('n1');
  pods.add({ node: 'n1', goesAfterMs: Infinity });
  order('i1', ['n1']);
  await time.advance(2000);
  expect(rig.state('n1')).toMatchObject({ underway: expect.anything() });
  nodes.put('n1', { metadata: { name: 'n1', uid: 'uid-of-the-next' }, spec: {} });
  await time.advance(2000);
  expect([rig.state('n1'), rig.phases('n1')]).toEqual([undefined, ['Draining', 'Drained']]);
  expect(rig.notes.at(-1)?.note).toBe('The Node was deleted after 2 s with 1 pod on it');
  expect(valueAt(nodes.get('n1'), 'metadata', 'annotations')).toBeUndefined();
});
