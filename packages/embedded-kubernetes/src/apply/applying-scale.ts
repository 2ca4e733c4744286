/** An apply through `/scale`: of the number of replicas alone. */
import { asRecord, type JsonRecord, numberAt, textAt } from '../values/json.ts';
import { type ApiServerState, storedOrRefuse, type Target } from '../api-server-state.ts';
import { apiVersionOf } from '../kinds/kind.ts';
import { ApiProblem, badRequest } from '../validation/problem.ts';
import { scaleOf } from '../verbs/scaling.ts';
import { type Apply, apply } from './applying.ts';

const nested = (path: readonly string[], value: unknown): JsonRecord => {
  const [name = '', ...rest] = path;
  return { [name]: rest.length === 0 ? value : nested(rest, value) };
};

/** Applies a Scale; returns the stored one. Custom kinds refuse it, as on the real API server. */
export const applyScale = (server: ApiServerState, target: Target, given: Apply): JsonRecord => {
  const { kind, at } = target;
  storedOrRefuse(server, target);
  if (kind.custom) {
    throw new ApiProblem({
      code: 500,
      message: 'failed to create manager for existing fields: failed to convert live object ' +
        '(/; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid ' +
        'group/version: autoscaling/v1',
    });
  }
  const scale = asRecord(given.body);
  if (textAt(scale, 'kind') !== 'Scale') throw badRequest('invalid object type: expected a Scale');
  const replicas = numberAt(scale, 'spec', 'replicas') ?? 0;
  const body = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name: at.name },
    ...nested(kind.scale?.specReplicas ?? [], replicas),
  };
  apply(server, target, { ...given, body, part: 'scale' });
  const written = scaleOf(server, target);
  return given.dryRun ? { ...written, spec: { replicas } } : written;
};
