/**
 * The catalogue of metrics. Names, help and label names stand here once: the registry, the
 * reference page and the types of `Telemetry` are made from it. Label values come from closed
 * sets, never from free text.
 */

/** One metric. Durations are in seconds, as Prometheus wants them. */
export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

/** Keeps the literal names while checking the shape. */
const catalogue = <const Entries extends Record<string, Metric>>(entries: Entries): Entries =>
  entries;

/** Every metric of Tidegate. `bigfleet_operator_*` are those that existing dashboards read. */
export const METRICS = catalogue({
  bigfleet_operator_rollup_duration_seconds: {
    type: 'histogram',
    help: 'Time to build a roll-up and hand it to the session.',
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
    help: 'Time from a NodeStateUpdate frame to the write it led to.',
    labels: ['phase'],
  },
  bigfleet_operator_upcoming_node_writes_total: {
    type: 'counter',
    help: 'Writes of UpcomingNode objects by operation and outcome.',
    labels: ['op', 'outcome'],
  },
  bigfleet_operator_dispatch_inflight: {
    type: 'gauge',
    help: 'Machines whose write is under way.',
    labels: [],
  },
  rest_client_requests_total: {
    type: 'counter',
    help: 'Requests to the API server by status code, method and host.',
    labels: ['code', 'method', 'host'],
  },
  leader_election_master_status: {
    type: 'gauge',
    help: '1 while this process holds the lease of that name, else 0.',
    labels: ['name'],
  },
  tidegate_watch_objects: {
    type: 'gauge',
    help: 'Objects that a cache holds.',
    labels: ['resource'],
  },
  tidegate_watch_relists_total: {
    type: 'counter',
    help: 'Complete lists of a resource, the first included.',
    labels: ['resource'],
  },
  tidegate_watch_endings_total: {
    type: 'counter',
    help: 'Ended watches by cause.',
    labels: ['resource', 'outcome'],
  },
  tidegate_watch_unreadable_total: {
    type: 'counter',
    help: 'Objects that a cache left out because they could not be read.',
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
    help: 'Writes that wait for the budget.',
    labels: ['class'],
  },
  tidegate_machine_transitions_total: {
    type: 'counter',
    help: 'Transitions of statecharts, by the states as they are drawn.',
    labels: ['machine', 'from', 'to'],
  },
  tidegate_session_state: {
    type: 'gauge',
    help: 'The state of the session with the shard: 1 for the current state, else 0.',
    labels: ['state'],
  },
  tidegate_session_endings_total: {
    type: 'counter',
    help: 'Ended streams and failed dials, by cause.',
    labels: ['cause'],
  },
  tidegate_session_frames_total: {
    type: 'counter',
    help: 'Frames received from the shard by kind.',
    labels: ['frame'],
  },
  tidegate_bootstrap_pulls_total: {
    type: 'counter',
    help: 'Bootstrap pulls by outcome.',
    labels: ['outcome'],
  },
  tidegate_reclaim_instructions_total: {
    type: 'counter',
    help: 'Reclaim instructions received.',
    labels: [],
  },
  tidegate_rollups_total: {
    type: 'counter',
    help: 'Roll-ups by outcome.',
    labels: ['outcome'],
  },
  tidegate_rollup_ack_duration_seconds: {
    type: 'histogram',
    help: "Time from sending a roll-up to the shard's ack.",
    labels: [],
  },
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
    help: 'CapacityRequests that cannot be read, whether or not an older reading counts.',
    labels: [],
  },
  tidegate_acknowledgement_faults_total: {
    type: 'counter',
    help: 'Acknowledgements of CapacityRequests that did not land and wait for the next roll-up.',
    labels: [],
  },
  tidegate_machines: {
    type: 'gauge',
    help: 'Machines by the state of their statechart, passive ones included.',
    labels: ['state'],
  },
  tidegate_unknown_transitions_total: {
    type: 'counter',
    help: 'Steps of machines that the fleet is not known to take; they are followed all the same.',
    labels: ['from', 'to'],
  },
  tidegate_stale_machines_total: {
    type: 'counter',
    help: 'Machines that a complete replay left out, so that their objects go.',
    labels: [],
  },
  tidegate_available_capacities: {
    type: 'gauge',
    help: 'AvailableCapacity statecharts by state.',
    labels: ['state'],
  },
  tidegate_available_capacities_left_out_total: {
    type: 'counter',
    help: 'Updates of profiles beyond the number that is followed.',
    labels: [],
  },
  tidegate_available_capacity_writes_total: {
    type: 'counter',
    help: 'Writes of AvailableCapacity objects by operation and outcome.',
    labels: ['op', 'outcome'],
  },
  tidegate_drains: {
    type: 'gauge',
    help: 'Drains of nodes by the state of their statechart.',
    labels: ['state'],
  },
  tidegate_drains_ended_total: {
    type: 'counter',
    help: 'Ended drains of nodes by outcome.',
    labels: ['outcome'],
  },
  tidegate_node_drain_duration_seconds: {
    type: 'histogram',
    help: 'Time from the acceptance of a drain to its end, by outcome.',
    labels: ['outcome'],
  },
  tidegate_node_writes_total: {
    type: 'counter',
    help: 'Patches of Nodes by purpose and outcome.',
    labels: ['op', 'outcome'],
  },
  tidegate_reclaims: {
    type: 'gauge',
    help: 'Reclaim instructions that are being carried out, by state.',
    labels: ['state'],
  },
  tidegate_machines_without_node_total: {
    type: 'counter',
    help: 'Machines of reclaim instructions whose Node was never observed.',
    labels: [],
  },
  tidegate_evictions_total: {
    type: 'counter',
    help: 'Eviction calls by outcome.',
    labels: ['outcome'],
  },
  tidegate_pod_evictions: {
    type: 'gauge',
    help: 'Pods that are to leave, by the state of their statechart.',
    labels: ['state'],
  },
  tidegate_actor_defects_total: {
    type: 'counter',
    help: 'Actors that ended by a defect of this program and are started again.',
    labels: ['machine'],
  },
  tidegate_events_total: {
    type: 'counter',
    help: 'Kubernetes Events by outcome.',
    labels: ['outcome'],
  },
  tidegate_bootstrap_template_refused_total: {
    type: 'counter',
    help: 'Readings of the bootstrap template that could not be used; the last good one stays.',
    labels: [],
  },
  tidegate_stream_defects_total: {
    type: 'counter',
    help: 'Defects of ours in subscribers of streams; each has a log line with its stack.',
    labels: [],
  },
  bigfleet_unschedulable_pod_controller_reconciles_total: {
    type: 'counter',
    help: 'Observed pods by the outcome of their CapacityRequests.',
    labels: ['outcome'],
  },
  tidegate_pod_demands: {
    type: 'gauge',
    help: 'Pods with an existing or pending CapacityRequest, by the state of their statechart.',
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
    help: 'Readings of the penalty defaults that could not be used; the last good one stays.',
    labels: [],
  },
});

/** The name of a metric. */
export type MetricName = keyof typeof METRICS;
/** The label names of a metric. */
export type MetricLabels<Name extends MetricName> = (typeof METRICS)[Name]['labels'][number];
