/**
 * The visible part of a drawing: it opens legibly on its highlighted state; the wheel zooms at the
 * pointer, dragging moves.
 */
import { signal } from '@preact/signals';

/** The scale of the drawing; `fit` shows its whole width. At 1 its smallest text has 11 pixels. */
const zoom = signal<number | 'fit'>(1);

const SCALE = { least: 0.15, most: 3 };
const WHEEL_STEP = 1.15;
/** A shorter way of the pointer is a click. */
const DRAG_PX = 4;

const drawingIn = (holder: Element): SVGSVGElement | null => holder.querySelector('svg');

const fitting = (holder: Element, widthDrawn: number): number =>
  Math.min(1, holder.clientWidth / widthDrawn);

/** Gives the drawing its size. */
export const sizeDrawing = (holder: Element): void => {
  const drawing = drawingIn(holder);
  if (drawing === null) return;
  const widthDrawn = drawing.viewBox.baseVal.width;
  const scale = zoom.value === 'fit' ? fitting(holder, widthDrawn) : zoom.value;
  drawing.style.width = `${Math.round(widthDrawn * scale)}px`;
};

const scaleOf = ({ clientWidth, viewBox }: SVGSVGElement): number =>
  clientWidth / viewBox.baseVal.width;

/** Zooms; the point of the window stays where it is. */
const zoomAt = (
  holder: Element,
  factor: number,
  at: { readonly x: number; readonly y: number },
) => {
  const drawing = drawingIn(holder);
  if (drawing === null) return;
  const box = drawing.getBoundingClientRect();
  const [across, down] = [(at.x - box.left) / box.width, (at.y - box.top) / box.height];
  zoom.value = Math.min(SCALE.most, Math.max(SCALE.least, scaleOf(drawing) * factor));
  sizeDrawing(holder);
  const after = drawing.getBoundingClientRect();
  holder.scrollBy(
    after.left + across * after.width - at.x,
    after.top + down * after.height - at.y,
  );
};

/** Zooms at the middle of what is visible. */
export const zoomBy = (holder: Element | null, factor: number): void => {
  if (holder === null) return;
  const { left, top, width, height } = holder.getBoundingClientRect();
  zoomAt(holder, factor, { x: left + width / 2, y: top + height / 2 });
};

/** Shows the whole width, or the size at which all text is legible. */
export const setZoom = (to: 1 | 'fit'): void => {
  zoom.value = to;
};

/** Moves the middle of the view to the middle of an element; `always` also when it is visible. */
export const showElement = (holder: Element, element: Element, always: boolean): void => {
  const inside = holder.getBoundingClientRect();
  const box = element.getBoundingClientRect();
  const isVisible = box.left >= inside.left && box.right <= inside.right &&
    box.top >= inside.top && box.bottom <= inside.bottom;
  if (isVisible && !always) return;
  holder.scrollBy({
    left: (box.left + box.right - inside.left - inside.right) / 2,
    top: (box.top + box.bottom - inside.top - inside.bottom) / 2,
  });
};

/** Zooms with the wheel; with Shift it scrolls. */
export const onWheel = (event: WheelEvent): void => {
  const holder = event.currentTarget;
  if (event.shiftKey || event.deltaY === 0 || !(holder instanceof Element)) return;
  event.preventDefault();
  const factor = event.deltaY < 0 ? WHEEL_STEP : 1 / WHEEL_STEP;
  zoomAt(holder, factor, { x: event.clientX, y: event.clientY });
};

let dragged = false;

/** True when the click ends a drag. */
export const wasDragged = (): boolean => dragged;

/** Moves the drawing with the pointer of a mouse; a finger scrolls by itself. */
export const onPointerDown = (event: PointerEvent): void => {
  const holder = event.currentTarget;
  dragged = false;
  if (event.button !== 0 || event.pointerType === 'touch' || !(holder instanceof HTMLElement)) {
    return;
  }
  const from = { x: event.clientX, y: event.clientY };
  const start = { left: holder.scrollLeft, top: holder.scrollTop };
  const onMove = ({ clientX, clientY, pointerId }: PointerEvent): void => {
    const [across, down] = [clientX - from.x, clientY - from.y];
    if (!dragged && Math.hypot(across, down) < DRAG_PX) return;
    if (!dragged) holder.setPointerCapture(pointerId);
    dragged = true;
    holder.classList.add('dragged');
    holder.scrollTo(start.left - across, start.top - down);
  };
  const onEnd = (): void => {
    holder.classList.remove('dragged');
    holder.removeEventListener('pointermove', onMove);
  };
  holder.addEventListener('pointermove', onMove);
  for (const end of ['pointerup', 'pointercancel']) {
    holder.addEventListener(end, onEnd, { once: true });
  }
};
