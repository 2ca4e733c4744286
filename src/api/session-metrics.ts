/** The metrics of the session with the shard, a part of the catalogue in `metrics.ts`. */
import { ENDING_CAUSES } from '../domain/session.ts';
import { SHARD_LIMITS } from '../domain/shard-limits.ts';
import { catalogue } from './metric.ts';

/** Of the stream, its frames and the roll-ups that it carries. */
export const SESSION_METRICS = catalogue({
  tidegate_session_state: {
    type: 'gauge',
    help: 'State of the session with the shard: 1 for the current state, else 0.',
    labels: ['state'],
  },
  tidegate_session_plaintext: {
    type: 'gauge',
    help: 'Whether the session with the shard has no TLS: 1 for plaintext, else 0.',
    labels: [],
  },
  tidegate_session_endings_total: {
    type: 'counter',
    help: 'Ended streams and failed dials, by cause.',
    labels: ['cause'],
    fromStart: ENDING_CAUSES,
  },
  tidegate_session_frames_total: {
    type: 'counter',
    help: 'Frames received from the shard by kind.',
    labels: ['frame'],
    fromStart: [
      'Acknowledged',
      'BootstrapPulled',
      'BootstrapMalformed',
      'ReclaimInstructed',
      'MachineObserved',
      'CapacityObserved',
      'Unreadable',
    ],
  },
  tidegate_shard_limits_reached_total: {
    type: 'counter',
    help: 'Parts of messages of the shard that exceeded a limit and were left out, by limit.',
    labels: ['limit'],
    fromStart: Object.keys(SHARD_LIMITS),
  },
  tidegate_bootstrap_pulls_total: {
    type: 'counter',
    help: 'Bootstrap pulls by outcome.',
    labels: ['outcome'],
    fromStart: ['rendered', 'failed', 'dropped'],
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
    fromStart: ['sent', 'acknowledged', 'overdue', 'too_large'],
  },
  tidegate_rollup_ack_duration_seconds: {
    type: 'histogram',
    help: "Time from sending a roll-up to the shard's ack.",
    labels: [],
  },
});
