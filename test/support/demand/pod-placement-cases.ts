/** Rows of the table of pods as demand: requirements, co-location and spread. */
import type { PodDemandCase } from './pod-demand-cases.ts';

const RULE = 'POD-02: ';

const SELECTED = RULE +
  '"each nodeSelector entry translated to an In [value] requirement, sorted ' +
  'for determinism"';
const FIRST_TERM = RULE + '"Requirements come from required nodeAffinity (first term\'s ' +
  'matchExpressions only)"';
const ANY = RULE + '"A Pod with no constraints at all gets a synthesized Exists on ' +
  'node.kubernetes.io/instance-type"';
const UNSAYABLE = RULE +
  'what a CapacityRequest cannot say (such as Gt, Lt, matchFields) is left ' +
  'out, with a Warning on the pod';
const TOGETHER = RULE +
  '"Co-location projects the Pod\'s required podAffinity (first term) into a ' +
  'CoLocationTerm"';
const SOFT = RULE +
  '"Preferred (soft) podAffinity and all podAntiAffinity are deliberately ignored"';
const SPREAD = RULE + '"Spread drops ScheduleAnyway terms at the edge"';

const ANY_NODE = [{ key: 'node.kubernetes.io/instance-type', operator: 'Exists' }];
const AFFINITY = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution';
const TERM = `${AFFINITY}.nodeSelectorTerms[0]`;

const terms = (...nodeSelectorTerms: readonly object[]): object => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  },
});
const matching = (...matchExpressions: readonly object[]): object => terms({ matchExpressions });
const beside = (...required: readonly object[]): object => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
});
const constraint = (topologyKey: string, maxSkew: number, whenUnsatisfiable: string): object => ({
  topologyKey,
  maxSkew,
  whenUnsatisfiable,
  labelSelector: { matchLabels: { app: 'web' } },
});

const ON_ZONE = { topologyKey: 'topology.kubernetes.io/zone' };
const WEB = { labelSelector: { matchLabels: { app: 'web' } } };

