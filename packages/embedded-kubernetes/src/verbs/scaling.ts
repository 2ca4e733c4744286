/**
 * `/scale`: wanted and current replicas, uniformly for every scalable kind.
 *
 * Source: `pkg/registry/apps/deployment/storage/storage.go`,
 * `apiextensions-apiserver/pkg/registry/customresource/etcd.go`.
 */
import {
  asRecord,
  asText,
  type JsonRecord,
  numberAt,
  recordAt,
  textAt,
  valueAt,
} from '../values/json.ts';
import {
  admitted,
  type ApiServerState,
  servedBy,
  storedOrRefuse,
  type Target,
} from '../api-server-state.ts';
import { kindSubjectOf, type ScalePaths, subjectOf } from '../kinds/kind.ts';
import { selectorText } from '../kinds/label-selector.ts';
import { withMetadata } from '../kinds/metadata.ts';
import { invalid, invalidObject } from '../validation/field-problem.ts';
import { badRequest, conflict, notFound, OUTDATED } from '../validation/problem.ts';
import type { WriteOptions } from './creating.ts';
import { type Patch, patched } from './patching.ts';
import { replace } from './updating.ts';

const selectorOf = (object: JsonRecord, { selector = [] }: ScalePaths): string => {
  const value = valueAt(object, ...selector);
  return asText(value) ?? selectorText(asRecord(value));
};

const pathsOf = ({ kind, at }: Target): ScalePaths => {
  if (kind.scale === undefined) throw notFound(subjectOf(kind), at.name);
  return kind.scale;
};

/** The Scale of an object. */
export const scaleOf = (server: ApiServerState, target: Target): JsonRecord => {
  const paths = pathsOf(target);
  const object = servedBy(target.kind, storedOrRefuse(server, target));
  const metadata = recordAt(object, 'metadata');
  const selector = selectorOf(object, paths);
  const replicas = numberAt(object, ...paths.specReplicas);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: Object.fromEntries(
      ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp']
        .filter((field) => metadata?.[field] !== undefined)
        .map((field) => [field, metadata?.[field]]),
    ),
    spec: replicas === undefined || replicas === 0 ? {} : { replicas },
    status: {
      replicas: numberAt(object, ...paths.statusReplicas) ?? 0,
      ...(selector === '' ? {} : { selector }),
    },
  };
};

const withValue = (object: JsonRecord, path: readonly string[], value: unknown): JsonRecord => {
  const [field = '', ...rest] = path;
  const inner = rest.length === 0 ? value : withValue(recordAt(object, field) ?? {}, rest, value);
  return { ...object, [field]: inner };
};

/** Updates a Scale; returns the stored one. */
export const writeScale = (
  server: ApiServerState,
  target: Target,
  { scale, dryRun, manager, owned }: WriteOptions & { readonly scale: JsonRecord },
): JsonRecord => {
  const { kind, at } = target;
  const paths = pathsOf(target);
  const current = servedBy(kind, storedOrRefuse(server, target));
  if (scale['kind'] !== undefined && scale['kind'] !== 'Scale') {
    throw badRequest(`expected input object type to be Scale, but got ${scale['kind']}`);
  }
  const replicas = numberAt(scale, 'spec', 'replicas') ?? 0;
  if (replicas < 0) {
    throw invalidObject({ group: 'autoscaling', kind: 'Scale' }, at.name, [
      invalid('spec.replicas', replicas, 'must be greater than or equal to 0'),
    ]);
  }
  const revision = textAt(scale, 'metadata', 'resourceVersion') ?? '';
  if (revision !== '' && revision !== textAt(current, 'metadata', 'resourceVersion')) {
    throw conflict({ ...kindSubjectOf(kind), kind: kind.plural }, at.name, OUTDATED);
  }
  const wanted = withMetadata(withValue(current, paths.specReplicas, replicas), {
    resourceVersion: textAt(current, 'metadata', 'resourceVersion'),
  });
  server.admit?.({
    operation: 'UPDATE',
    kind,
    at,
    subresource: 'scale',
    object: withMetadata({ kind: 'Scale', apiVersion: 'autoscaling/v1', ...scale }, {
      name: at.name,
      namespace: at.namespace,
    }),
    oldObject: scaleOf(server, target),
    dryRun,
  });
  replace(admitted(server), target, {
    wanted,
    current,
    dryRun,
    manager,
    part: 'scale',
    ...(owned === undefined ? {} : { owned }),
  });
  const written = scaleOf(server, target);
  return dryRun ? { ...written, spec: { replicas } } : written;
};

/** Patches a Scale. */
export const patchScale = (server: ApiServerState, target: Target, given: Patch): JsonRecord =>
  writeScale(server, target, {
    scale: patched(scaleOf(server, target), given, target.kind),
    dryRun: given.dryRun,
    manager: given.manager,
  });
