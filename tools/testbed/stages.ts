/**
 * kwok stages as a kubelet: Nodes become Ready, pods run, Jobs complete and deleted pods terminate,
 * each after its own delay.
 */
import { stringify } from 'yaml';

/** How long each change takes. */
export interface StageDelays {
  readonly nodeReadyMs: number;
  readonly podReadyMs: number;
  readonly podCompleteMs: number;
  /** From the deletion timestamp until the pod is gone: its termination time. */
  readonly podDeleteMs: number;
}

/** A pod's own termination time, as a Go duration; overrides `podDeleteMs`. */
export const POD_DELETE_ANNOTATION = 'testbed.tidegate.dev/delete-after';
/** A pod's own time until Ready, likewise; overrides `podReadyMs`. */
export const POD_READY_ANNOTATION = 'testbed.tidegate.dev/ready-after';

const HEARTBEAT_MS = 300_000;

const NODE_CONDITIONS = `
{{ $now := Now }}
{{ $since := or .metadata.creationTimestamp $now }}
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $since | Quote }}
{{ end }}
`;

const NODE_READY = `${NODE_CONDITIONS}
addresses:
- type: InternalIP
  address: {{ NodeIP | Quote }}
- type: Hostname
  address: {{ NodeName | Quote }}
{{ if not .status.allocatable }}
allocatable: {cpu: "8", memory: 32Gi, pods: "110"}
capacity: {cpu: "8", memory: 32Gi, pods: "110"}
{{ end }}
nodeInfo:
  architecture: amd64
  bootID: ""
  containerRuntimeVersion: kwok
  kernelVersion: kwok
  kubeProxyVersion: ""
  kubeletVersion: kwok
  machineID: ""
  operatingSystem: linux
  osImage: ""
  systemUUID: ""
phase: Running
`;

const POD_RUNNING = `
{{ $now := Now }}
conditions:
- {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "True", lastTransitionTime: {{ $now | Quote }}}
- {type: Ready, status: "True", lastTransitionTime: {{ $now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  restartCount: 0
  state: {running: {startedAt: {{ $now | Quote }}}}
{{ end }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
{{ $hostNetwork := or .spec.hostNetwork false }}
podIP: {{ PodIPWith .spec.nodeName $hostNetwork .metadata.uid .metadata.name .metadata.namespace | Quote }}
phase: Running
startTime: {{ $now | Quote }}
`;

const POD_COMPLETE = `
{{ $now := Now }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: false
  restartCount: 0
  state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}
{{ end }}
phase: Succeeded
`;

const READY = '.status.conditions.[] | select( .type == "Ready" ) | .status';
const PHASE = '.status.phase';
const DELETED = '.metadata.deletionTimestamp';

type Condition = Readonly<{ key: string; operator: string; values?: readonly string[] }>;

const has = (key: string): Condition => ({ key, operator: 'Exists' });
const hasNot = (key: string): Condition => ({ key, operator: 'DoesNotExist' });
const isOne = (key: string, ...values: readonly string[]): Condition => ({
  key,
  operator: 'In',
  values,
});
const isNone = (key: string, ...values: readonly string[]): Condition => ({
  key,
  operator: 'NotIn',
  values,
});

interface Stage {
  readonly name: string;
  readonly kind: 'Node' | 'Pod';
  readonly when: readonly Condition[];
  readonly delay: Readonly<Record<string, unknown>>;
  readonly next: Readonly<Record<string, unknown>>;
}

const after = (durationMilliseconds: number): Stage['delay'] => ({ durationMilliseconds });

/** Objects without such an annotation use `durationMilliseconds`. */
const afterOwn = (durationMilliseconds: number, annotation: string): Stage['delay'] => ({
  durationMilliseconds,
  durationFrom: { expressionFrom: `.metadata.annotations["${annotation}"]` },
});

const stages = (delays: StageDelays): readonly Stage[] => [
  {
    name: 'node-initialize',
    kind: 'Node',
    when: [isNone(READY, 'True')],
    delay: after(delays.nodeReadyMs),
    next: { statusTemplate: NODE_READY },
  },
  {
    name: 'node-heartbeat-with-lease',
    kind: 'Node',
    when: [isOne(PHASE, 'Running'), isOne(READY, 'True')],
    delay: { durationMilliseconds: HEARTBEAT_MS, jitterDurationMilliseconds: 2 * HEARTBEAT_MS },
    next: { statusTemplate: NODE_CONDITIONS },
  },
  {
    name: 'pod-ready',
    kind: 'Pod',
    when: [hasNot(DELETED), isOne(PHASE, 'Pending'), isNone(READY, 'True')],
    delay: afterOwn(delays.podReadyMs, POD_READY_ANNOTATION),
    next: { statusTemplate: POD_RUNNING },
  },
  {
    name: 'pod-complete',
    kind: 'Pod',
    when: [
      hasNot(DELETED),
      isOne(PHASE, 'Running'),
      isOne('.metadata.ownerReferences.[].kind', 'Job'),
    ],
    delay: after(delays.podCompleteMs),
    next: { statusTemplate: POD_COMPLETE },
  },
  {
    name: 'pod-delete',
    kind: 'Pod',
    when: [has(DELETED), hasNot('.metadata.finalizers')],
    delay: afterOwn(delays.podDeleteMs, POD_DELETE_ANNOTATION),
    next: { delete: true },
  },
];

/**
 * Concurrent stage transitions. With the default of 4 the pods of a hundred nodes took a minute to
 * terminate instead of a second.
 */
const AT_ONCE = 32;

const CONFIGURATION = stringify({
  apiVersion: 'config.kwok.x-k8s.io/v1alpha1',
  kind: 'KwokConfiguration',
  // kwok has no defaults for omitted configuration.
  options: {
    cidr: '10.0.0.0/24',
    nodeLeaseParallelism: AT_ONCE,
    nodePlayStageParallelism: AT_ONCE,
    podPlayStageParallelism: AT_ONCE,
    podsOnNodeSyncParallelism: 1,
    enablePodsOnNodeSyncListPager: true,
  },
});

/** The file that kwok is started with. */
export const stagesFile = (delays: StageDelays): string => {
  const documents = stages(delays).map((stage) =>
    stringify({
      apiVersion: 'kwok.x-k8s.io/v1alpha1',
      kind: 'Stage',
      metadata: { name: stage.name },
      spec: {
        resourceRef: { apiGroup: 'v1', kind: stage.kind },
        selector: { matchExpressions: stage.when },
        delay: stage.delay,
        next: stage.next,
      },
    })
  );
  return [CONFIGURATION, ...documents].join('---\n');
};
