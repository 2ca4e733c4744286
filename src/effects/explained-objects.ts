/**
 * Everything of the cluster that explains one object, read at once.
 *
 * Promises: the object itself is needed; what only adds to the explanation (Events, Leases, the
 * Node) may be missing, for want of permission or because it is not there.
 */
import { Effect } from 'effect';
import { textAt } from '../domain/json.ts';
import type { KubeApi, KubeFault } from './kube-api.ts';
import { type ObjectRead, readEvents, readObject } from './object-reads.ts';

const GROUP = '/apis/bigfleet.lucy.sh/v1alpha1';

/** A CapacityRequest with what surrounds it. */
export interface ExplainedRequest {
  readonly request: ObjectRead;
  readonly events: readonly unknown[];
  readonly leases: unknown;
}

/** An UpcomingNode with its Node. */
export interface ExplainedMachine {
  readonly upcomingNode: ObjectRead;
  readonly node: unknown;
  readonly events: readonly unknown[];
}

const objectOf = (read: ObjectRead): unknown => read._tag === 'Found' ? read.object : undefined;

const at = (...segments: readonly string[]): string => segments.map(encodeURIComponent).join('/');

/** Reads a CapacityRequest, its Events and the Leases of operators. */
export const readExplainedRequest = (
  namespace: string,
  name: string,
  leaseName: string,
): Effect.Effect<ExplainedRequest, KubeFault, KubeApi> =>
  Effect.all({
    request: readObject(`${GROUP}/namespaces/${at(namespace)}/capacityrequests/${at(name)}`),
    events: readEvents({ kind: 'CapacityRequest', name, namespace }).pipe(Effect.map((l) => [l])),
    leases: readObject('/apis/coordination.k8s.io/v1/leases', {
      fieldSelector: `metadata.name=${leaseName}`,
    }).pipe(Effect.map(objectOf)),
  }, { concurrency: 'unbounded' });

/** Reads an UpcomingNode, the Node that it refers to, and the Events of both. */
export const readExplainedMachine = (
  name: string,
): Effect.Effect<ExplainedMachine, KubeFault, KubeApi> =>
  Effect.gen(function* () {
    const upcomingNode = yield* readObject(`${GROUP}/upcomingnodes/${at(name)}`);
    const nodeName = textAt(objectOf(upcomingNode), 'status', 'nodeRef', 'name');
    const subjects = [
      { kind: 'UpcomingNode', name, namespace: 'default' },
      ...(nodeName === undefined ? [] : [{ kind: 'Node', name: nodeName, namespace: 'default' }]),
    ];
    const { node, events } = yield* Effect.all({
      node: nodeName === undefined
        ? Effect.succeed(undefined)
        : readObject(`/api/v1/nodes/${at(nodeName)}`).pipe(Effect.map(objectOf)),
      events: Effect.all(subjects.map(readEvents), { concurrency: 'unbounded' }),
    }, { concurrency: 'unbounded' });
    return { upcomingNode, node, events };
  });
