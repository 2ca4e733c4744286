/**
 * The timeline of a reclaim or of a drain as a waterfall: instruction, cordon, ack, tiers,
 * evictions, end.
 *
 * Promises: each bar names what it waited for; built from the histories that the board keeps, so
 * that an old beginning may be missing; bounded.
 */
import type { ActorBoard, ActorDetail, ActorStep } from '../../api/actor-board.ts';
import { listOrEmptyAt, numberAt, textAt } from '../../domain/json.ts';
import { compareText } from '../../domain/requirements.ts';

/** What a bar waited for. */
export const WAITED_FOR = [
  'Tidegate',
  'API server',
  'fleet',
  'tier',
  'budget',
  'application',
  'storage',
  'machine',
  'person',
  'pods',
] as const;
export type WaitedFor = (typeof WAITED_FOR)[number];

/** A time in which an actor waited for one thing. */
export interface TimelineBar {
  readonly startMs: number;
  /** Null while it goes on. */
  readonly endMs: number | null;
  readonly waitedFor: WaitedFor;
  /** Its states, from the first to the last. */
  readonly label: string;
}

/** An actor, or one region of it. */
export interface TimelineRow {
  /** The id of the actor. */
  readonly id: string;
  readonly name: string;
  /** 0: the reclaim, 1: a node, 2: a pod. */
  readonly depth: 0 | 1 | 2;
  readonly bars: readonly TimelineBar[];
  /** How it ended; empty while it goes on. */
  readonly end: string;
  readonly endMs: number | null;
}

/** The timeline. */
export interface ReclaimTimeline {
  readonly startMs: number;
  /** Null while something goes on. */
  readonly endMs: number | null;
  readonly deadlineMs: number | null;
  readonly rows: readonly TimelineRow[];
  readonly rowsLeftOut: number;
}

/** States by the beginning of their path: a wait, an end, or (null) nothing that takes time. */
type Waits = readonly (readonly [state: string, waitedFor: WaitedFor | 'end' | null])[];

const OF_ANSWER: Waits = [
  ['underway.answer.cordoning', 'API server'],
  ['underway.answer.acking', 'fleet'],
  ['underway.answer.ackHeld', 'fleet'],
  ['underway.answer.acked', 'end'],
  ['settled', 'end'],
];

const OF_MACHINES: Waits = [
  ['underway.nodes.waiting.awaitingNodes', 'machine'],
  ['underway.nodes.waiting.queued', 'Tidegate'],
  ['underway.nodes.waiting', 'machine'],
  ['underway.nodes.draining', 'pods'],
  ['settled', 'end'],
];

const OF_DRAIN: Waits = [
  ['work.underway.waitingForSlot', 'Tidegate'],
  ['work.underway.leftAlone', 'person'],
  ['work.underway.holding', 'Tidegate'],
  ['work.underway.draining.waitingForTier', 'tier'],
  ['work.underway.draining.paused', 'person'],
  ['work.underway.draining.settling', 'Tidegate'],
  ['work.underway.draining.open', 'pods'],
  ['work.underway.draining', null],
  ['work.underway', 'API server'],
  ['work.ending', 'API server'],
  ['work.', 'end'],
];

const OF_POD: Waits = [
  ['intercepted', 'application'],
  ['queued', 'budget'],
  ['asking', 'Tidegate'],
  ['calling', 'API server'],
  ['heldUp.unsettled', 'budget'],
  ['heldUp.twoBudgets', 'budget'],
  ['heldUp.budgetBroken', 'budget'],
  ['heldUp.neverAllowed', 'budget'],
  ['heldUp.refusedByPolicy', 'person'],
  ['heldUp.forbidden', 'person'],
  ['heldUp.namespaceTerminating', 'application'],
  ['heldUp', 'API server'],
  ['stranded', 'machine'],
  ['leaving.withoutKubelet', 'machine'],
  ['leaving.heldByFinalizer', 'storage'],
  ['leaving', 'application'],
  ['released', 'end'],
  ['gone', 'end'],
];

const BARS_MAX = 40;
const ROWS_MAX = 40;

const lastName = (state: string): string => state.slice(state.lastIndexOf('.') + 1);

interface Region {
  readonly state: string;
  readonly waitedFor: WaitedFor | 'end' | null;
}

/** The state of the region that the table is about. */
const regionOf = ({ state }: ActorStep, waits: Waits): Region | undefined => {
  for (const path of state.split(' ')) {
    const found = waits.find(([prefix]) => path.startsWith(prefix));
    if (found !== undefined) return { state: path, waitedFor: found[1] };
  }
  return undefined;
};

const joined = (label: string, name: string): string =>
  label.split(', ').includes(name) ? label : `${label}, ${name}`;

