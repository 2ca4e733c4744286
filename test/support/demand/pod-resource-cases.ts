/** Rows of the table of pods as demand: resources and priority. */
import type { PodDemandCase } from './pod-demand-cases.ts';

const RULE = 'POD-03: ';

const FORMULA = RULE + '"max(sum(containers)+sum(sidecars), peak init stage) + overhead"';
const SERIALLY = RULE + '"init containers run serially before the main containers"';
const SIDECAR = RULE + '"A sidecar (init container with restartPolicy: Always) joins the running ' +
  'set for the Pod\'s lifetime"';
const OVERHEAD = RULE +
  '"pod overhead (RuntimeClass) is part of the scheduler\'s effective request"';
const POD_LEVEL = "Tidegate: kube-scheduler's own arithmetic, with pod-level resources";
const RESIZED = 'Tidegate: a request follows its pod when the pod is resized in place';
const INIT_FORMULA =
  'Kubernetes KEP-753: "InitContainerUse(i) = sum of restartable init containers ' +
  'with index < i + i-th init container"';

type Amounts = Readonly<Record<string, string>>;

let numbered = 0;
const container = (requests: Amounts, more: object = {}): object => {
  numbered += 1;
  return { name: `c${numbered}`, image: 'image', resources: { requests }, ...more };
};
const sidecar = (requests: Amounts): object => container(requests, { restartPolicy: 'Always' });
const named = (name: string, requests: Amounts): object => container(requests, { name });

const granted = (resources: Amounts, allocatedResources: Amounts): object => ({
  containerStatuses: [{ name: 'main', resources: { requests: resources }, allocatedResources }],
});
const INFEASIBLE = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }];

interface Sum {
  readonly title: string;
  readonly sentence?: string;
  readonly spec: object;
  readonly status?: object;
  readonly resources: Amounts;
  readonly served?: boolean;
}

/** Rows about running containers, init stages, overhead and pods as a whole. */
const SUMS: readonly Sum[] = [
  { title: 'asks for no resource when the pod asks for none', spec: {}, resources: {} },
  {
    title: 'adds its containers up',
    spec: {
      containers: [
        container({ cpu: '250m', memory: '1Gi' }),
        container({ cpu: '1', memory: '512Mi' }),
      ],
    },
    resources: { cpu: '1250m', memory: '1536Mi' },
  },
  {
    title: 'adds resources that only some containers ask for',
    spec: { containers: [container({ cpu: '1' }), container({ memory: '1Gi' })] },
    resources: { cpu: '1', memory: '1Gi' },
  },
  {
    title: 'asks for devices like for any resource',
    spec: {
      containers: [container({ 'example.com/gpu': '2' }, {
        resources: { requests: { 'example.com/gpu': '2' }, limits: { 'example.com/gpu': '2' } },
      })],
    },
    resources: { 'example.com/gpu': '2' },
  },
  {
    title: 'omits a resource with a zero request',
    sentence: 'kube-scheduler, NodeResourcesFit: a request of zero is not looked for',
    spec: { containers: [container({ cpu: '0', memory: '1Gi' })] },
    resources: { memory: '1Gi' },
  },
  {
    title: 'takes the largest init container when it requests more',
    sentence: SERIALLY,
    spec: {
      containers: [container({ cpu: '1' })],
      initContainers: [container({ cpu: '3' }), container({ cpu: '2' })],
    },
    resources: { cpu: '3' },
  },
  {
    title: 'takes the containers when they request more than any init container',
    sentence: SERIALLY,
    spec: {
      containers: [container({ cpu: '2' }), container({ cpu: '2' })],
      initContainers: [container({ cpu: '3' }), container({ cpu: '3' })],
    },
    resources: { cpu: '4' },
  },
  {
    title: 'takes the larger value for each resource separately',
    sentence: FORMULA,
    spec: {
      containers: [container({ cpu: '2', memory: '1Gi' })],
      initContainers: [container({ cpu: '1', memory: '4Gi' })],
    },
    resources: { cpu: '2', memory: '4Gi' },
  },
  {
    title: 'asks for a resource that only an init container asks for',
    sentence: SERIALLY,
    spec: {
      containers: [container({ cpu: '1' })],
      initContainers: [container({ 'ephemeral-storage': '1Gi' })],
    },
    resources: { 'cpu': '1', 'ephemeral-storage': '1Gi' },
  },
  {
    title: 'adds sidecars to its containers',
    sentence: SIDECAR,
    spec: {
      containers: [container({ cpu: '1' })],
      initContainers: [sidecar({ cpu: '500m' }), sidecar({ cpu: '250m' })],
    },
    resources: { cpu: '1750m' },
  },
  {
    title: 'adds the sidecars that are up to each init stage',
    sentence: INIT_FORMULA,
    spec: {
      containers: [container({ cpu: '1' })],
      initContainers: [sidecar({ cpu: '1' }), container({ cpu: '4' })],
    },
    resources: { cpu: '5' },
  },
  {
    title: 'adds no sidecar to an init stage before it',
    sentence: INIT_FORMULA,
    spec: {
      containers: [container({ cpu: '1' })],
      initContainers: [container({ cpu: '4' }), sidecar({ cpu: '1' })],
    },
    resources: { cpu: '4' },
  },
  {
    title: 'finds the peak between sidecars that come one after another',
    sentence: INIT_FORMULA,
    spec: {
      containers: [container({ memory: '1Gi' })],
      initContainers: [
        sidecar({ memory: '1Gi' }),
        container({ memory: '2Gi' }),
        sidecar({ memory: '1Gi' }),
        container({ memory: '5Gi' }),
      ],
    },
    resources: { memory: '7Gi' },
  },
  {
    title: 'adds overhead to the containers',
    sentence: OVERHEAD,
    spec: { containers: [container({ cpu: '1' })], overhead: { cpu: '250m', memory: '64Mi' } },
    resources: { cpu: '1250m', memory: '64Mi' },
    served: false,
  },
  {
    title: 'adds overhead to the peak of the init stages',
    sentence: FORMULA,
    spec: {
      containers: [container({ cpu: '1' })],
      initContainers: [container({ cpu: '3' })],
      overhead: { cpu: '1' },
    },
    resources: { cpu: '4' },
    served: false,
  },
  {
    title: 'takes pod-level requests in the place of those of containers',
    sentence: POD_LEVEL,
    spec: {
      resources: { requests: { cpu: '3', memory: '3Gi' } },
      containers: [container({ cpu: '1', memory: '1Gi' })],
    },
    resources: { cpu: '3', memory: '3Gi' },
  },
  {
    title: 'takes container requests where the pod-level request is absent',
    sentence: POD_LEVEL,
    spec: {
      resources: { requests: { memory: '3Gi' } },
      containers: [container({ 'cpu': '1', 'ephemeral-storage': '1Gi' })],
    },
    resources: { 'cpu': '1', 'ephemeral-storage': '1Gi', 'memory': '3Gi' },
  },
  {
    title: 'adds overhead to pod-level requests',
    sentence: OVERHEAD,
    spec: {
      resources: { requests: { cpu: '2' } },
      containers: [container({ cpu: '1' })],
      overhead: { cpu: '500m' },
    },
    resources: { cpu: '2500m' },
    served: false,
  },
];

