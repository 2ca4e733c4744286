/**
 * The limits of what a shard may send: the source of the reference page and of the label values of
 * `tidegate_shard_limits_reached_total`.
 *
 * Promises: what is beyond a limit is left out, counted and logged, and costs nothing else.
 */

/** One limit. */
export interface ShardLimit {
  readonly max: number;
  readonly unit: string;
  /** What is counted. */
  readonly counts: string;
  /** What happens beyond it. */
  readonly beyond: string;
}

/** Keeps the literal names while checking the shape. */
const catalogue = <const Entries extends Record<string, ShardLimit>>(entries: Entries): Entries =>
  entries;

/** All limits, by name. */
export const SHARD_LIMITS = catalogue({
  frame_bytes: {
    max: 1024 * 1024,
    unit: 'bytes',
    counts: 'One frame of any kind',
    beyond: 'The frame is ignored without decoding it. A machine that it names stays bound.',
  },
  machine_bytes: {
    max: 64 * 1024,
    unit: 'bytes',
    counts: 'One NodeStateUpdate without its `last_error`',
    beyond: 'The frame is ignored; the machine stays bound in its last state.',
  },
  machines: {
    max: 100_000,
    unit: 'machines',
    counts: 'Machines of the cluster',
    beyond: 'Frames of further machines are ignored until others leave.',
  },
  id_length: {
    max: 256,
    unit: 'characters',
    counts: 'One id of a machine, an instruction, a bootstrap pull or a cluster, or a node name',
    beyond: 'The frame is ignored; in an instruction, the entry is left out.',
  },
  provider_id_length: {
    max: 1024,
    unit: 'characters',
    counts: 'One `provider_id`',
    beyond: 'The frame is ignored; the machine stays bound in its last state.',
  },
  bootstrap_requirements: {
    max: 128,
    unit: 'requirements',
    counts: 'Requirements of one bootstrap pull',
    beyond: 'The pull is answered with an error.',
  },
  instruction_machines: {
    max: 1000,
    unit: 'machines',
    counts: 'Machines of one reclaim instruction',
    beyond: 'The first ones are taken; the acknowledgement counts no others.',
  },
  reclaim_machines: {
    max: 20_000,
    unit: 'machines',
    counts: 'Machines of all active reclaim instructions',
    beyond: 'A further instruction is acknowledged with 0 nodes.',
  },
  node_instructions: {
    max: 64,
    unit: 'instructions',
    counts: 'Instructions that one drain of a Node has joined',
    beyond: 'A further instruction does not count the Node; its drain goes on.',
  },
  instruction_log_lines: {
    max: 20,
    unit: 'lines',
    counts: 'Log lines and Events about what one instruction names and does not drain',
    beyond: 'One line says that others are left out; the metrics count all.',
  },
});

/** The name of a limit. */
export type ShardLimitName = keyof typeof SHARD_LIMITS;

/** What exceeds a limit, such as `it has 12 bytes, limit 10 (machine_bytes)`. */
export const beyondText = (name: ShardLimitName, count: number): string => {
  const { unit, max } = SHARD_LIMITS[name];
  return `it has ${count} ${unit}, limit ${max} (${name})`;
};