/** Successive waits for the same thing are one bar. */
const barsOf = (
  path: readonly ActorStep[],
  waits: Waits,
): Pick<TimelineRow, 'bars' | 'end' | 'endMs'> => {
  const bars: TimelineBar[] = [];
  let end = '';
  let endMs: number | null = null;
  path.forEach((step, at) => {
    const region = regionOf(step, waits);
    const nextMs = path[at + 1]?.atMs ?? null;
    if (region?.waitedFor === 'end') {
      endMs ??= step.atMs;
      end = lastName(region.state);
      return;
    }
    if (region === undefined || region.waitedFor === null || nextMs === step.atMs) return;
    [end, endMs] = ['', null];
    const name = lastName(region.state);
    const last = bars.at(-1);
    if (last !== undefined && last.waitedFor === region.waitedFor && last.endMs === step.atMs) {
      bars[bars.length - 1] = { ...last, endMs: nextMs, label: joined(last.label, name) };
    } else {
      bars.push({ startMs: step.atMs, endMs: nextMs, waitedFor: region.waitedFor, label: name });
    }
  });
  return { bars: bars.slice(-BARS_MAX), end, endMs };
};

/** An actor that was stopped waits for nothing any more. */
const stopped = (row: TimelineRow, { row: { status, sinceMs } }: ActorDetail): TimelineRow =>
  status === 'active' ? row : {
    ...row,
    bars: row.bars.map((bar) => (bar.endMs === null ? { ...bar, endMs: sinceMs } : bar)),
    end: row.end === '' ? status : row.end,
    endMs: row.endMs ?? sinceMs,
  };

const rowOf = (
  detail: ActorDetail,
  waits: Waits,
  { name, depth }: Pick<TimelineRow, 'name' | 'depth'>,
): TimelineRow =>
  stopped({ id: detail.row.id, name, depth, ...barsOf(detail.path, waits) }, detail);

type Source = Pick<ActorBoard, 'rows' | 'context' | 'detail'>;

const startOf = ({ bars, endMs }: TimelineRow): number =>
  bars[0]?.startMs ?? endMs ?? Number.POSITIVE_INFINITY;

/** The drain of a node and the evictions of its pods, in the order in which they began. */
const nodeRows = (source: Source, drain: ActorDetail): readonly TimelineRow[] => {
  const node = textAt(drain.context, 'name') ?? drain.row.id;
  const pods = source.rows().flatMap(({ id, kind, sinceMs }): readonly TimelineRow[] => {
    if (kind !== 'podEviction' || textAt(source.context(id), 'node') !== node) return [];
    const detail = sinceMs < drain.row.bornMs ? undefined : source.detail(id);
    if (detail === undefined) return [];
    return [rowOf(detail, OF_POD, { name: textAt(detail.context, 'key') ?? id, depth: 2 })];
  });
  return [
    rowOf(drain, OF_DRAIN, { name: node, depth: 1 }),
    ...pods.toSorted((left, right) =>
      startOf(left) - startOf(right) || compareText(left.name, right.name)
    ),
  ];
};

const instructionRows = (source: Source, detail: ActorDetail): readonly TimelineRow[] => {
  const nodes = listOrEmptyAt(detail.context, 'entries')
    .flatMap((entry) => textAt(entry, 'node') || []);
  return [
    rowOf(detail, OF_ANSWER, { name: 'cordon and ack', depth: 0 }),
    rowOf(detail, OF_MACHINES, { name: 'nodes', depth: 0 }),
    ...[...new Set(nodes)].flatMap((node) => {
      const drain = source.detail(`nodeDrain/${node}`);
      return drain === undefined ? [] : nodeRows(source, drain);
    }),
  ];
};

/** The reclaim that a drain is part of, if its actor is known. */
const instructionOf = (source: Source, { context }: ActorDetail): ActorDetail | undefined => {
  const ids = listOrEmptyAt(context, 'annotation', 'ids');
  return ids.length === 1 ? source.detail(`reclaimInstruction/${String(ids[0])}`) : undefined;
};

const rowsOf = (source: Source, detail: ActorDetail): readonly TimelineRow[] | undefined => {
  if (detail.row.kind === 'reclaimInstruction') return instructionRows(source, detail);
  if (detail.row.kind !== 'nodeDrain') return undefined;
  const instruction = instructionOf(source, detail);
  const answer = instruction === undefined
    ? []
    : [rowOf(instruction, OF_ANSWER, { name: 'cordon and ack', depth: 0 })];
  return [...answer, ...nodeRows(source, detail)];
};

const deadlineOf = (source: Source, { context }: ActorDetail): number | null =>
  numberAt(context, 'annotation', 'deadlineMs') ??
    listOrEmptyAt(context, 'entries').map((entry) =>
      numberAt(
        source.context(`nodeDrain/${textAt(entry, 'node') ?? ''}`),
        'annotation',
        'deadlineMs',
      )
    ).find((deadlineMs) => deadlineMs !== undefined) ?? null;

/** The timeline of a reclaim or of a drain; null for actors of other kinds. */
export const reclaimTimeline = (source: Source, detail: ActorDetail): ReclaimTimeline | null => {
  const rows = rowsOf(source, detail);
  if (rows === undefined) return null;
  const starts = rows.map(startOf).filter(Number.isFinite);
  const ends = rows.map(({ end, endMs, bars }) =>
    end === '' && bars.length > 0 ? null : endMs ?? 0
  );
  return {
    startMs: Math.min(detail.row.bornMs, ...starts),
    endMs: ends.includes(null) ? null : Math.max(...ends.map(Number)),
    deadlineMs: deadlineOf(source, detail),
    rows: rows.slice(0, ROWS_MAX),
    rowsLeftOut: Math.max(0, rows.length - ROWS_MAX),
  };
};