/** Rows about pods that are resized in place. */
const RESIZES: readonly Sum[] = [
  {
    title: 'grows with a pending resize',
    spec: { containers: [named('main', { cpu: '3' })] },
    status: granted({ cpu: '1' }, { cpu: '1' }),
    resources: { cpu: '3' },
  },
  {
    title: 'shrinks only when the node has released the resources',
    spec: { containers: [named('main', { cpu: '1' })] },
    status: granted({ cpu: '3' }, { cpu: '1' }),
    resources: { cpu: '3' },
  },
  {
    title: 'takes the allocated resources when a resize is infeasible',
    spec: { containers: [named('main', { cpu: '64' })] },
    status: { ...granted({ cpu: '2' }, { cpu: '2' }), conditions: INFEASIBLE },
    resources: { cpu: '2' },
  },
  {
    title: 'follows a resize of the pod as a whole',
    spec: {
      resources: { requests: { cpu: '2' } },
      containers: [named('main', { cpu: '1' })],
    },
    status: { resources: { requests: { cpu: '4' } }, allocatedResources: { cpu: '4' } },
    resources: { cpu: '4' },
  },
];

const rowOf = ({ title, sentence, spec, status, resources, served }: Sum): PodDemandCase => ({
  title,
  sentence: sentence ?? FORMULA,
  pod: { spec, ...(status === undefined ? {} : { status }) },
  expected: { resources },
  served: served ?? true,
});

const PRIORITY_CASES: readonly PodDemandCase[] = [
  {
    title: 'has the priority of the pod',
    sentence: 'CRD-03: "priority int32 (required)"',
    pod: { spec: { priority: 1000 } },
    expected: { priority: 1000 },
    served: false,
  },
  {
    title: 'has a negative priority of the pod',
    sentence: 'CRD-03: "priority int32 (required)"',
    pod: { spec: { priority: -5 } },
    expected: { priority: -5 },
    served: false,
  },
  {
    title: 'has priority 0 when the pod has none',
    sentence: 'CRD-03: "priority int32 (required)"',
    pod: {},
    expected: { priority: 0 },
    served: true,
  },
];

/** Resources and priority. */
export const RESOURCE_CASES: readonly PodDemandCase[] = [
  ...SUMS.map(rowOf),
  ...RESIZES.map((row) => rowOf({ sentence: RESIZED, served: false, ...row })),
  ...PRIORITY_CASES,
];
