/**
 * The status of an Eviction and the status that the core decides on, each from the other.
 *
 * Promises: what only the controller writes survives the way there and back; an interceptor that
 * had its turn is `Completed` if it said so, and the imperative eviction if the pod left;
 * `Canceled` if the last requester left meanwhile; `Interrupted` else.
 */
import type {
  ControlledStatus,
  InterceptorReport,
  RequestCondition,
} from '../eviction-requests/observed-request.ts';
import { IMPERATIVE_EVICTION } from '../eviction-requests/qualified-name.ts';
import { nameFromNative, nameToNative } from './names.ts';
import type {
  NativeCondition,
  NativeEviction,
  NativeTargetResponder,
  ResponderState,
} from './objects.ts';

/** The early warning, which `lifecycle.k8s.io` does not have. */
const NATIVE_SILENT = 'lifecycle.tidegate.dev/InterceptorSilent';

/** The highest priority that is given to interceptors of an annotation. */
const FIRST_PRIORITY = 10_000;
const IMPERATIVE_PRIORITY = 100;

/** The reasons of `Failed`, from those of `Canceled`. */
const FAILED_REASONS: Readonly<Record<string, string>> = {
  ValidationFailed: 'EvictionInvalid',
  NoRequesters: 'CanceledDueToNoRequesters',
};
const CANCELED_REASONS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(FAILED_REASONS).map(([here, there]) => [there, here]),
);

const renamed = (reasons: Readonly<Record<string, string>>, reason: string): string =>
  Object.hasOwn(reasons, reason) ? reasons[reason] ?? reason : reason;

const isTrue = (type: RequestCondition['type']) => (condition: RequestCondition): boolean =>
  condition.type === type && condition.status === 'True';

type Cause = Omit<NativeCondition, 'sinceMs'>;

/** `TargetEvicted` and `Failed`, which an Eviction always has. */
const causesOf = (conditions: readonly RequestCondition[]): readonly Cause[] => {
  const evicted = conditions.find(isTrue('Evicted'));
  const canceled = evicted === undefined ? conditions.find(isTrue('Canceled')) : undefined;
  const waiting = { status: 'False', reason: 'AwaitingEviction', message: '' };
  const targetEvicted = { type: 'TargetEvicted', ...waiting };
  const failed = { type: 'Failed', ...waiting };
  if (evicted !== undefined) {
    const { reason, message } = evicted;
    return [
      { ...targetEvicted, status: 'True', reason, message },
      { ...failed, reason: 'Succeeded' },
    ];
  }
  if (canceled === undefined) return [targetEvicted, failed];
  const { reason, message } = canceled;
  return [
    { ...targetEvicted, reason: 'EvictionFailed' },
    { ...failed, status: 'True', reason: renamed(FAILED_REASONS, reason), message },
  ];
};

/**
 * The conditions there. One that keeps its status keeps its time; `createdMs` is the time of one
 * that never changed.
 */
export const conditionsToNative = (
  { conditions }: Pick<ControlledStatus, 'conditions'>,
  before: readonly NativeCondition[],
  createdMs: number,
): readonly NativeCondition[] => {
  const final = conditions.find((one) => isTrue('Evicted')(one) || isTrue('Canceled')(one));
  const silent = conditions.find(({ type }) => type === 'InterceptorSilent');
  const standard = causesOf(conditions).map((cause) => {
    const known = before.find(({ type, status }) => type === cause.type && status === cause.status);
    const changedMs = cause.status === 'True' ? final?.sinceMs : undefined;
    return { ...cause, sinceMs: known?.sinceMs ?? changedMs ?? createdMs };
  });
  return silent === undefined ? standard : [...standard, { ...silent, type: NATIVE_SILENT }];
};

const asStatus = (status: string): RequestCondition['status'] =>
  status === 'True' ? 'True' : 'False';

/** The conditions here: those that say more than that nothing happened yet. */
export const conditionsFromNative = (
  conditions: readonly NativeCondition[],
): readonly RequestCondition[] =>
  conditions.flatMap(({ type, status, reason, message, sinceMs }): readonly RequestCondition[] => {
    const rest = { status: asStatus(status), message, sinceMs };
    if (type === NATIVE_SILENT) return [{ type: 'InterceptorSilent', ...rest, reason }];
    if (status !== 'True') return [];
    if (type === 'TargetEvicted') return [{ type: 'Evicted', ...rest, reason }];
    return type === 'Failed'
      ? [{ type: 'Canceled', ...rest, reason: renamed(CANCELED_REASONS, reason) }]
      : [];
  }).sort((left, right) => left.type < right.type ? -1 : 1);

/** What is known of the progress of interceptors. */
export interface InterceptorProgress
  extends Pick<ControlledStatus, 'active' | 'processed' | 'conditions'> {
  readonly reports: readonly Pick<InterceptorReport, 'name' | 'completionMs'>[];
  /** Who was active before this status. */
  readonly wasActive: string | null;
}

const stateOf = (name: string, progress: InterceptorProgress): ResponderState => {
  const { active, processed, conditions, reports, wasActive } = progress;
  if (name === active) return 'Active';
  if (!processed.includes(name)) return 'Inactive';
  const report = reports.find((one) => one.name === name);
  if ((report?.completionMs ?? null) !== null) return 'Completed';
  if (name === IMPERATIVE_EVICTION && conditions.some(isTrue('Evicted'))) return 'Completed';
  return wasActive === name && conditions.some(isTrue('Canceled')) ? 'Canceled' : 'Interrupted';
};

/** The responders there. A state that is final stays; priorities follow from the order. */
export const targetsToNative = (
  targets: readonly string[],
  progress: InterceptorProgress,
  before: readonly NativeTargetResponder[],
): readonly NativeTargetResponder[] =>
  targets.map((target, index) => {
    const name = nameToNative(target);
    const known = before.find((one) => one.name === name);
    const isOver = known !== undefined && known.state !== 'Inactive' && known.state !== 'Active';
    const given = target === IMPERATIVE_EVICTION ? IMPERATIVE_PRIORITY : FIRST_PRIORITY - index;
    return {
      name,
      priority: known?.priority ?? given,
      state: isOver ? known.state : stateOf(target, progress),
    };
  });

/** The reports here. */
export const reportsFromNative = (
  { reports }: Pick<NativeEviction, 'reports'>,
): readonly InterceptorReport[] =>
  reports.map((report) => ({ ...report, name: nameFromNative(report.name) }));

/** The progress here: who is active, and who has had a turn. */
export const progressFromNative = (
  { targets }: Pick<NativeEviction, 'targets'>,
): Pick<ControlledStatus, 'targets' | 'active' | 'processed'> => {
  const active = targets.find(({ state }) => state === 'Active');
  const over = targets.filter(({ state }) => state !== 'Active' && state !== 'Inactive');
  return {
    targets: targets.map(({ name }) => nameFromNative(name)),
    active: active === undefined ? null : nameFromNative(active.name),
    processed: over.map(({ name }) => nameFromNative(name)),
  };
};
