/**
 * The drawing of a machine: with the states of one actor highlighted and its path marked, or with
 * the number of actors per state.
 *
 * Promises: shows the drawing of the documentation unchanged; highlighting updates without drawing
 * again.
 */
import { computed, signal, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { catalogue, focused, rows } from './feed.ts';
import { go, route } from './route.ts';
import { Timeline } from './timeline.tsx';
import { spoken } from './words.ts';

const drawings = signal<Readonly<Record<string, string>>>({});
const asked = new Set<string>();

const drawingOf = (kind: string): string | undefined => {
  if (kind !== '' && !asked.has(kind)) {
    asked.add(kind);
    void fetch(`/charts/${kind}.svg`).then(async (answer) => {
      if (answer.ok) drawings.value = { ...drawings.value, [kind]: await answer.text() };
    });
  }
  return drawings.value[kind];
};

/** A state and its ancestors: `a.b.c` → `a`, `a.b`, `a.b.c`. */
const withOuter = (path: string): readonly string[] => {
  const names = path.split('.');
  return names.map((_, at) => names.slice(0, at + 1).join('.'));
};

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

interface Marks {
  readonly lit: ReadonlySet<string>;
  /** The ancestors of the highlighted states. */
  readonly around: ReadonlySet<string>;
  readonly passed: ReadonlySet<string>;
  readonly counts: ReadonlyMap<string, number> | undefined;
}

const NONE: ReadonlySet<string> = new Set();

const marks = computed((): Marks => {
  if (route.value.actor === '') {
    return { lit: NONE, around: NONE, passed: NONE, counts: stateCounts.value };
  }
  const actor = focused.value;
  const now = actor?.row[2].split(' ') ?? [];
  return {
    lit: new Set(now),
    around: new Set(now.flatMap((path) => withOuter(path).slice(0, -1))),
    passed: new Set(actor?.path.flatMap(({ state }) => state.split(' ')) ?? []),
    counts: undefined,
  };
});

const SVG = 'http://www.w3.org/2000/svg';

/** The badge of a state, created on first use. */
const badgeOf = (group: Element): Element => {
  const there = group.querySelector(':scope > text.state-count');
  if (there !== null) return there;
  const badge = document.createElementNS(SVG, 'text');
  const box = group.querySelector(':scope > rect');
  const number = (name: string): number => Number(box?.getAttribute(name) ?? 0);
  badge.setAttribute('class', 'state-count');
  badge.setAttribute('x', String(number('x') + number('width') - 8));
  badge.setAttribute('y', String(number('y') + 4));
  group.append(badge);
  return badge;
};

const mark = (drawing: Element, { lit, around, passed, counts }: Marks): void => {
  for (const group of drawing.querySelectorAll('[data-state]')) {
    const path = group.getAttribute('data-state') ?? '';
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

const place = (holder: Element, text: string): void => {
  const drawing = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  holder.replaceChildren(document.importNode(drawing, true));
};

/** The scale of the drawing; 0 fits it to the width, if still legible. */
const zoom = signal(0);
const ZOOM_STEP = 1.25;
/** The minimum legible scale. */
const READABLE = 0.55;

const scaleIn = (holder: Element, widthDrawn: number): number =>
  zoom.value > 0 ? zoom.value : Math.min(1, Math.max(READABLE, holder.clientWidth / widthDrawn));

const sizeDrawing = (holder: Element): void => {
  const drawing = holder.querySelector('svg');
  if (drawing === null) return;
  const widthDrawn = drawing.viewBox.baseVal.width;
  drawing.style.width = `${Math.round(widthDrawn * scaleIn(holder, widthDrawn))}px`;
};

const zoomBy = (factor: number): void => {
  const drawing = document.querySelector<SVGSVGElement>('.drawing svg');
  if (drawing === null) return;
  zoom.value = drawing.clientWidth / drawing.viewBox.baseVal.width * factor;
};

const stateOf = (group: Element): string => group.getAttribute('data-state') ?? '';

/** Scrolls to the innermost highlighted state, or to the one with most actors. */
const showLit = (holder: Element, { counts }: Marks): void => {
  const marked = [...holder.querySelectorAll('.lit, .peopled')];
  const peopled = (group: Element): number => counts?.get(stateOf(group)) ?? 0;
  const depth = (group: Element): number => withOuter(stateOf(group)).length;
  const [lit] = marked
    .filter((group) => !marked.some((inner) => stateOf(inner).startsWith(`${stateOf(group)}.`)))
    .toSorted((left, right) => peopled(right) - peopled(left) || depth(right) - depth(left));
  if (lit === undefined) return;
  const inside = holder.getBoundingClientRect();
  const box = lit.getBoundingClientRect();
  if (
    box.left >= inside.left && box.right <= inside.right && box.top >= inside.top &&
    box.bottom <= inside.bottom
  ) return;
  holder.scrollBy({
    left: (box.left + box.right - inside.left - inside.right) / 2,
    top: (box.top + box.bottom - inside.top - inside.bottom) / 2,
  });
};

const Drawing = ({ kind }: { readonly kind: string }) => {
  const holder = useRef<HTMLDivElement>(null);
  const placed = useRef('');
  const drawn = useRef('');
  useSignalEffect(() => {
    const text = drawingOf(route.value.kind);
    const to = holder.current;
    if (to === null) return;
    if (text === undefined) {
      to.replaceChildren();
      placed.current = '';
      return;
    }
    if (placed.current !== text) place(to, text);
    placed.current = text;
    sizeDrawing(to);
    mark(to, marks.value);
    const isPeopled = (marks.value.counts?.size ?? 0) > 0;
    const lit = [route.value.kind, isPeopled, ...marks.value.lit].join(' ');
    if (lit !== drawn.current) showLit(to, marks.value);
    drawn.current = lit;
  });
  return (
    <div
      class='drawing'
      ref={holder}
      tabIndex={0}
      role='region'
      aria-label={`The states of ${spoken(kind)}`}
      onClick={({ target }) => {
        const state = target instanceof Element ? target.closest('[data-state]') : null;
        if (state !== null && route.value.actor === '') {
          go({ state: state.getAttribute('data-state') ?? '' });
        }
      }}
    />
  );
};

/** The middle of the page. */
export const Chart = () => {
  const { kind } = route.value;
  const words = catalogue.value.machines[kind];
  return (
    <>
      <div class='title'>
        <h2>{spoken(kind)}</h2>
        <p>{words?.description}</p>
        <div class='zoom' role='group' aria-label='Size of the drawing'>
          <button type='button' onClick={() => zoomBy(1 / ZOOM_STEP)} aria-label='Smaller'>
            −
          </button>
          <button type='button' onClick={() => (zoom.value = 0)}>fit</button>
          <button type='button' onClick={() => zoomBy(ZOOM_STEP)} aria-label='Larger'>+</button>
        </div>
      </div>
      <Timeline />
      <Drawing kind={kind} />
    </>
  );
};
