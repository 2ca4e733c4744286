/** The time scrubber: a slider over the history of the process, with marks and playing. */
import {
  cursor,
  fromMs,
  goLive,
  goTo,
  goToMark,
  HISTORY_KEYS,
  isPlaying,
  marks,
  span,
  speed,
  step,
  togglePlaying,
} from './history.ts';
import {
  keyMove,
  marksText,
  markText,
  momentText,
  nextMark,
  placeOf,
  type Span,
  SPEEDS,
} from './scrub.ts';

const SHAPES = {
  began: 'M-4 -6 5 0 -4 6Z',
  blocked: 'M0 -7 7 6 -7 6Z',
  ended: 'M-5 -5h10v10h-10Z',
} as const;

const Marks = ({ whole }: { readonly whole: Span }) => (
  <svg class='marks' role='img' aria-label={`In this history: ${marksText(marks.value)}`}>
    {marks.value.map((mark) => (
      <svg
        key={`${mark.atMs} ${mark.kind} ${mark.node}`}
        class={`mark ${mark.kind}`}
        x={`${placeOf(whole, mark.atMs)}%`}
        y='8'
        overflow='visible'
      >
        <path d={SHAPES[mark.kind]}>
          <title>{markText(mark)}</title>
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
    <Marks whole={whole} />
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

const markLabel = (direction: 1 | -1, atMs: number): string => {
  const mark = nextMark(marks.value, atMs, direction);
  const which = direction > 0 ? 'Next mark' : 'Previous mark';
  return mark === undefined ? `${which}: none` : `${which}: ${markText(mark)}`;
};

const Buttons = ({ atMs }: { readonly atMs: number }) => {
  const isLive = cursor.value === undefined;
  const isMoving = isLive || isPlaying.value;
  const hasEarlier = nextMark(marks.value, atMs, -1) !== undefined;
  return (
    <div class='steps' role='group' aria-label='Move in time'>
      <Button
        label={markLabel(-1, atMs)}
        sign='«'
        disabled={!hasEarlier}
        onClick={() => goToMark(-1)}
      />
      <Button label='Last change ( , )' sign='‹' onClick={() => step(-1)} />
      <Button
        label={isMoving ? 'Pause' : 'Play'}
        sign={isMoving ? '❚❚' : '▶'}
        onClick={togglePlaying}
      />
      <Button label='Next change ( . )' sign='›' disabled={isLive} onClick={() => step(1)} />
      <Button
        label={markLabel(1, atMs)}
        sign='»'
        disabled={isLive}
        onClick={() => goToMark(1)}
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
