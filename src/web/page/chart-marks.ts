/** What a drawing highlights: the states of an actor and its transitions, or counts per state. */
import { computed } from '@preact/signals';
import type { PossibleMove } from '../../view/catalogue.ts';
import type { PendingDelay } from '../../view/pending-delays.ts';
import type { SentActor } from '../live-feed.ts';
import { catalogue, focused, rows } from './feed.ts';
import { route } from './route.ts';
import { type Entered, possibleMoves, takenMoves } from './moves.ts';
import { innermost, withOuter } from './words.ts';

/** The highlighting of a drawing. */
export interface Marks {
  readonly lit: ReadonlySet<string>;
  /** The ancestors of the highlighted states. */
  readonly around: ReadonlySet<string>;
  readonly passed: ReadonlySet<string>;
  /** Arrows of the last transition: `from to`. */
  readonly taken: ReadonlySet<string>;
  /** Arrows that an event may take next. */
  readonly next: ReadonlySet<string>;
  readonly counts: ReadonlyMap<string, number> | undefined;
}

/** The number of active actors of the machine per state, ancestors included. */
const stateCounts = computed(() => {
  const counts = new Map<string, number>();
  for (const { kind, status, states } of rows.value) {
    if (kind !== route.value.kind || status !== 'active') continue;
    for (const path of new Set(states.flatMap(withOuter))) {
      counts.set(path, (counts.get(path) ?? 0) + 1);
    }
  }
  return counts;
});

const NONE: ReadonlySet<string> = new Set();

const arrowsOf = (moves: readonly PossibleMove[]): ReadonlySet<string> =>
  new Set(moves.map(([from, , to]) => `${from} ${to}`));

const lastEntered = (path: SentActor['path']): Entered | undefined => {
  const [before, now] = path.slice(-2);
  if (before === undefined || now === undefined) return undefined;
  return { before: before.state.split(' '), now: now.state.split(' '), event: now.event };
};

/** The current highlighting. */
export const marks = computed((): Marks => {
  if (route.value.actor === '') {
    return {
      lit: NONE,
      around: NONE,
      passed: NONE,
      taken: NONE,
      next: NONE,
      counts: stateCounts.value,
    };
  }
  const actor = focused.value;
  const now = actor?.row[2].split(' ') ?? [];
  const moves = catalogue.value.machines[route.value.kind]?.moves ?? [];
  const last = lastEntered(actor?.path ?? []);
  return {
    lit: new Set(now),
    around: new Set(now.flatMap((path) => withOuter(path).slice(0, -1))),
    passed: new Set(actor?.path.flatMap(({ state }) => state.split(' ')) ?? []),
    taken: arrowsOf(last === undefined ? [] : takenMoves(moves, last)),
    next: arrowsOf(possibleMoves(moves, now)),
    counts: undefined,
  };
});

const SVG = 'http://www.w3.org/2000/svg';

const boxOf = (group: Element): readonly [x: number, y: number, width: number] => {
  const box = group.querySelector(':scope > rect');
  const number = (name: string): number => Number(box?.getAttribute(name) ?? 0);
  return [number('x'), number('y'), number('width')];
};

const svgNode = (name: string, attributes: Readonly<Record<string, string | number>>): Element => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
};

/** The badge of a state, created on first use. */
const badgeOf = (group: Element): Element => {
  const there = group.querySelector(':scope > text.state-count');
  if (there !== null) return there;
  const [x, y, width] = boxOf(group);
  const badge = svgNode('text', { class: 'state-count', x: x + width - 8, y: y + 4 });
  group.append(badge);
  return badge;
};

/** The path of the state that a group draws. */
export const stateOf = (group: Element): string => group.getAttribute('data-state') ?? '';

