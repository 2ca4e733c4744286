/** What a terminal is besides its two outputs, for commands that a test reads. */
import type { Terminal } from '../../../src/cli/terminal/terminal.ts';

/** Without colours, never redrawn, of the usual size, and with a reader that stays. */
export const PLAIN_TERMINAL: Omit<Terminal, 'print' | 'report'> = {
  colors: false,
  interactive: false,
  size: () => ({ columns: 80, rows: 24 }),
  readerGone: new Promise(() => {}),
};
