/**
 * Nodes that are out of service (*Non-graceful node shutdown*): the taint eviction controller and
 * the pod garbage collector.
 *
 * Promises: pods that do not tolerate the taint are deleted at once; while the node is not Ready,
 * those that terminate are removed within 20 s, whatever their kubelet does.
 */
import { listOrEmptyAt, textAt } from '../values/json.ts';
import { tolerates } from './fit.ts';
import { keyQueue } from './key-queue.ts';
import { isReady, isTerminating, nodeOf } from './pod-reading.ts';
import {
  type Controller,
  type ControllerEnvironment,
  nameOf,
  remove,
  within,
} from './controller-environment.ts';

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
const NO_EXECUTE = 'NoExecute';
/** How often the collector looks. */
const COLLECTOR_MS = 20_000;

const taintOf = (node: unknown): unknown =>
  listOrEmptyAt(node, 'spec', 'taints').find((taint) =>
    textAt(taint, 'key') === OUT_OF_SERVICE && textAt(taint, 'effect') === NO_EXECUTE
  );

/** Starts both. */
export const startOutOfService = (environment: ControllerEnvironment): Controller => {
  const nodeIn = (name: string) => environment.get('nodes', { namespace: '', name });
  const podsOn = (name: string) =>
    [...environment.list('pods')].filter((pod) => nodeOf(pod) === name);
  const evicting = keyQueue(environment.time, (name) => {
    const taint = taintOf(nodeIn(name));
    if (taint === undefined) return;
    for (const pod of podsOn(name)) {
      const stays = listOrEmptyAt(pod, 'spec', 'tolerations').some((one) => tolerates(one, taint));
      if (!stays && !isTerminating(pod)) remove(environment, 'pods', { object: pod });
    }
    collecting.schedule(name, COLLECTOR_MS);
  });
  const collecting = keyQueue(environment.time, (name) => {
    const node = nodeIn(name);
    if (node === undefined || taintOf(node) === undefined || isReady(node)) return;
    for (const pod of podsOn(name)) {
      if (isTerminating(pod)) remove(environment, 'pods', { object: pod, graceSeconds: 0 });
    }
    collecting.schedule(name, COLLECTOR_MS);
  });
  const unsubscribe = environment.subscribe(({ type, collection, object }) => {
    if (type === 'DELETED') return;
    const node = collection === 'pods' ? nodeIn(nodeOf(object)) : object;
    if ((collection !== 'pods' && collection !== 'nodes') || node === undefined) return;
    if (taintOf(node) === undefined) return;
    evicting.schedule(nameOf(node).name, within(environment, environment.timing.controllerMs));
  });
  return {
    stop: () => {
      unsubscribe();
      evicting.stop();
      collecting.stop();
    },
  };
};
