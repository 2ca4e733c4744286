/** The timeline of a reclaim as a waterfall, each bar in the color of what it waited for. */
import {
  type ReclaimTimeline,
  type TimelineBar,
  type TimelineRow,
  WAITED_FOR,
} from '../../view/board/reclaim-timeline.ts';
import { duration } from '../../view/duration.ts';
import { focused, nowMs } from './feed.ts';
import { Name } from './name.tsx';
import { addressWith } from './route.ts';
import { span, spoken, timeOfDay } from './words.ts';

const HUNDRED = 100;
/** A bar of no length is still there. */
const LEAST = 0.4;

const kindOf = (waitedFor: string): string => waitedFor.toLowerCase().replaceAll(' ', '-');

interface Scale {
  readonly startMs: number;
  readonly lengthMs: number;
}

const place = (atMs: number, { startMs, lengthMs }: Scale): number =>
  Math.min(HUNDRED, Math.max(0, (atMs - startMs) / lengthMs * HUNDRED));

const barTitle = ({ startMs, endMs, waitedFor, label }: TimelineBar): string =>
  `${timeOfDay(startMs)}: ${span((endMs ?? nowMs.value) - startMs, duration)}${
    endMs === null ? ' so far' : ''
  }, waited for ${waitedFor} (${spoken(label)})`;

const Bar = ({ bar, scale }: { readonly bar: TimelineBar; readonly scale: Scale }) => {
  const from = place(bar.startMs, scale);
  const width = Math.max(LEAST, place(bar.endMs ?? nowMs.value, scale) - from);
  return (
    <rect
      class={`bar ${kindOf(bar.waitedFor)}`}
      x={`${Math.min(from, HUNDRED - LEAST)}%`}
      width={`${width}%`}
      y='3'
      height='14'
    >
      <title>{barTitle(bar)}</title>
    </rect>
  );
};

/** The waits of a row in words, for those who do not see the bars. */
const summary = ({ bars, end }: TimelineRow): string =>
  [...bars.map(barTitle), end === '' ? 'goes on' : spoken(end)].join('; ');

const Row = ({ row, scale }: { readonly row: TimelineRow; readonly scale: Scale }) => (
  <li class={`depth-${row.depth}`}>
    <a href={addressWith({ kind: row.id.split('/')[0] ?? '', actor: row.id })}>
      <Name text={row.name} />
    </a>
    <svg class='bars' role='img' aria-label={summary(row)} height='20'>
      {row.bars.map((bar) => <Bar key={`${bar.startMs} ${bar.label}`} bar={bar} scale={scale} />)}
      {row.endMs !== null && (
        <rect class='end' x={`${Math.min(HUNDRED - LEAST, place(row.endMs, scale))}%`} y='1'>
          <title>{`${timeOfDay(row.endMs)}: ${spoken(row.end)}`}</title>
        </rect>
      )}
    </svg>
    <span class='age'>{row.end === '' ? '…' : spoken(row.end)}</span>
  </li>
);

const Legend = ({ rows }: Pick<ReclaimTimeline, 'rows'>) => {
  const used = new Set(rows.flatMap(({ bars }) => bars.map(({ waitedFor }) => waitedFor)));
  return (
    <p class='legend'>
      waits for{' '}
      {WAITED_FOR.filter((name) => used.has(name)).map((name) => (
        <span key={name} class='key'>
          <i class={`bar ${kindOf(name)}`} />
          {name}
        </span>
      ))}
    </p>
  );
};

const Deadline = ({ deadlineMs, scale }: {
  readonly deadlineMs: number | null;
  readonly scale: Scale;
}) => {
  if (deadlineMs === null) return null;
  const left = deadlineMs - nowMs.value;
  return (
    <span class='age'>
      deadline {timeOfDay(deadlineMs).slice(0, 8)}
      {left > 0 && scale.startMs + scale.lengthMs >= nowMs.value ? `, ${duration(left)} left` : ''}
    </span>
  );
};

/** The timeline of the selected reclaim or drain. */
export const Timeline = () => {
  const timeline = focused.value?.timeline;
  if (timeline === null || timeline === undefined || timeline.rows.length === 0) return null;
  const { startMs, rows, rowsLeftOut, deadlineMs } = timeline;
  const endMs = timeline.endMs ?? nowMs.value;
  const scale = { startMs, lengthMs: Math.max(1, endMs - startMs) };
  return (
    <section class='timeline' aria-label='Timeline'>
      <header>
        <h3>Timeline</h3>
        <Legend rows={rows} />
        <Deadline deadlineMs={deadlineMs} scale={scale} />
      </header>
      <div class='timeline-rows' tabIndex={0} role='region' aria-label='Rows of the timeline'>
        <ol>
          {rows.map((row, at) => <Row key={`${row.id} ${at}`} row={row} scale={scale} />)}
        </ol>
        {rowsLeftOut > 0 && <p class='more'>and {rowsLeftOut} more</p>}
      </div>
      <p class='axis'>
        <span>{timeOfDay(startMs).slice(0, 8)}</span>
        <span>{span(scale.lengthMs, duration)}</span>
        <span>{timeOfDay(endMs).slice(0, 8)}</span>
      </p>
    </section>
  );
};