const markStates = (drawing: Element, { lit, around, passed, counts }: Marks): void => {
  for (const group of drawing.querySelectorAll('[data-state]')) {
    const path = stateOf(group);
    const count = counts?.get(path) ?? 0;
    group.classList.toggle('lit', lit.has(path));
    group.classList.toggle('around', around.has(path));
    group.classList.toggle('passed', passed.has(path) && !lit.has(path));
    group.classList.toggle('peopled', count > 0);
    if (count > 0 || group.querySelector(':scope > text.state-count') !== null) {
      badgeOf(group).textContent = count === 0 ? '' : count.toLocaleString('en');
    }
  }
};

const markArrows = (drawing: Element, { taken, next }: Marks): void => {
  for (const arrow of drawing.querySelectorAll('.arrow')) {
    const ends = `${arrow.getAttribute('data-from')} ${arrow.getAttribute('data-to')}`;
    arrow.classList.toggle('taken', taken.has(ends));
    arrow.classList.toggle('next', next.has(ends));
  }
};

/** Highlights a drawing. */
export const mark = (drawing: Element, marks: Marks): void => {
  drawing.classList.toggle('follows', marks.lit.size > 0);
  markStates(drawing, marks);
  markArrows(drawing, marks);
};

/** The innermost highlighted state, or the one with most actors. */
export const chiefState = (drawing: Element, { counts }: Marks): Element | undefined => {
  const marked = [...drawing.querySelectorAll('.lit, .peopled')];
  const inner = new Set(innermost(marked.map(stateOf)));
  const peopled = (group: Element): number => counts?.get(stateOf(group)) ?? 0;
  const depth = (group: Element): number => withOuter(stateOf(group)).length;
  return marked.filter((group) => inner.has(stateOf(group)))
    .toSorted((left, right) => peopled(right) - peopled(left) || depth(right) - depth(left))[0];
};

const RADIUS = 15;

const ringOf = (group: Element): readonly Element[] => {
  const [x, y, width] = boxOf(group);
  const place = { cx: x + width, cy: y, r: RADIUS };
  return [
    svgNode('circle', { ...place, class: 'ring-track' }),
    svgNode('circle', {
      ...place,
      class: 'ring-left',
      pathLength: 1,
      transform: `rotate(-90 ${place.cx} ${place.cy})`,
    }),
    svgNode('text', { class: 'ring-text', x: place.cx, y: place.cy + 4 }),
    svgNode('title', {}),
  ];
};

const ringFor = (drawing: Element, { state, name }: PendingDelay): Element | undefined => {
  const key = `${state} ${name}`;
  for (const ring of drawing.querySelectorAll('.ring')) {
    if (ring.getAttribute('data-delay') === key) return ring;
  }
  const box = [...drawing.querySelectorAll('[data-state]')]
    .find((group) => stateOf(group) === state && group.querySelector(':scope > rect') !== null);
  if (box === undefined) return undefined;
  const ring = svgNode('g', { 'class': 'ring', 'data-delay': key });
  ring.append(...ringOf(box));
  drawing.append(ring);
  return ring;
};

const setText = (within: Element, part: string, text: string): void => {
  const place = within.querySelector(part);
  if (place !== null) place.textContent = text;
};

/** Shows how much is left of the delays that run, as a ring on the state that waits. */
export const drawRings = (
  drawing: Element,
  delays: readonly PendingDelay[],
  left: (delay: PendingDelay) => { readonly share: number; readonly text: string },
): void => {
  const current = new Set<Element>();
  for (const delay of delays) {
    const { share, text } = left(delay);
    const ring = share > 0 ? ringFor(drawing, delay) : undefined;
    if (ring === undefined) continue;
    current.add(ring);
    ring.querySelector('.ring-left')?.setAttribute('stroke-dasharray', `${share} 1`);
    setText(ring, '.ring-text', text.replace(/(?<=\d[a-z]).+/, ''));
    setText(ring, 'title', `after ${delay.name}: ${text} left`);
  }
  for (const ring of drawing.querySelectorAll('.ring')) if (!current.has(ring)) ring.remove();
};
