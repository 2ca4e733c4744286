/** Pods: read for drains and for demand, with the CapacityRequest that is written for each. */
import { nodePods } from '../../../src/domain/drain/node-pods.ts';
import { podFacts } from '../../../src/domain/drain/pod-facts.ts';
import { podProjection, terminatingSinceMs } from '../../../src/domain/drain/pod.ts';
import { problemsText, readCapacityRequest } from '../../../src/domain/demand/reading.ts';
import { recordAt } from '../../../src/domain/json.ts';
import {
  newPodRequest,
  podRequestPatch,
  projectOwnedRequest,
} from '../../../src/domain/pod-demand/owned-request.ts';
import { NO_DEFAULTS } from '../../../src/domain/pod-demand/penalties.ts';
import {
  type PodDemand,
  podDemandProjector,
  podName,
} from '../../../src/domain/pod-demand/pod-demand.ts';
import { requestOfPod, requestTexts } from '../../../src/domain/pod-demand/pod-request.ts';
import { expectThat, type FuzzTarget, masked } from '../fuzz-target.ts';
import { mutateJson, smallerJson } from '../json-mutation.ts';

const UID = '01234567-89ab-cdef-0123-456789abcdef';

const SEEDS: readonly object[] = [
  {
    metadata: {
      name: 'web-1',
      namespace: 'ns',
      uid: UID,
      resourceVersion: '3',
      labels: { app: 'web' },
      annotations: { 'bigfleet.lucy.sh/interruption-penalty': '16' },
      creationTimestamp: '2026-11-23T00:00:00Z',
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web', uid: 'uid-2', controller: true }],
    },
    spec: {
      nodeSelector: { zone: 'a' },
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{
              matchExpressions: [{ key: 'gpu', operator: 'Gt', values: ['3'] }],
              matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }],
            }],
          },
        },
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{
            topologyKey: 'rack',
            labelSelector: { matchLabels: { app: 'web' } },
            namespaces: ['ns'],
          }],
        },
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{
            topologyKey: 'kubernetes.io/hostname',
            labelSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] },
          }],
        },
      },
      topologySpreadConstraints: [{
        topologyKey: 'zone',
        maxSkew: 1,
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { app: 'web' } },
      }],
      containers: [
        { name: 'main', resources: { requests: { cpu: '500m', memory: '1Gi' } } },
        { name: 'side', resources: { limits: { cpu: 1, 'nvidia.com/gpu': '1' } } },
      ],
      initContainers: [
        { name: 'first', restartPolicy: 'Always', resources: { requests: { cpu: '2' } } },
      ],
      overhead: { cpu: '10m' },
      resources: { requests: { memory: '3Gi' } },
      priority: 1000,
      priorityClassName: 'high',
      tolerations: [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule' }],
      volumes: [{ name: 'scratch', emptyDir: {} }],
    },
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False' }] },
  },
  {
    metadata: {
      name: 'agent',
      namespace: 'ns',
      uid: 'uid-3',
      resourceVersion: '4',
      finalizers: ['a/b'],
      deletionTimestamp: '2026-11-23T00:00:30Z',
      deletionGracePeriodSeconds: 30,
      ownerReferences: [{ kind: 'DaemonSet', name: 'agent', uid: 'uid-4' }],
    },
    spec: { nodeName: 'node-1', containers: [{ name: 'main' }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  },
];

const asCreated = (object: object, name: string): object => ({
  ...object,
  metadata: { ...recordAt(object, 'metadata'), name, uid: 'uid-9', resourceVersion: '1' },
});

/** The request of a pod is read as it was written: otherwise it is written for ever. */
const demandOutcome = (
  pod: PodDemand,
  textOf: ReturnType<typeof requestTexts>,
): string => {
  const request = requestOfPod(pod, NO_DEFAULTS);
  if (pod.ask === null || request === undefined) return pod.status;
  const requested = { namespace: pod.namespace, name: podName(pod), uid: pod.uid };
  const text = textOf(pod.ask);
  const body: unknown = JSON.parse(JSON.stringify(newPodRequest(requested, request.name, text)));
  const created = asCreated(recordAt(body) ?? {}, request.name);
  const owned = projectOwnedRequest(created);
  expectThat(owned !== undefined, 'the request of a pod cannot be read');
  const patch = owned && podRequestPatch(requested, owned, text);
  expectThat(patch === undefined, `the request is patched again: ${JSON.stringify(patch)}`);
  const reading = readCapacityRequest(created);
  const what = reading._tag === 'Readable' ? '' : masked(problemsText(reading.problems));
  const [warning] = request.warnings;
  return `${reading._tag} ${what} ${warning === undefined ? '' : masked(warning.problem)}`;
};

/** Pods, as JSON. */
export const PODS: FuzzTarget = {
  name: 'pods',
  seeds: SEEDS.map((seed) => JSON.stringify(seed)),
  words: [
    ...['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Equal', 'NoSchedule', 'Always'],
    ...['Succeeded', 'Running', 'DaemonSet', 'Ready', 'kubernetes.io/config.mirror', 'emptyDir'],
    ...['cpu', 'memory', '1Gi', '100m', 'limits', 'requests', 'kubernetes.io/hostname', 'ns'],
    ...['bigfleet.lucy.sh/reclamation-penalty', 'namespaceSelector', 'matchLabelKeys', UID],
  ],
  mutate: mutateJson,
  smaller: smallerJson,
  open: () => {
    const projectDrained = podProjection();
    const projectDemand = podDemandProjector();
    const textOf = requestTexts(NO_DEFAULTS);
    return ({ value: raw }) => {
      const drained = projectDrained(raw);
      const demanded = projectDemand(raw);
      expectThat((drained === undefined) === (demanded === undefined), 'only one reads the pod');
      if (drained === undefined || demanded === undefined) return 'no identity';
      const pods = nodePods();
      pods.observe({ _tag: 'Present', object: drained });
      const there = [...pods.on(drained.node)].length;
      const { need } = podFacts(drained, [], {
        kubeletSilent: false,
        intercepted: false,
        serving: false,
      });
      const since = terminatingSinceMs(drained) === undefined ? '' : 'terminating';
      return `${there} ${need._tag} ${since} ${demandOutcome(demanded, textOf)}`;
    };
  },
};
