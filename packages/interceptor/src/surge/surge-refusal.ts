/**
 * Why no surge is possible or goes on, and what follows.
 *
 * Promises: a reason is one CamelCase word, which the status of a request begins with; a pod that
 * could not come back is not given up unless a person accepts the downtime (RS-16).
 */
import { leastField, mostField } from './autoscaler.ts';
import { ACCEPT_DOWNTIME, type SurgeFacts } from './surge-facts.ts';

/** What becomes of pods that no surge can replace: they wait for a person, or are evicted. */
export type WithoutSurge = 'wait' | 'evict';

/** Whether another attempt may help. */
export type RefusalKind =
  /** Somebody else has ended the surge: the eviction follows. */
  | 'over'
  /** The workload allows none: the setting says what follows. */
  | 'forbidden'
  /** A replacement cannot run now: the pod stays, and the surge is repeated. */
  | 'lacking';

/** Why no surge goes on. */
export interface SurgeRefusal {
  /** `NoCapacityMemory`. */
  readonly reason: string;
  readonly kind: RefusalKind;
  readonly why: string;
}

const over = (reason: string, why: string): SurgeRefusal => ({ reason, kind: 'over', why });
const forbidden = (reason: string, why: string): SurgeRefusal => ({
  reason,
  kind: 'forbidden',
  why,
});

/** The Deployment is gone. */
export const GONE = over('DeploymentGone', 'it is gone');
/** What was raised has no baseline. */
export const UNMARKED = over('AnnotationRemoved', 'its annotation is removed by somebody else');
/** Replacements run, but not for long enough. */
export const UNAVAILABLE: SurgeRefusal = {
  reason: 'ReplacementNotAvailable',
  kind: 'lacking',
  why: 'its replacements do not become available',
};

/** Whether somebody else has set the count since the surge raised it. */
export const isOverwritten = ({ autoscaler, baseline, replicas }: SurgeFacts): boolean =>
  baseline !== null && baseline.raisedTo !== (autoscaler === null ? replicas : autoscaler.least);

const overwritten = ({ autoscaler, replicas }: SurgeFacts): SurgeRefusal => {
  const by = 'by another writer during the surge';
  if (autoscaler === null) {
    return over('CountOverwritten', `its replicas were set to ${replicas} ${by}`);
  }
  const { kind, name, least } = autoscaler;
  const change = least === null ? 'removed' : `set to ${least}`;
  return over('CountOverwritten', `${leastField(kind)} of ${kind} "${name}" was ${change} ${by}`);
};

/** Why the autoscaler allows no surge. */
const autoscalerRefusal = (
  { autoscaler, baseline, replicas }: SurgeFacts,
): SurgeRefusal | undefined => {
  if (autoscaler === null || baseline !== null) return undefined;
  const { kind, name, most, held } = autoscaler;
  if (held !== null) return forbidden('AutoscalerForbidsSurge', held);
  return most > replicas ? undefined : forbidden(
    'AutoscalerForbidsSurge',
    `${kind} "${name}" allows no more: its ${mostField(kind)} is ${most}, ` +
      `set it to ${replicas + 1} or more`,
  );
};

/** Why no surge is possible; `undefined` when one is. */
export const surgeRefusal = (facts: SurgeFacts): SurgeRefusal | undefined => {
  if (facts.isDeleting) return over('DeploymentDeleted', 'the Deployment is being deleted');
  if (isOverwritten(facts)) return overwritten(facts);
  if (facts.maxSurge === 0) {
    return forbidden('StrategyForbidsSurge', 'its strategy allows no surge');
  }
  return facts.singleClaim === null ? autoscalerRefusal(facts) : forbidden(
    'VolumeForbidsSurge',
    `only one Node can use its PersistentVolumeClaim "${facts.singleClaim}"`,
  );
};

/** `nvidia.com/gpu` → `NvidiaComGpu`. */
const pascalCase = (resource: string): string =>
  resource.split(/[^A-Za-z0-9]+/).map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');

/** `2 Insufficient memory`, `1 Too many pods`. */
const SHORTAGE = /(\d+) (?:Insufficient ([^\s,.]+(?:\.[^\s,.]+)*)|(Too many pods))/g;

/**
 * `NoCapacityMemory`, by what most Nodes lack in the verdict of kube-scheduler
 * (`NodeResourcesFit`); `NoCapacity` where no Node lacks a resource, such as when all of them are
 * cordoned.
 */
export const capacityReason = (verdict: string): string => {
  let [lacked, most] = ['', 0];
  for (
    const [, count, resource = 'pods'] of verdict.split('preemption:')[0]?.matchAll(SHORTAGE) ?? []
  ) {
    if (Number(count) > most) [lacked, most] = [resource, Number(count)];
  }
  return `NoCapacity${pascalCase(lacked)}`;
};

/** The scheduler finds no room for a replacement. */
export const noRoom = (verdict: string): SurgeRefusal => ({
  reason: capacityReason(verdict),
  kind: 'lacking',
  why: `no room for its replacement: ${verdict}`,
});

/** The API server refuses a replacement: a quota, a webhook or a policy does. */
export const notCreated = (message: string): SurgeRefusal => ({
  reason: 'ReplacementNotCreated',
  kind: 'lacking',
  why: `its replacement cannot be created: ${message}`,
});

/** Whether the eviction follows. */
export const givesUp = (
  { kind }: SurgeRefusal,
  { acceptsDowntime }: Pick<SurgeFacts, 'acceptsDowntime'>,
  withoutSurge: WithoutSurge,
): boolean =>
  kind === 'over' || acceptsDowntime || (kind === 'forbidden' && withoutSurge === 'evict');

/** `NoCapacityMemory: cannot surge "web": no room for its replacement: …`. */
export const refusalText = (deployment: string, { reason, why }: SurgeRefusal): string =>
  `${reason}: cannot surge "${deployment}": ${why}`;

const ACCEPTANCE = `the annotation ${ACCEPT_DOWNTIME}: "true" on the Deployment`;

/** The same, and what it waits for. */
export const heldText = (deployment: string, refusal: SurgeRefusal): string => {
  const stays = refusal.kind === 'lacking'
    ? 'the pod stays while it is tried again, until a replacement runs or downtime is accepted'
    : 'the pod stays until downtime is accepted';
  return `${refusalText(deployment, refusal)}; ${stays} by ${ACCEPTANCE}`;
};
