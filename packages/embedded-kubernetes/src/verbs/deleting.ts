/**
 * `DELETE`: deletes objects at once, after their grace period, or after their finalizers.
 *
 * Source: `apiserver/pkg/registry/rest/delete.go`, `generic/registry/store.go` (Delete).
 */
import {
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
  valueAt,
} from '../values/json.ts';
import { rfc3339Seconds } from '../values/time.ts';
import { type ApiServerState, servedBy, storedOrRefuse, type Target } from '../api-server-state.ts';
import { type Kind, subjectOf } from '../kinds/kind.ts';
import { finalizersOf, generationOf, isDeleting, nameOf, withMetadata } from '../kinds/metadata.ts';
import { invalid, invalidObject, notSupported } from '../validation/field-problem.ts';
import { badRequest, conflict } from '../validation/problem.ts';

/** Parsed `DeleteOptions`. */
export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly graceSeconds?: number;
  readonly propagation?: string;
  readonly orphanDependents?: boolean;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** The result of a deletion. */
export interface Deleted {
  readonly object: JsonRecord;
  /** False while the object waits for its grace period or its finalizers. */
  readonly gone: boolean;
}

const POLICIES = ['Foreground', 'Background', 'Orphan'];
const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

const assertOptions = (options: JsonRecord, name: string): void => {
  const kind = options['kind'];
  if (kind !== undefined && kind !== 'DeleteOptions') {
    throw badRequest(`${kind} is no DeleteOptions`);
  }
  if (options['orphanDependents'] !== undefined && options['propagationPolicy'] !== undefined) {
    throw invalidObject({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, name, [
      invalid(
        'propagationPolicy',
        options['propagationPolicy'],
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    ]);
  }
  const policy = options['propagationPolicy'];
  if (policy === undefined || policy === null || POLICIES.includes(`${policy}`)) return;
  throw invalidObject({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, name, [
    notSupported('propagationPolicy', policy, [...POLICIES, 'nil']),
  ]);
};

/** Parses `DeleteOptions` from body and query; the body wins. */
export const deleteOptions = (
  body: unknown,
  query: URLSearchParams,
  name: string,
): DeleteOptions => {
  const grace = query.get('gracePeriodSeconds');
  const policy = query.get('propagationPolicy');
  const orphan = query.get('orphanDependents');
  const given = {
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(orphan === null ? {} : { orphanDependents: orphan === 'true' }),
    ...recordAt({ body }, 'body'),
  };
  assertOptions(given, name);
  const graceSeconds = numberAt(given, 'gracePeriodSeconds');
  const propagation = textAt(given, 'propagationPolicy');
  const orphanDependents = valueAt(given, 'orphanDependents');
  const uid = textAt(given, 'preconditions', 'uid');
  const resourceVersion = textAt(given, 'preconditions', 'resourceVersion');
  return {
    dryRun: query.getAll('dryRun').includes('All') ||
      listOrEmptyAt(given, 'dryRun').includes('All'),
    ...(graceSeconds === undefined ? {} : { graceSeconds: graceSeconds < 0 ? 1 : graceSeconds }),
    ...(propagation === undefined ? {} : { propagation }),
    ...(typeof orphanDependents === 'boolean' ? { orphanDependents } : {}),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
};

/** Throws 409 when a precondition does not hold. */
export const assertPreconditions = (
  object: JsonRecord,
  kind: Kind,
  { uid, resourceVersion }: Pick<DeleteOptions, 'uid' | 'resourceVersion'>,
): void => {
  const subject = { group: kind.group, kind: kind.kind };
  const actual = textAt(object, 'metadata', 'uid') ?? '';
  if (uid !== undefined && uid !== actual) {
    throw conflict(
      subject,
      nameOf(object),
      `the UID in the precondition (${uid}) does not match the UID in record (${actual}). ` +
        'The object might have been deleted and then recreated',
    );
  }
  const revision = textAt(object, 'metadata', 'resourceVersion') ?? '';
  if (resourceVersion !== undefined && resourceVersion !== revision) {
    throw conflict(
      subject,
      nameOf(object),
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ` +
        `ResourceVersion in record (${revision}). The object might have been modified`,
    );
  }
};

/** The finalizers of an object whose dependents are orphaned, or deleted before it. */
const finalizersFor = (
  object: JsonRecord,
  kind: Kind,
  options: DeleteOptions,
): readonly string[] => {
  const current = finalizersOf(object);
  if (kind.collected === false) return current;
  const rest = current.filter((one) => one !== ORPHAN && one !== FOREGROUND);
  if (options.orphanDependents !== undefined) {
    return options.orphanDependents ? [...rest, ORPHAN] : rest;
  }
  switch (options.propagation) {
    case 'Orphan':
      return [...rest, ORPHAN];
    case 'Foreground':
      return [...rest, FOREGROUND];
    case 'Background':
      return rest;
    default:
      return current;
  }
};

const pushedGeneration = (object: JsonRecord): JsonRecord => {
  const generation = generationOf(object);
  return generation === 0 || isDeleting(object) ? {} : { generation: generation + 1 };
};

/** An object in its grace period. */
const leaving = (object: JsonRecord, graceSeconds: number, nowMs: number): JsonRecord =>
  withMetadata(object, {
    ...pushedGeneration(object),
    deletionTimestamp: rfc3339Seconds(nowMs + graceSeconds * 1000),
    deletionGracePeriodSeconds: graceSeconds,
  });

/** An object that waits for its finalizers. */
const marked = (object: JsonRecord, nowMs: number): JsonRecord => {
  const current = textAt(object, 'metadata', 'deletionTimestamp');
  const passed = current !== undefined && Date.parse(current) <= nowMs;
  return withMetadata(object, {
    ...pushedGeneration(object),
    deletionTimestamp: passed ? current : rfc3339Seconds(nowMs),
    deletionGracePeriodSeconds: 0,
  });
};

/** A shortened grace period; undefined leaves it unchanged. */
const shortened = (
  object: JsonRecord,
  askedSeconds: number | undefined,
  nowMs: number,
): JsonRecord | undefined => {
  const current = numberAt(object, 'metadata', 'deletionGracePeriodSeconds') ?? 0;
  if (askedSeconds === undefined || askedSeconds >= current) return undefined;
  const dueMs = Date.parse(textAt(object, 'metadata', 'deletionTimestamp') ?? '') +
    (askedSeconds - current) * 1000;
  const late = dueMs < nowMs;
  return withMetadata(object, {
    deletionTimestamp: rfc3339Seconds(late ? nowMs : dueMs),
    deletionGracePeriodSeconds: late && askedSeconds !== 0 ? 1 : askedSeconds,
  });
};

interface Plan {
  /** The object to write; undefined writes nothing. */
  readonly object: JsonRecord | undefined;
  readonly gone: boolean;
}

const pendingPlan = (object: JsonRecord, options: DeleteOptions, nowMs: number): Plan => {
  const shorter = shortened(object, options.graceSeconds, nowMs);
  if (shorter === undefined) return { object: undefined, gone: false };
  const held = finalizersOf(object).length > 0;
  return { object: shorter, gone: options.graceSeconds === 0 && !held };
};

const planOf = (
  { kind }: Target,
  { object, options, nowMs }: {
    readonly object: JsonRecord;
    readonly options: DeleteOptions;
    readonly nowMs: number;
  },
): Plan => {
  const waits = (numberAt(object, 'metadata', 'deletionGracePeriodSeconds') ?? 0) > 0;
  if (kind.grace !== undefined && isDeleting(object) && waits) {
    return pendingPlan(object, options, nowMs);
  }
  const finalizers = finalizersFor(object, kind, options);
  const held = finalizers.length > 0 || kind.held?.(object) === true;
  const begun = withMetadata(object, {
    finalizers: finalizers.length > 0 ? finalizers : undefined,
  });
  const grace = isDeleting(object) ? undefined : kind.grace?.(object, options.graceSeconds);
  if (grace !== undefined && (grace > 0 || held)) {
    return { object: leaving(begun, grace, nowMs), gone: false };
  }
  if (!held) return { object: undefined, gone: true };
  return { object: marked(kind.onDeleting?.(begun) ?? begun, nowMs), gone: false };
};

/** Deletes an object as far as it may be deleted now. */
export const remove = (server: ApiServerState, target: Target, options: DeleteOptions): Deleted => {
  const { kind, at } = target;
  const object = storedOrRefuse(server, target);
  kind.admitDelete?.(object);
  assertPreconditions(object, kind, options);
  server.admit?.({
    operation: 'DELETE',
    kind,
    at,
    oldObject: servedBy(kind, object),
    dryRun: options.dryRun,
  });
  const plan = planOf(target, { object, options, nowMs: server.time.now() });
  if (options.dryRun) return { object: servedBy(kind, plan.object ?? object), gone: plan.gone };
  if (plan.gone) {
    const last = server.store.remove(kind.resource, at) ?? object;
    return { object: servedBy(kind, last), gone: true };
  }
  const unchanged = plan.object === undefined || isSame(plan.object, object);
  const kept = unchanged ? object : server.store.put(kind.resource, at, plan.object ?? object);
  return { object: servedBy(kind, kept), gone: false };
};

const isSame = (left: JsonRecord, right: JsonRecord): boolean =>
  JSON.stringify(left) === JSON.stringify(right);

/** The response to a completed deletion, unless the kind responds with the object. */
export const deletedStatus = (kind: Kind, object: JsonRecord): JsonRecord => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details: {
    name: nameOf(object),
    ...(kind.group === '' ? {} : { group: kind.group }),
    kind: subjectOf(kind).kind,
    uid: textAt(object, 'metadata', 'uid') ?? '',
  },
});
