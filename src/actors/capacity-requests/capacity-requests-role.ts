/**
 * The role that turns pods into demand: one CapacityRequest for every pod that counts.
 *
 * Promises: works the same alone and beside other roles; invalid penalty defaults fail the start.
 */
import type { ObjectKey } from '../../domain/ids.ts';
import type { Labels } from '../../domain/label-condition.ts';
import {
  asOwnedRequest,
  type OwnedRequest,
  projectOwnedRequest,
} from '../../domain/pod-demand/owned-request.ts';
import { NO_DEFAULTS, type PenaltyDefaults } from '../../domain/pod-demand/penalties.ts';
import { podDemandProjector } from '../../domain/pod-demand/pod-demand.ts';
import { selectedNamespaceProjector } from '../../domain/pod-demand/selected-namespace.ts';
import { textPool } from '../../domain/text-pool.ts';
import { CAPACITY_REQUESTS_PATH } from '../../effects/capacity-requests.ts';
import type { PodRequests } from '../../effects/pod-requests.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { DemandOfPods } from '../demand/demand-sync.ts';
import { type FollowedFile, followedFile } from '../followed-file.ts';
import type { Informer } from '../informers/informer.ts';
import type { SharedInformers } from '../informers/shared-informers.ts';
import { type Role, type RoleContext, roleDefaults } from '../role.ts';
import { startPodDemands } from './pod-demands.ts';

/** Which pods count, and the file of penalty defaults. */
export interface PodPolicy {
  /** `--priority-class-defaults-file`. */
  readonly penaltyDefaultsFile: string | undefined;
  /** `--pod-selector`. */
  readonly selectsPod: (labels: Labels) => boolean;
  /**
   * `--namespace-selector`; undefined: pods of all namespaces count, and namespaces are not
   * watched.
   */
  readonly selectsNamespace: ((labels: Labels) => boolean) | undefined;
}

/** The role, and its pods as part of the demand that the same process reports. */
export interface CapacityRequestsRole extends Role {
  readonly demand: DemandOfPods;
}

/** The number of interned request specs; far above the number of workloads of one cluster. */
const SHARED_TEXTS_MAX = 20_000;

/** The cached fields of a pod's request. */
const ownedRequestProjector = (): (raw: unknown) => OwnedRequest | undefined => {
  const intern = textPool(SHARED_TEXTS_MAX);
  return (raw) => projectOwnedRequest(raw, intern);
};

/** The same requests without the fields that other roles keep. */
const ownedOnly = (
  { facts, get }: Informer<OwnedRequest>,
): Pick<Informer<OwnedRequest>, 'facts' | 'get'> => ({
  facts,
  get: (key: ObjectKey) => {
    const request = get(key);
    return request && asOwnedRequest(request);
  },
});

/** What the role reads; namespaces only with a selector. */
const podInformers = (informers: SharedInformers, { selectsPod, selectsNamespace }: PodPolicy) => ({
  pods: informers.collection({
    id: 'pods',
    path: '/api/v1/pods',
    project: podDemandProjector(selectsPod),
  }),
  requests: informers.collection({
    id: 'capacityrequests',
    path: CAPACITY_REQUESTS_PATH,
    project: ownedRequestProjector(),
  }),
  namespaces: selectsNamespace && informers.collection({
    id: 'namespaces',
    path: '/api/v1/namespaces',
    project: selectedNamespaceProjector(selectsNamespace),
  }),
});

/** Creates the role, not leading. */
export const capacityRequestsRole = (
  environment: ActorEnvironment<PodRequests>,
  policy: PodPolicy,
  { informers, record, recordOnLease }: RoleContext,
): CapacityRequestsRole => {
  const { pods, requests, namespaces } = podInformers(informers, policy);
  const penalties = penaltyDefaults(environment, {
    file: policy.penaltyDefaultsFile,
    onRefused: (note) => recordOnLease('PenaltyDefaultsRefused', note),
  });
  const demands = startPodDemands(environment, {
    pods,
    requests: ownedOnly(requests),
    namespaces,
    defaults: penalties.values,
    record,
  });
  return {
    ...roleDefaults('capacity-requests', [
      pods,
      requests,
      ...(namespaces === undefined ? [] : [namespaces]),
    ]),
    start: penalties.start,
    demand: {
      collections: namespaces === undefined ? [pods] : [pods, namespaces],
      setCurrent: demands.setCurrent,
      missing: demands.missing,
    },
    onLeading: () => demands.setLeading(true),
    onLeadershipLost: () => demands.setLeading(false),
    stop: demands.stop,
    dispose: () => {
      penalties.stop();
      return Promise.resolve();
    },
  };
};

/** The file, and a callback for invalid readings. */
export interface PenaltyDefaultsOptions {
  /** Undefined: no PriorityClass has penalties. */
  readonly file: string | undefined;
  readonly onRefused: (problem: string) => void;
}

/** The penalties of a file, or none; nothing is read before `start`. */
export const penaltyDefaults = (
  environment: ActorEnvironment<never>,
  { file, onRefused }: PenaltyDefaultsOptions,
): FollowedFile<PenaltyDefaults> => {
  const { telemetry } = environment;
  const path = file ?? '';
  return followedFile(environment, {
    name: 'penalty defaults',
    file,
    absent: NO_DEFAULTS,
    parser: async () => {
      const yaml = await import('../../effects/penalty-defaults-text.ts');
      return yaml.readPenaltyDefaults;
    },
    onChange: (change) => {
      if (change._tag === 'Accepted') {
        const classes = change.value.size;
        return telemetry.log('info', 'Penalty defaults in use', { file: path, classes });
      }
      const { problem } = change;
      telemetry.count('tidegate_penalty_defaults_refused_total', 1);
      telemetry.log('warn', 'Penalty defaults rejected; the last valid ones stay in use', {
        file: path,
        problem,
      });
      onRefused(`Cannot use the penalty defaults "${path}": ${problem}`);
    },
  });
};
