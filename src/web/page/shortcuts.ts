/**
 * The keys of the page: `/` searches, `j` and `k` or the arrows move, `y` copies the name, `x` the
 * command, `.` and `,` step through the history, `L` is live, Escape closes, Control-K opens the
 * command palette.
 */
import { copyText } from './clipboard.ts';
import { HISTORY_KEYS } from './history.ts';
import { nextPlace } from './names.ts';
import { openPalette } from './palette.tsx';
import { go, route } from './route.ts';

const ITEMS = '[data-item]';

const items = (): readonly HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>(ITEMS)].filter((item) => item.offsetParent !== null)
    .toSorted((left, right) =>
      left.compareDocumentPosition(right) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1
    );

const current = (): HTMLElement | undefined =>
  document.activeElement instanceof HTMLElement && document.activeElement.matches(ITEMS)
    ? document.activeElement
    : undefined;

const move = (step: 1 | -1): void => {
  const all = items();
  const now = current();
  const next = all[nextPlace(all.length, now === undefined ? -1 : all.indexOf(now), step)];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
};

const search = (): void => document.querySelector<HTMLInputElement>('input[type=search]')?.focus();

const close = (): void => {
  if (route.value.actor !== '') go({ actor: '' });
  else if (route.value.search !== '') go({ search: '' });
};

const KEYS: Readonly<Record<string, () => void>> = {
  '/': search,
  'j': () => move(1),
  'k': () => move(-1),
  'y': () => void copyText(current()?.dataset['item'] ?? ''),
  'x': () => void copyText(current()?.dataset['command'] ?? ''),
  'Escape': close,
  ...HISTORY_KEYS,
};

/** Arrows scroll everything but a list of items. */
const ARROWS: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, ArrowUp: -1 };

const isTyping = ({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  ctrlKey || metaKey || altKey || target instanceof HTMLInputElement ||
  target instanceof HTMLSelectElement;

/** Starts to listen. */
export const followKeys = (): void =>
  addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      return openPalette();
    }
    if (isTyping(event)) return;
    const step = ARROWS[event.key];
    const run = step !== undefined && current() !== undefined ? () => move(step) : KEYS[event.key];
    if (run === undefined) return;
    event.preventDefault();
    run();
  });