const REQUIREMENT_CASES: readonly PodDemandCase[] = [
  {
    title: 'asks for any node with an instance type when the pod asks for nothing',
    sentence: ANY,
    pod: {},
    expected: { requirements: ANY_NODE },
    served: true,
  },
  {
    title: 'asks for a nodeSelector entry as In with one value',
    sentence: SELECTED,
    pod: { spec: { nodeSelector: { disk: 'ssd' } } },
    expected: { requirements: [{ key: 'disk', operator: 'In', values: ['ssd'] }] },
    served: true,
  },
  {
    title: 'asks for several nodeSelector entries in the order of their keys',
    sentence: SELECTED,
    pod: { spec: { nodeSelector: { zone: 'b', disk: 'ssd', arch: 'arm64' } } },
    expected: {
      requirements: [
        { key: 'arch', operator: 'In', values: ['arm64'] },
        { key: 'disk', operator: 'In', values: ['ssd'] },
        { key: 'zone', operator: 'In', values: ['b'] },
      ],
    },
    served: true,
  },
  {
    title: 'asks for a nodeSelector entry with an empty value',
    sentence: SELECTED,
    pod: { spec: { nodeSelector: { marked: '' } } },
    expected: { requirements: [{ key: 'marked', operator: 'In', values: [''] }] },
    served: true,
  },
  {
    title: 'adds no instance type to what the pod asks for',
    sentence: ANY,
    pod: { spec: { nodeSelector: { disk: 'ssd' } } },
    expected: { requirements: [{ key: 'disk', operator: 'In', values: ['ssd'] }] },
    served: false,
  },
  ...['In', 'NotIn'].map((operator): PodDemandCase => ({
    title: `asks for ${operator} of a node affinity, its values in order`,
    sentence: FIRST_TERM,
    pod: { spec: matching({ key: 'zone', operator, values: ['c', 'a', 'b'] }) },
    expected: { requirements: [{ key: 'zone', operator, values: ['a', 'b', 'c'] }] },
    served: true,
  })),
  ...['Exists', 'DoesNotExist'].map((operator): PodDemandCase => ({
    title: `asks for ${operator} of a node affinity, without values`,
    sentence: FIRST_TERM,
    pod: { spec: matching({ key: 'gpu', operator }) },
    expected: { requirements: [{ key: 'gpu', operator }] },
    served: true,
  })),
  {
    title: 'asks for nodeSelector and node affinity together',
    sentence: RULE + '"Requirements come from required nodeAffinity and nodeSelector"',
    pod: {
      spec: {
        nodeSelector: { disk: 'ssd' },
        ...matching({ key: 'arch', operator: 'In', values: ['arm64'] }),
      },
    },
    expected: {
      requirements: [
        { key: 'arch', operator: 'In', values: ['arm64'] },
        { key: 'disk', operator: 'In', values: ['ssd'] },
      ],
    },
    served: true,
  },
  {
    title: 'has two requirements for one key when the pod has two',
    sentence: SELECTED,
    pod: {
      spec: { nodeSelector: { zone: 'a' }, ...matching({ key: 'zone', operator: 'Exists' }) },
    },
    expected: {
      requirements: [
        { key: 'zone', operator: 'In', values: ['a'] },
        { key: 'zone', operator: 'Exists' },
      ],
    },
    served: true,
  },
  {
    title: 'removes duplicate requirements',
    sentence: RULE + '"sorted for determinism"',
    pod: {
      spec: {
        nodeSelector: { zone: 'a' },
        ...matching({ key: 'zone', operator: 'In', values: ['a', 'a'] }),
      },
    },
    expected: { requirements: [{ key: 'zone', operator: 'In', values: ['a'] }] },
    served: false,
  },
  {
    title: 'asks for the first of several terms alone',
    sentence: RULE + '"multi-term OR semantics are out of v1 scope"',
    pod: {
      spec: terms(
        { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] },
        { matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] },
      ),
    },
    expected: { requirements: [{ key: 'zone', operator: 'In', values: ['a'] }] },
    served: true,
  },
  {
    title: 'passes over a term without a condition, which matches no node',
    sentence: 'Kubernetes API, NodeSelectorTerm: "A null or empty node selector term matches no ' +
      'objects"',
    pod: {
      spec: terms({}, { matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] }),
    },
    expected: { requirements: [{ key: 'zone', operator: 'In', values: ['b'] }] },
    served: false,
  },
  {
    title: 'asks for nothing that is only preferred',
    sentence: RULE + '"Requirements come from required nodeAffinity"',
    pod: {
      spec: {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{
              weight: 1,
              preference: { matchExpressions: [{ key: 'zone', operator: 'Exists' }] },
            }],
          },
        },
      },
    },
    expected: { requirements: ANY_NODE },
    served: true,
  },
  ...['Gt', 'Lt'].map((operator): PodDemandCase => ({
    title: `leaves ${operator} out and keeps the rest, with a Warning`,
    sentence: UNSAYABLE,
    pod: {
      spec: matching({ key: 'cores', operator, values: ['8'] }, {
        key: 'zone',
        operator: 'Exists',
      }),
    },
    expected: { requirements: [{ key: 'zone', operator: 'Exists' }] },
    warned: [`${TERM}.matchExpressions[0].operator`],
    served: true,
  })),
  {
    title: 'asks for any node when no requirement of the pod can be expressed',
    sentence: UNSAYABLE,
    pod: { spec: matching({ key: 'cores', operator: 'Gt', values: ['8'] }) },
    expected: { requirements: ANY_NODE },
    warned: [`${TERM}.matchExpressions[0].operator`],
    served: false,
  },
  {
    title: 'leaves matchFields out, with a Warning',
    sentence: UNSAYABLE,
    pod: {
      spec: terms({
        matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }],
        matchExpressions: [{ key: 'zone', operator: 'Exists' }],
      }),
    },
    expected: { requirements: [{ key: 'zone', operator: 'Exists' }] },
    warned: [`${TERM}.matchFields`],
    served: true,
  },
];

