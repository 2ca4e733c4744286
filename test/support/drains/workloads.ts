/**
 * Workloads for drains on a test bed: deployments, budgets and blockers.
 *
 * Promises: plain manifests; pods request no resources, so that only a Node's pod limit determines
 * placement.
 */
import { POD_DELETE_ANNOTATION, POD_READY_ANNOTATION } from '../../../tools/testbed/stages.ts';

export const DRAIN_COLLECTIONS = {
  deployments: '/apis/apps/v1/namespaces/default/deployments',
  daemonSets: '/apis/apps/v1/namespaces/default/daemonsets',
  pods: '/api/v1/namespaces/default/pods',
  budgets: '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
  priorities: '/apis/scheduling.k8s.io/v1/priorityclasses',
  policies: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
  policyBindings: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
} as const;

/** Traits that pods of a test may have. */
export interface PodTraits {
  readonly priorityClassName?: string;
  /** Go durations; without them, the bed's own. */
  readonly readyAfter?: string;
  readonly deleteAfter?: string;
  readonly finalizers?: readonly string[];
}

const TOLERATE_ALL = [{ operator: 'Exists' }];

const annotationsOf = ({ readyAfter, deleteAfter }: PodTraits): object => ({
  ...(readyAfter === undefined ? {} : { [POD_READY_ANNOTATION]: readyAfter }),
  ...(deleteAfter === undefined ? {} : { [POD_DELETE_ANNOTATION]: deleteAfter }),
});

const specOf = ({ priorityClassName }: PodTraits, more: object = {}): object => ({
  containers: [{ name: 'main', image: 'example.com/main' }],
  ...(priorityClassName === undefined ? {} : { priorityClassName }),
  ...more,
});

const templateOf = (app: string, traits: PodTraits, spec: object = {}): object => ({
  metadata: {
    labels: { app },
    annotations: annotationsOf(traits),
    ...(traits.finalizers === undefined ? {} : { finalizers: traits.finalizers }),
  },
  spec: specOf(traits, spec),
});

/** A Deployment whose pods are labelled `app: <name>`. */
export const deployment = (name: string, replicas: number, traits: PodTraits = {}): object => ({
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: templateOf(name, traits),
  },
});

/** A DaemonSet of which one pod runs, on this Node; it tolerates cordons as all of them do. */
export const daemonSet = (name: string, node: string): object => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: templateOf(name, {}, {
      nodeSelector: { 'kubernetes.io/hostname': node },
      tolerations: TOLERATE_ALL,
    }),
  },
});

/** A pod without a controller on this Node. */
export const barePod = (name: string, node: string, traits: PodTraits = {}): object => ({
  metadata: {
    name,
    labels: { app: name },
    annotations: annotationsOf(traits),
    ...(traits.finalizers === undefined ? {} : { finalizers: traits.finalizers }),
  },
  spec: specOf(traits, { nodeName: node }),
});

/** The mirror pod of a static pod on this Node. */
export const mirrorPod = (name: string, node: string): object => ({
  metadata: {
    name,
    labels: { app: name },
    annotations: { 'kubernetes.io/config.mirror': 'abc', 'kubernetes.io/config.hash': 'abc' },
  },
  spec: {
    ...specOf({}),
    nodeName: node,
    automountServiceAccountToken: false,
    tolerations: TOLERATE_ALL,
  },
});

/** The disruptions that a budget allows. */
export type Allowance =
  | { readonly maxUnavailable: number | string }
  | { readonly minAvailable: number | string };

/** A budget of the pods that are labelled `app: <app>`. */
export const budget = (app: string, allowance: Allowance, name = app): object => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app } }, ...allowance },
});

/** A priority that pods can have by its name. */
export const priority = (name: string, value: number): object => ({ metadata: { name }, value });

/** A policy, and its binding, by which no pod with this name prefix may be evicted. */
export const evictionPolicy = (
  name: string,
  prefix: string,
): { readonly policy: object; readonly binding: object } => ({
  policy: {
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{
          apiGroups: [''],
          apiVersions: ['v1'],
          operations: ['CREATE'],
          resources: ['pods/eviction'],
        }],
      },
      validations: [{
        expression: `!object.metadata.name.startsWith('${prefix}')`,
        message: `pods ${prefix}* stay`,
      }],
    },
  },
  binding: { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } },
});
