/**
 * The catalogue of metrics: the source of the registry, the reference page and the types of
 * `Telemetry`. Label values come from closed sets, never from free text. Those of metrics about
 * single objects are names of objects: such series are removed with their object, and there is a
 * limit of objects.
 */
import { CORDON_ENDS } from '../domain/drain/cordon.ts';
import { RECLAIM_REFUSALS } from '../domain/drain/reclaim-refusals.ts';
import { EVICTION_REQUEST_METRICS } from './eviction-request-metrics.ts';
import { MACHINE_NAMES } from './machine-names.ts';
import { NODE_AVAILABILITY_METRICS } from './node-availability-metrics.ts';
import { catalogue } from './metric.ts';
import { SESSION_METRICS } from './session-metrics.ts';

export type { Metric } from './metric.ts';

/** A registry of actors may have a statechart of its own, as those of tests do. */
const STATECHARTS: readonly string[] = MACHINE_NAMES;

/** All metrics of Tidegate. Existing dashboards read `bigfleet_operator_*`. */
export const METRICS = catalogue({
  bigfleet_operator_rollup_duration_seconds: {
    type: 'histogram',
    help: 'Time to build a roll-up and pass it to the session.',
    labels: [],
  },
  bigfleet_operator_rollup_phase_duration_seconds: {
    type: 'histogram',
    help: 'Time of each phase of a roll-up.',
    labels: ['phase'],
  },
  bigfleet_operator_acknowledge_duration_seconds: {
    type: 'histogram',
    help: 'Time to acknowledge the CapacityRequests of one roll-up.',
    labels: [],
  },
  bigfleet_operator_acknowledged_total: {
    type: 'counter',
    help: 'CapacityRequests moved to Acknowledged.',
    labels: [],
  },
  bigfleet_operator_outbox_dropped_total: {
    type: 'counter',
    help: 'Replies dropped because the outbox was full.',
    labels: [],
  },
  bigfleet_operator_session_reconnects_total: {
    type: 'counter',
    help: 'Sessions that ended and were dialled again.',
    labels: [],
  },
  bigfleet_operator_node_state_update_duration_seconds: {
    type: 'histogram',
    help: 'Time from a NodeStateUpdate frame to the resulting write.',
    labels: ['phase'],
  },
  bigfleet_operator_upcoming_node_writes_total: {
    type: 'counter',
    help: 'Writes of UpcomingNode objects by operation and outcome.',
    labels: ['op', 'outcome'],
  },
  bigfleet_operator_dispatch_inflight: {
    type: 'gauge',
    help: 'Machines with a write in flight.',
    labels: [],
  },
  rest_client_requests_total: {
    type: 'counter',
    help: 'Requests to the API server by status code, method and host.',
    labels: ['code', 'method', 'host'],
  },
  leader_election_master_status: {
    type: 'gauge',
    help: '1 while this process holds the named lease, else 0.',
    labels: ['name'],
  },
  tidegate_watch_objects: {
    type: 'gauge',
    help: 'Objects that a cache holds.',
    labels: ['resource'],
  },
  tidegate_watch_relists_total: {
    type: 'counter',
    help: 'Complete lists of a resource, including the first.',
    labels: ['resource'],
  },
  tidegate_list_pages_too_large_total: {
    type: 'counter',
    help: 'Pages of lists that were too large and are read again with fewer objects.',
    labels: ['resource'],
  },
  tidegate_watch_endings_total: {
    type: 'counter',
    help: 'Ended watches by cause.',
    labels: ['resource', 'outcome'],
  },
  tidegate_watch_unreadable_total: {
    type: 'counter',
    help: 'Unreadable objects that a cache excluded.',
    labels: ['resource'],
  },
  tidegate_writes_total: {
    type: 'counter',
    help: 'Writes submitted to the write budget, by class and outcome.',
    labels: ['class', 'outcome'],
  },
  tidegate_write_wait_seconds: {
    type: 'histogram',
    help: 'Time that a write waited for the budget.',
    labels: ['class'],
  },
  tidegate_write_queue_depth: {
    type: 'gauge',
    help: 'Writes waiting for the budget.',
    labels: ['class'],
  },
  tidegate_machine_transitions_total: {
    type: 'counter',
    help: 'Statechart transitions, by state.',
    labels: ['machine', 'from', 'to'],
  },
  ...SESSION_METRICS,
  tidegate_rollup_bytes: {
    type: 'gauge',
    help: 'Size of the last roll-up frame, also when it was too large to send.',
    labels: [],
  },
  tidegate_rollup_needs: {
    type: 'gauge',
    help: 'Needs in the last roll-up.',
    labels: [],
  },
  tidegate_capacity_requests: {
    type: 'gauge',
    help: 'CapacityRequests that count as demand.',
    labels: [],
  },
  tidegate_capacity_requests_unreadable: {
    type: 'gauge',
    help: 'Invalid CapacityRequests, including those whose last valid spec still counts.',
    labels: [],
  },
  tidegate_demand_held: {
    type: 'gauge',
    help:
      'Whether roll-ups repeat the demand of before, because the lists that it comes from are ' +
      'not current: 1 or 0. Also 1 while a new leader lists them.',
    labels: [],
  },
  tidegate_acknowledgement_faults_total: {
    type: 'counter',
    help: 'Failed acknowledgement writes of CapacityRequests, deferred to the next roll-up.',
    labels: [],
  },
  tidegate_pending_phase_writes_total: {
    type: 'counter',
    help: 'Writes of Pending to CapacityRequests without a phase, by outcome.',
    labels: ['outcome'],
    fromStart: ['Written', 'Changed', 'Failed'],
  },
  tidegate_machines: {
    type: 'gauge',
    help: 'Machines by statechart state, including passive ones.',
    labels: ['state'],
  },
  tidegate_unknown_transitions_total: {
    type: 'counter',
    help: 'Unexpected state changes of machines; they are applied as reported.',
    labels: ['from', 'to'],
  },
  tidegate_stale_machines_total: {
    type: 'counter',
    help: 'Machines missing from a complete replay, whose objects are deleted.',
    labels: [],
  },
  tidegate_available_capacities: {
    type: 'gauge',
    help: 'AvailableCapacity statecharts by state.',
    labels: ['state'],
  },
  tidegate_available_capacities_left_out_total: {
    type: 'counter',
    help: 'Updates dropped because too many profiles are tracked.',
    labels: [],
  },
  tidegate_available_capacity_writes_total: {
    type: 'counter',
    help: 'Writes of AvailableCapacity objects by operation and outcome.',
    labels: ['op', 'outcome'],
  },
  tidegate_drains: {
    type: 'gauge',
    help: 'Node drains by statechart state.',
    labels: ['state'],
  },
  tidegate_node_maintenances: {
    type: 'gauge',
    help: 'NodeMaintenances, by statechart state.',
    labels: ['state'],
  },
  tidegate_node_maintenance_pods_left: {
    type: 'gauge',
    help:
      'Pods that must still leave the Nodes of a NodeMaintenance in the stage Drain; those of ' +
      'Nodes that wait for their turn or for the window do not count.',
    labels: ['nodemaintenance'],
  },
  tidegate_node_maintenance_series_left_out: {
    type: 'gauge',
    help: 'NodeMaintenances beyond the limit of objects that have series of their own.',
    labels: [],
  },
  ...NODE_AVAILABILITY_METRICS,
  tidegate_drains_ended_total: {
    type: 'counter',
    help: 'Ended node drains by outcome.',
    labels: ['outcome'],
    fromStart: CORDON_ENDS,
  },
  tidegate_drains_in_last_quarter: {
    type: 'gauge',
    help: 'Drains that have used three quarters of their grace and have not ended.',
    labels: [],
  },
  tidegate_node_drain_duration_seconds: {
    type: 'histogram',
    help: 'Time from the acceptance of a drain to its end, by outcome.',
    labels: ['outcome'],
    fromStart: CORDON_ENDS,
    isLong: true,
  },
  tidegate_stateless_drain_duration_seconds: {
    type: 'histogram',
    help: 'Time from the acceptance of a drain until only pods that it keeps for their data ' +
      'remain, or none; of drains that ended as Drained.',
    labels: [],
    isLong: true,
  },
  tidegate_node_writes_total: {
    type: 'counter',
    help: 'Patches of Nodes by purpose and outcome.',
    labels: ['op', 'outcome'],
  },
  tidegate_reclaims: {
    type: 'gauge',
    help: 'Active reclaim instructions, by state.',
    labels: ['state'],
  },
  tidegate_cordons_refused_total: {
    type: 'counter',
    help: 'Cordon annotations and instructions of Nodes that are refused: the annotation is ' +
      'malformed, too large or of another version; ' +
      'resumedInstructions: all Nodes together have too many.',
    labels: ['bound'],
    fromStart: ['annotation', 'resumedInstructions'],
  },
  tidegate_reclaims_refused_total: {
    type: 'counter',
    help: 'Nodes that reclaim instructions named and that were not drained, by reason.',
    labels: ['reason'],
    fromStart: Object.keys(RECLAIM_REFUSALS),
  },
  tidegate_reclaims_queued: {
    type: 'gauge',
    help: 'Machines of reclaim instructions whose drains wait for --max-draining.',
    labels: [],
  },
  tidegate_machines_without_node_total: {
    type: 'counter',
    help: 'Machines of reclaim instructions whose Node was never observed.',
    labels: [],
  },
  tidegate_reclaim_instructions_changed_total: {
    type: 'counter',
    help: 'Machines that a repeated instruction id named for the first time; not reclaimed.',
    labels: [],
  },
  tidegate_evictions_total: {
    type: 'counter',
    help: 'Eviction calls by outcome.',
    labels: ['outcome'],
    fromStart: [
      'Accepted',
      'Gone',
      'OtherPod',
      'PolicyRefused',
      'Unauthenticated',
      'BudgetExhausted',
      'BudgetUnsettled',
      'Throttled',
      'TwoBudgets',
      'NamespaceTerminating',
      'BudgetBroken',
      'Forbidden',
      'Transient',
      'Unknown',
      'NotSent',
      'Refused',
    ],
  },
  tidegate_node_evictions_total: {
    type: 'counter',
    help: 'Accepted evictions of pods of a Node, while it exists.',
    labels: ['node'],
  },
  tidegate_pod_evictions: {
    type: 'gauge',
    help: 'Pods to be evicted, by statechart state.',
    labels: ['state'],
  },
  ...EVICTION_REQUEST_METRICS,
  tidegate_actor_defects_total: {
    type: 'counter',
    help: 'Crashed actors that are restarted.',
    labels: ['machine'],
    fromStart: STATECHARTS,
  },
  tidegate_events_total: {
    type: 'counter',
    help: 'Kubernetes Events by outcome.',
    labels: ['outcome'],
    fromStart: ['written', 'failed', 'counted', 'dropped'],
  },
  tidegate_bootstrap_template_refused_total: {
    type: 'counter',
    help: 'Rejected reads of the bootstrap template; the last valid one stays in use.',
    labels: [],
  },
  tidegate_bootstrap_template_last_reload_successful: {
    type: 'gauge',
    help: 'Whether the last reading of the bootstrap template is in use: 1, or 0 while the file ' +
      'is rejected.',
    labels: [],
  },
  tidegate_stream_defects_total: {
    type: 'counter',
    help: 'Unhandled errors in stream subscribers; each is logged with its stack.',
    labels: [],
  },
  tidegate_recording_failures_total: {
    type: 'counter',
    help: 'Recordings of lifecycles that ended early, such as on a full disk.',
    labels: [],
  },
  tidegate_recording_lines_dropped_total: {
    type: 'counter',
    help: 'Lines that a recording of lifecycles left out because the disk was too slow.',
    labels: [],
  },
  bigfleet_unschedulable_pod_controller_reconciles_total: {
    type: 'counter',
    help: 'Observed pods by the outcome of their CapacityRequests.',
    labels: ['outcome'],
    fromStart: ['cr_created', 'cr_exists', 'pod_gone', 'pod_terminal', 'error'],
  },
  tidegate_pod_demands: {
    type: 'gauge',
    help: 'Pods with an existing or pending CapacityRequest, by statechart state.',
    labels: ['state'],
  },
  tidegate_pod_request_writes_total: {
    type: 'counter',
    help: 'Writes of CapacityRequests of pods by operation and outcome.',
    labels: ['op', 'outcome'],
  },
  tidegate_pod_demands_writing: {
    type: 'gauge',
    help: 'Pods whose CapacityRequest is being written.',
    labels: [],
  },
  tidegate_penalty_defaults_refused_total: {
    type: 'counter',
    help: 'Rejected reads of the penalty defaults; the last valid ones stay in use.',
    labels: [],
  },
});

/** The name of a metric. */
export type MetricName = keyof typeof METRICS;
/** The label names of a metric. */
export type MetricLabels<Name extends MetricName> = (typeof METRICS)[Name]['labels'][number];
/** The values of the labels of a metric: one that begins with all of them takes no others. */
export type MetricValue<Name extends MetricName> = (typeof METRICS)[Name] extends
  { readonly fromStart: readonly (infer Value extends string)[] } ? Value : string;
