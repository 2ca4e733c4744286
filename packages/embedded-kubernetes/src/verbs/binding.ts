/**
 * `POST pods/<name>/binding`: binds a pod to a node (`pkg/registry/core/pod/storage/storage.go`).
 */
import { type JsonRecord, recordAt, textAt } from '../values/json.ts';
import { rfc3339Seconds } from '../values/time.ts';
import { type ApiServerState, storedOrRefuse, type Target } from '../api-server-state.ts';
import { withCondition } from '../kinds/conditions.ts';
import { invalid, invalidObject, required } from '../validation/field-problem.ts';
import { conflict } from '../validation/problem.ts';

const BINDINGS = { group: '', kind: 'pods/binding' };

const SUCCESS: JsonRecord = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  code: 201,
};

/** Binds a pod to a node, once. */
export const bind = (
  server: ApiServerState,
  target: Target,
  { binding, dryRun }: { readonly binding: JsonRecord; readonly dryRun: boolean },
): JsonRecord => {
  const { kind, at } = target;
  const nodeName = textAt(binding, 'target', 'name') ?? '';
  if (nodeName === '') {
    throw invalidObject({ group: '', kind: 'Binding' }, at.name, [required('target.name')]);
  }
  const targetKind = textAt(binding, 'target', 'kind') ?? '';
  if (targetKind !== '' && targetKind !== 'Node') {
    throw invalidObject({ group: '', kind: 'Binding' }, at.name, [
      invalid('target.kind', targetKind, 'must be empty or "Node"'),
    ]);
  }
  server.admit?.({
    operation: 'CREATE',
    kind,
    at,
    subresource: 'binding',
    object: { kind: 'Binding', apiVersion: 'v1', ...binding },
    dryRun,
  });
  const pod = storedOrRefuse(server, target);
  const bound = textAt(pod, 'spec', 'nodeName') ?? '';
  if (textAt(pod, 'metadata', 'deletionTimestamp') !== undefined) {
    throw conflict(
      BINDINGS,
      at.name,
      `pod ${at.name} is being deleted, cannot be assigned to a host`,
    );
  }
  if (bound !== '') {
    throw conflict(BINDINGS, at.name, `pod ${at.name} is already assigned to node "${bound}"`);
  }
  if (dryRun) return SUCCESS;
  const placed = { ...pod, spec: { ...recordAt(pod, 'spec'), nodeName } };
  server.store.put(
    kind.resource,
    at,
    withCondition(placed, {
      type: 'PodScheduled',
      status: 'True',
      now: rfc3339Seconds(server.time.now()),
    }),
  );
  return SUCCESS;
};
