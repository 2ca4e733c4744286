/**
 * What the pods role looks at, and the role on top of it: the same in a process of its own and
 * within the operator.
 */
import type { RecordEvent } from '../../api/event-note.ts';
import { type OwnedRequest, projectOwnedRequest } from '../../domain/pod-demand/owned-request.ts';
import { type PodDemand, podDemandProjector } from '../../domain/pod-demand/pod-demand.ts';
import {
  type SelectedNamespace,
  selectedNamespaceProjector,
} from '../../domain/pod-demand/selected-namespace.ts';
import type { Identity } from '../../domain/facts.ts';
import type { Labels } from '../../domain/label-condition.ts';
import { textPool } from '../../domain/text-pool.ts';
import { CAPACITY_REQUESTS_PATH } from '../../effects/capacity-requests.ts';
import type { KubeApi } from '../../effects/kube-api.ts';
import type { PodRequests } from '../../effects/pod-requests.ts';
import type { PenaltyDefaultsInUse } from './penalty-defaults.ts';
import { type PodDemandRegistry, startPodDemands } from './pod-demands.ts';
import { type Informer, startInformer } from '../informers/informer.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** Which pods count, and where the penalties of classes are. */
export interface PodPolicy {
  /** `--priority-class-defaults-file`. */
  readonly penaltyDefaultsFile: string | undefined;
  /** `--pod-selector`. */
  readonly selectsPod: (labels: Labels) => boolean;
  /** `--namespace-selector`; undefined: pods of all namespaces count, and none is watched. */
  readonly selectsNamespace: ((labels: Labels) => boolean) | undefined;
}

/** What the role looks at. */
export interface PodCaches {
  readonly pods: Informer<PodDemand>;
  readonly requests: Informer<OwnedRequest>;
  readonly namespaces: Informer<SelectedNamespace> | undefined;
}

/** What the role asks of them. */
export interface PodRoleCaches extends Pick<PodCaches, 'pods' | 'namespaces'> {
  readonly requests: Pick<PodCaches['requests'], 'facts' | 'get'>;
}

/** Specs of requests that are kept once; far above the number of workloads of one cluster. */
const SHARED_TEXTS_MAX = 20_000;

/** What is kept of a request of a pod. */
export const ownedRequestProjector = (): (raw: unknown) => OwnedRequest | undefined => {
  const intern = textPool(SHARED_TEXTS_MAX);
  return (raw) => projectOwnedRequest(raw, intern);
};

/** Two views of one object in one projection, for a collection that is watched once. */
export const bothOf = <One extends Identity, Other extends Identity>(
  one: (raw: unknown) => One | undefined,
  other: (raw: unknown) => Other | undefined,
) =>
(raw: unknown): (One & Other) | undefined => {
  const [left, right] = [one(raw), other(raw)];
  return left === undefined || right === undefined ? undefined : { ...left, ...right };
};

/** Follows namespaces when some are left out. */
export const startNamespaces = (
  environment: ActorEnvironment<KubeApi>,
  { selectsNamespace }: Pick<PodPolicy, 'selectsNamespace'>,
): Informer<SelectedNamespace> | undefined =>
  selectsNamespace && startInformer(environment, {
    id: 'namespaces',
    path: '/api/v1/namespaces',
    project: selectedNamespaceProjector(selectsNamespace),
  });

/** Starts to list and watch what the role looks at, in a process of its own. */
export const startPodCaches = (
  environment: ActorEnvironment<KubeApi>,
  policy: PodPolicy,
): PodCaches => ({
  pods: startInformer(environment, {
    id: 'pods',
    path: '/api/v1/pods',
    project: podDemandProjector(policy.selectsPod),
  }),
  requests: startInformer(environment, {
    id: 'capacityrequests',
    path: CAPACITY_REQUESTS_PATH,
    project: ownedRequestProjector(),
  }),
  namespaces: startNamespaces(environment, policy),
});

/** Starts the role on its caches, not leading. */
export const startPodRole = (
  environment: ActorEnvironment<PodRequests>,
  { pods, requests, namespaces }: PodRoleCaches,
  { penalties, record }: {
    readonly penalties: Pick<PenaltyDefaultsInUse, 'defaults'>;
    readonly record: RecordEvent;
  },
): PodDemandRegistry =>
  startPodDemands(environment, {
    pods,
    requests,
    namespaces,
    defaults: penalties.defaults,
    record,
  });
