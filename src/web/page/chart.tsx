/**
 * The drawing of a machine: with the states of one actor highlighted, its last and its possible
 * transitions and the delays that run, or with the number of actors per state.
 *
 * Promises: shows the drawing of the documentation unchanged; opens on the highlighted state, with
 * legible text; highlighting updates without drawing again.
 */
import { signal, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { duration } from '../../view/duration.ts';
import type { PendingDelay } from '../../view/pending-delays.ts';
import { chiefState, drawRings, mark, marks, stateOf } from './chart-marks.ts';
import {
  onPointerDown,
  onWheel,
  setZoom,
  showElement,
  sizeDrawing,
  wasDragged,
  zoomBy,
} from './chart-viewport.ts';
import { catalogue, connection, focused, nowMs } from './feed.ts';
import { fetchedFiles } from './fetched-files.ts';
import { fillMinimap, goTo, markMinimap, moveMinimap } from './minimap.ts';
import { go, route } from './route.ts';
import { Timeline } from './timeline.tsx';
import { spoken } from './words.ts';

const drawings = signal<Readonly<Record<string, string>>>({});
const files = fetchedFiles();

/** The drawing, once it has arrived; a failed fetch is made again when the connection is back. */
const drawingOf = (kind: string): string | undefined => {
  if (kind !== '' && connection.value !== 'lost') {
    void files(`/charts/${kind}.svg`).then((text) => {
      if (text !== undefined) drawings.value = { ...drawings.value, [kind]: text };
    });
  }
  return drawings.value[kind];
};

/** A drawing in the page, and the file that it is of. */
interface PlacedDrawing {
  readonly text: string;
  readonly drawing: SVGSVGElement | null;
}

const place = (holder: Element, text: string): PlacedDrawing => {
  const drawing = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  holder.replaceChildren(document.importNode(drawing, true));
  return { text, drawing: holder.querySelector('svg') };
};

const leftOf = ({ startMs, endMs }: PendingDelay) => {
  const left = endMs - nowMs.value;
  return {
    share: Math.min(1, Math.max(0, left / (endMs - startMs))),
    text: duration(Math.max(0, left)),
  };
};

const HIGHLIGHTS = '.lit, .peopled';

/** Draws what has changed; returns what is drawn. */
const drawn = (
  holder: Element,
  map: SVGSVGElement,
  { text, drawing, before }: PlacedDrawing & { readonly before: string },
): string => {
  if (drawing === null) return '';
  sizeDrawing(holder);
  mark(drawing, marks.value);
  markMinimap(map, drawing);
  const { kind, actor } = route.value;
  const place = [text.length, kind, actor, drawing.querySelector(HIGHLIGHTS) !== null].join(' ');
  const now = [place, ...marks.value.lit].join(' ');
  const chief = now === before ? undefined : chiefState(drawing, marks.value);
  if (chief !== undefined) showElement(holder, chief, !before.startsWith(`${place} `));
  moveMinimap(map, holder);
  return now;
};

interface Place<Kind> {
  readonly current: Kind | null;
}

/** Keeps the drawing and its minimap current. */
const useDrawing = (holder: Place<HTMLDivElement>, map: Place<SVGSVGElement>): void => {
  // Two effects of one frame run in either order: the rings follow what is placed, not the files.
  const placed = useSignal<PlacedDrawing | undefined>(undefined);
  const before = useRef('');
  useSignalEffect(() => {
    const text = drawingOf(route.value.kind);
    const [to, mini] = [holder.current, map.current];
    if (to === null || mini === null) return;
    if (text === undefined) {
      to.replaceChildren();
      mini.replaceChildren();
      placed.value = undefined;
      return;
    }
    const last = placed.peek();
    const now = last?.text === text ? last : place(to, text);
    if (now !== last && now.drawing !== null) fillMinimap(mini, now.drawing);
    placed.value = now;
    before.current = drawn(to, mini, { ...now, before: before.current });
  });
  useSignalEffect(() => {
    const delays = focused.value?.delays ?? [];
    const drawing = placed.value?.drawing;
    if (drawing) drawRings(drawing, delays, leftOf);
  });
};

const Drawing = ({ kind }: { readonly kind: string }) => {
  const holder = useRef<HTMLDivElement>(null);
  const map = useRef<SVGSVGElement>(null);
  useDrawing(holder, map);
  const onView = () => {
    if (map.current !== null && holder.current !== null) moveMinimap(map.current, holder.current);
  };
  useEffect(() => {
    const resized = new ResizeObserver(onView);
    if (holder.current !== null) resized.observe(holder.current);
    return () => resized.disconnect();
  }, []);
  const onMap = (event: PointerEvent) => {
    if (map.current !== null && holder.current !== null) goTo(map.current, holder.current, event);
  };
  return (
    <div class='drawing-frame'>
      <div
        class='drawing'
        ref={holder}
        tabIndex={0}
        role='region'
        aria-label={`The states of ${spoken(kind)}`}
        onScroll={onView}
        onWheel={onWheel}
        onPointerDown={onPointerDown}
        onClick={({ target }) => {
          const state = target instanceof Element ? target.closest('[data-state]') : null;
          if (state !== null && route.value.actor === '' && !wasDragged()) {
            go({ state: stateOf(state) });
          }
        }}
      />
      <svg
        class='minimap needless'
        ref={map}
        aria-hidden='true'
        onPointerDown={onMap}
        onPointerMove={onMap}
      />
    </div>
  );
};

const ZOOM_STEP = 1.25;

const zoomDrawing = (factor: number): void => zoomBy(document.querySelector('.drawing'), factor);

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
          <button type='button' onClick={() => zoomDrawing(1 / ZOOM_STEP)} aria-label='Smaller'>
            −
          </button>
          <button type='button' onClick={() => setZoom('fit')}>fit</button>
          <button type='button' onClick={() => setZoom(1)} aria-label='1:1, legible size'>
            1:1
          </button>
          <button type='button' onClick={() => zoomDrawing(ZOOM_STEP)} aria-label='Larger'>
            +
          </button>
        </div>
      </div>
      <Timeline />
      <Drawing kind={kind} />
    </>
  );
};
