/** The DaemonSet controller: one pod on every eligible node, cordoned or not. */
import { type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../values/json.ts';
import { refusedTaint, wantsNode } from './fit.ts';
import { isActive, isReady, isTerminating, nodeOf } from './pod-reading.ts';
import { podFrom } from './replicas.ts';
import {
  type Controller,
  type ControllerEnvironment,
  nameOf,
  pathOf,
  remove,
} from './controller-environment.ts';
import { startWorkloads } from './workload-loop.ts';

/** Tolerations that every DaemonSet pod gets (`util.AddOrUpdateDaemonPodTolerations`). */
const TOLERATIONS = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];

const AFFINITY = 'requiredDuringSchedulingIgnoredDuringExecution';

const onNode = (name: string) => ({
  nodeAffinity: {
    [AFFINITY]: {
      nodeSelectorTerms: [{
        matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }],
      }],
    },
  },
});

/** The node that a pod is meant for, bound or not. */
const destinationOf = (pod: JsonRecord): string => {
  if (nodeOf(pod) !== '') return nodeOf(pod);
  const required = recordAt(pod, 'spec', 'affinity', 'nodeAffinity', AFFINITY);
  const [term] = listOrEmptyAt(required, 'nodeSelectorTerms');
  const [field] = listOrEmptyAt(term, 'matchFields');
  const [name] = listOrEmptyAt(field, 'values');
  return typeof name === 'string' ? name : '';
};

/** Starts the controller. */
export const startDaemonSets = (environment: ControllerEnvironment): Controller =>
  startWorkloads(environment, {
    collection: 'daemonsets',
    owns: 'pods',
    heeds: ['nodes'],
    step: (set, pods) => {
      const template = recordAt(set, 'spec', 'template');
      const tolerations = [...listOrEmptyAt(template, 'spec', 'tolerations'), ...TOLERATIONS];
      const probe = { spec: { ...recordAt(template, 'spec'), tolerations } };
      const wanted = new Set(
        [...environment.list('nodes')]
          .filter((node) => wantsNode(probe, node) && refusedTaint(probe, node) === undefined)
          .map((node) => nameOf(node).name),
      );
      const served = new Set(pods.filter(isActive).map(destinationOf));
      const path = pathOf('pods', nameOf(set).namespace);
      for (const name of wanted) {
        if (served.has(name)) continue;
        const spec = { tolerations, affinity: onNode(name) };
        environment.call({
          method: 'POST',
          path,
          body: podFrom({ owner: set, kind: 'DaemonSet', spec }),
        });
      }
      for (const pod of pods) {
        if (!wanted.has(destinationOf(pod)) && !isTerminating(pod)) {
          remove(environment, 'pods', { object: pod });
        }
      }
      const ready = pods.filter((pod) => isActive(pod) && isReady(pod)).length;
      return {
        desiredNumberScheduled: wanted.size,
        currentNumberScheduled: pods.filter((pod) => wanted.has(destinationOf(pod))).length,
        numberMisscheduled: pods.filter((pod) => !wanted.has(textAt(pod, 'spec', 'nodeName') ?? ''))
          .length,
        numberReady: ready,
        numberAvailable: ready,
        updatedNumberScheduled: ready,
      };
    },
  });
