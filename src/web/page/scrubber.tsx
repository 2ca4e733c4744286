/** The time scrubber: a slider over the history of the process, with milestones and playing. */
import {
  cursor,
  fromMs,
  goLive,
  goTo,
  goToMilestone,
  HISTORY_KEYS,
  isPlaying,
  milestones,
  span,
  speed,
  step,
  togglePlaying,
} from './history.ts';
import {
  keyMove,
  milestonesText,
  milestoneText,
  momentText,
  nextMilestone,
  placeOf,
  type Span,
  SPEEDS,
} from './scrub.ts';

const SHAPES = {
  began: 'M-4 -6 5 0 -4 6Z',
  blocked: 'M0 -7 7 6 -7 6Z',
  ended: 'M-5 -5h10v10h-10Z',
} as const;

const Milestones = ({ whole }: { readonly whole: Span }) => (
  <svg
    class='milestones'
    role='img'
    aria-label={`In this history: ${milestonesText(milestones.value)}`}
  >
    {milestones.value.map((milestone) => (
      <svg
        key={`${milestone.atMs} ${milestone.kind} ${milestone.node}`}
        class={`milestone ${milestone.kind}`}
        x={`${placeOf(whole, milestone.atMs)}%`}
        y='8'
        overflow='visible'
      >
        <path d={SHAPES[milestone.kind]}>
          <title>{milestoneText(milestone)}</title>
        </path>
      </svg>
    ))}
  </svg>
);

const onKey = (event: KeyboardEvent): void => {
  const run = HISTORY_KEYS[event.key];
  const whole = span();
  const move = keyMove(event.key, whole);
  if (run === undefined && move === undefined) return;
  event.preventDefault();
  if (move !== undefined) goTo((cursor.value ?? whole.nowMs) + move);
  else run?.();
};

const Slider = ({ whole }: { readonly whole: Span }) => (
  <div class='track'>
    <Milestones whole={whole} />
    <input
      type='range'
      aria-label='Moment that the page shows'
      aria-valuetext={momentText(whole, cursor.value)}
      min={whole.fromMs}
      max={whole.nowMs}
      step='1'
      value={cursor.value ?? whole.nowMs}
      onInput={({ currentTarget }) => {
        isPlaying.value = false;
        goTo(Number(currentTarget.value));
      }}
      onKeyDown={onKey}
    />
  </div>
);

const Button = ({ label, sign, onClick, disabled = false }: {
  readonly label: string;
  readonly sign: string;
  readonly onClick: () => void;
  readonly disabled?: boolean;
}) => (
  <button type='button' aria-label={label} title={label} disabled={disabled} onClick={onClick}>
    {sign}
  </button>
);

const milestoneLabel = (direction: 1 | -1, atMs: number): string => {
  const milestone = nextMilestone(milestones.value, atMs, direction);
  const which = direction > 0 ? 'Next milestone' : 'Previous milestone';
  return milestone === undefined ? `${which}: none` : `${which}: ${milestoneText(milestone)}`;
};

const Buttons = ({ atMs }: { readonly atMs: number }) => {
  const isLive = cursor.value === undefined;
  const isMoving = isLive || isPlaying.value;
  const hasEarlier = nextMilestone(milestones.value, atMs, -1) !== undefined;
  return (
    <div class='steps' role='group' aria-label='Move in time'>
      <Button
        label={milestoneLabel(-1, atMs)}
        sign='«'
        disabled={!hasEarlier}
        onClick={() => goToMilestone(-1)}
      />
      <Button label='Last change ( , )' sign='‹' onClick={() => step(-1)} />
      <Button
        label={isMoving ? 'Pause' : 'Play'}
        sign={isMoving ? '❚❚' : '▶'}
        onClick={togglePlaying}
      />
      <Button label='Next change ( . )' sign='›' disabled={isLive} onClick={() => step(1)} />
      <Button
        label={milestoneLabel(1, atMs)}
        sign='»'
        disabled={isLive}
        onClick={() => goToMilestone(1)}
      />
      <select
        aria-label='Speed'
        value={speed.value}
        onChange={({ currentTarget: { value } }) => {
          speed.value = Number(value);
        }}
      >
        {SPEEDS.map((times) => <option key={times} value={times}>{times}×</option>)}
      </select>
    </div>
  );
};

/** The scrubber; nothing for a process without a history. */
export const Scrubber = () => {
  if (fromMs.value === undefined) return null;
  const whole = span();
  const isLive = cursor.value === undefined;
  return (
    <section class={`scrubber ${isLive ? '' : 'past'}`} aria-label='History'>
      <Buttons atMs={cursor.value ?? whole.nowMs} />
      <Slider whole={whole} />
      <p class='moment'>{momentText(whole, cursor.value)}</p>
      <button type='button' class='to-live' disabled={isLive} onClick={goLive}>
        Live <kbd>L</kbd>
      </button>
      <a class='download' href='/recording.jsonl' download>
        Download the last ten minutes
      </a>
    </section>
  );
};