const TOGETHER_CASES: readonly PodDemandCase[] = [
  {
    title: 'stands alone when the pod has no affinity to pods',
    sentence: TOGETHER,
    pod: {},
    expected: { coLocation: null },
    served: false,
  },
  {
    title: 'is co-located by the first required pod affinity',
    sentence: TOGETHER,
    pod: { spec: beside({ ...ON_ZONE, ...WEB }) },
    expected: { coLocation: { ...ON_ZONE, ...WEB } },
    served: true,
  },
  {
    title: 'is co-located by the first of several terms alone, with a Warning',
    sentence: TOGETHER,
    pod: {
      spec: beside(
        { ...ON_ZONE, ...WEB },
        { topologyKey: 'kubernetes.io/hostname', ...WEB },
        { topologyKey: 'rack', ...WEB },
      ),
    },
    expected: { coLocation: { ...ON_ZONE, ...WEB } },
    warned: ['spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1]'],
    served: true,
  },
  {
    title: 'is co-located with a selector of expressions',
    sentence: TOGETHER,
    pod: {
      spec: beside({
        ...ON_ZONE,
        labelSelector: {
          matchExpressions: [{ key: 'tier', operator: 'In', values: ['db', 'web'] }],
        },
      }),
    },
    expected: {
      coLocation: {
        ...ON_ZONE,
        labelSelector: {
          matchExpressions: [{ key: 'tier', operator: 'In', values: ['db', 'web'] }],
        },
      },
    },
    served: true,
  },
  {
    title: 'is co-located without a selector when the pod gives none',
    sentence: TOGETHER,
    pod: { spec: beside(ON_ZONE) },
    expected: { coLocation: ON_ZONE },
    served: false,
  },
  {
    title: 'is not co-located by a preference',
    sentence: SOFT,
    pod: {
      spec: {
        affinity: {
          podAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, podAffinityTerm: { ...ON_ZONE, ...WEB } },
            ],
          },
        },
      },
    },
    expected: { coLocation: null },
    served: true,
  },
  {
    title: 'ignores anti-affinity',
    sentence: SOFT,
    pod: {
      spec: {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [{ ...ON_ZONE, ...WEB }],
          },
        },
      },
    },
    expected: { coLocation: null },
    served: true,
  },
  {
    title: 'leaves other namespaces of a pod affinity out, with a Warning',
    sentence: UNSAYABLE,
    pod: { spec: beside({ ...ON_ZONE, ...WEB, namespaces: ['elsewhere'] }) },
    expected: { coLocation: { ...ON_ZONE, ...WEB } },
    warned: [
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaces',
    ],
    served: true,
  },
];

const SPREAD_CASES: readonly PodDemandCase[] = [
  {
    title: 'is spread for DoNotSchedule',
    sentence: SPREAD,
    pod: { spec: { topologySpreadConstraints: [constraint('zone', 2, 'DoNotSchedule')] } },
    expected: {
      topologySpread: [{ maxSkew: 2, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
    },
    served: true,
  },
  {
    title: 'is not spread for ScheduleAnyway',
    sentence: SPREAD,
    pod: { spec: { topologySpreadConstraints: [constraint('zone', 1, 'ScheduleAnyway')] } },
    expected: { topologySpread: null },
    served: true,
  },
  {
    title: 'is spread over the binding constraints only, in the order of the keys',
    sentence: SPREAD,
    pod: {
      spec: {
        topologySpreadConstraints: [
          constraint('zone', 1, 'DoNotSchedule'),
          constraint('host', 1, 'ScheduleAnyway'),
          constraint('rack', 3, 'DoNotSchedule'),
        ],
      },
    },
    expected: {
      topologySpread: [
        { maxSkew: 3, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' },
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    },
    served: true,
  },
];

const minDomains = (domains: number, whenUnsatisfiable: string): object => ({
  ...constraint('zone', 1, whenUnsatisfiable),
  minDomains: domains,
});

const UNSAID_CASES: readonly PodDemandCase[] = [
  {
    title: 'leaves minDomains of a binding spread out, with a Warning',
    sentence: UNSAYABLE,
    pod: { spec: { topologySpreadConstraints: [minDomains(3, 'DoNotSchedule')] } },
    expected: {
      topologySpread: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
    },
    warned: ['spec.topologySpreadConstraints[0].minDomains'],
    served: true,
  },
  {
    title: 'has no Warning of one domain, which is the default',
    sentence: UNSAYABLE,
    pod: { spec: { topologySpreadConstraints: [minDomains(1, 'DoNotSchedule')] } },
    expected: {
      topologySpread: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
    },
    served: false,
  },
  {
    title: 'leaves claims of devices out, with a Warning',
    sentence: UNSAYABLE,
    pod: { spec: { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpu' }] } },
    expected: { requirements: ANY_NODE },
    warned: ['spec.resourceClaims'],
    served: false,
  },
];

/** Requirements, co-location and spread. */
export const PLACEMENT_CASES: readonly PodDemandCase[] = [
  ...REQUIREMENT_CASES,
  ...TOGETHER_CASES,
  ...SPREAD_CASES,
  ...UNSAID_CASES,
];
