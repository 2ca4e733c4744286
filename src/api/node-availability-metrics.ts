/** The metrics of Nodes that fail, gates and surges, a part of the catalogue in `metrics.ts`. */
import { catalogue } from './metric.ts';

/** Those of one Node have its name as label, and leave with it. */
export const NODE_AVAILABILITY_METRICS = catalogue({
  tidegate_nodes: {
    type: 'gauge',
    help: 'Nodes by state: active, degraded, draining, disabled or offline.',
    labels: ['state'],
  },
  tidegate_storm_nodes: {
    type: 'gauge',
    help: 'Nodes that went offline together with many others; none of their pods is deleted.',
    labels: [],
  },
  tidegate_lost_pods_total: {
    type: 'counter',
    help: 'Deletions of stateless pods of offline Nodes, by outcome.',
    labels: ['outcome'],
    fromStart: ['Deleted', 'Gone', 'Fault'],
  },
  tidegate_node_replaced_pods_total: {
    type: 'counter',
    help: 'Stateless pods of an offline Node that were deleted, so that they are made elsewhere; ' +
      'while the Node exists.',
    labels: ['node'],
  },
  tidegate_serving_gates: {
    type: 'gauge',
    help: 'Readiness gates tidegate.dev/serving that are written or watched now, by state.',
    labels: ['state'],
  },
  tidegate_surges_blocked: {
    type: 'gauge',
    help: 'Deployments whose pods cannot be replaced now, by reason: no_capacity_memory, ' +
      'strategy_forbids_surge and so on. Extended resources count as ' +
      'no_capacity_extended_resource.',
    labels: ['reason'],
  },
});
