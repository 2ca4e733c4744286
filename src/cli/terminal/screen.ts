/**
 * A picture on a terminal that is drawn again and again, on the alternate screen.
 *
 * Promises: the scrollback and what was on the terminal are as before once the screen is closed,
 * also when the process ends early; a picture never scrolls, so it has at most as many lines and
 * columns as the terminal.
 */
import process from 'node:process';
import { cutToCells } from '../../view/cell-width.ts';
import type { Terminal } from './terminal.ts';

const ESCAPE = '\u001b[';
/** Switches to the alternate screen and hides the cursor; and back (xterm, mode 1049). */
const OPEN = `${ESCAPE}?1049h${ESCAPE}?25l`;
const CLOSE = `${ESCAPE}?25h${ESCAPE}?1049l`;
const TO_TOP = `${ESCAPE}H`;
const CLEAR_LINE_END = `${ESCAPE}K`;
const CLEAR_BELOW = `${ESCAPE}J`;

/** A screen; it opens with its first picture. */
export interface Screen {
  /** Replaces the picture. The lines contain no control characters. */
  readonly show: (lines: readonly string[]) => void;
  /** Restores the terminal; once closed, a screen stays closed. */
  readonly close: () => void;
}

/** The lines that fit, and how many do not. */
const fitting = (lines: readonly string[], rows: number): readonly string[] => {
  if (lines.length <= rows) return lines;
  const hidden = lines.length - rows + 1;
  return [...lines.slice(0, rows - 1), `… and ${hidden} more lines`];
};

/** A screen of this terminal. */
export const makeScreen = (terminal: Pick<Terminal, 'print' | 'size'>): Screen => {
  let state: 'unopened' | 'open' | 'closed' = 'unopened';
  const close = (): void => {
    process.off('exit', close);
    if (state === 'open') terminal.print(CLOSE);
    state = 'closed';
  };
  return {
    show: (lines) => {
      if (state === 'closed') return;
      const { columns, rows } = terminal.size();
      const drawn = fitting(lines, rows).map((line) =>
        cutToCells(line, columns, '…') + CLEAR_LINE_END
      );
      const opening = state === 'unopened' ? OPEN : '';
      if (state === 'unopened') process.once('exit', close);
      state = 'open';
      terminal.print(`${opening}${TO_TOP}${drawn.join('\r\n')}${CLEAR_BELOW}`);
    },
    close,
  };
};
