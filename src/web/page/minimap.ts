/**
 * The minimap of a drawing: its states, and the part that is visible; a click or a drag moves it.
 *
 * Promises: there is none while the whole drawing is visible; for the eye and the pointer only,
 * since the drawing itself scrolls with keys.
 */
import { stateOf } from './chart-marks.ts';

const SVG = 'http://www.w3.org/2000/svg';
const MOST = { width: 190, height: 150 };

const COPIED = ['x', 'y', 'width', 'height'] as const;

const rectOf = (from: Element, group: Element): SVGRectElement => {
  const rect = document.createElementNS(SVG, 'rect');
  for (const name of COPIED) rect.setAttribute(name, from.getAttribute(name) ?? '0');
  rect.setAttribute('rx', '10');
  rect.setAttribute('data-state-at', stateOf(group));
  return rect;
};

/** Draws the states of a drawing once. */
export const fillMinimap = (map: SVGSVGElement, drawing: SVGSVGElement): void => {
  const { width, height } = drawing.viewBox.baseVal;
  const scale = Math.min(MOST.width / width, MOST.height / height);
  map.setAttribute('viewBox', `0 0 ${width} ${height}`);
  map.setAttribute('width', String(Math.round(width * scale)));
  map.setAttribute('height', String(Math.round(height * scale)));
  const boxes = [...drawing.querySelectorAll('[data-state]')].flatMap((group) => {
    const rect = group.querySelector(':scope > rect:not(.pill)');
    return rect === null || stateOf(group) === '' ? [] : [rectOf(rect, group)];
  });
  const view = document.createElementNS(SVG, 'rect');
  view.setAttribute('class', 'view');
  view.setAttribute('vector-effect', 'non-scaling-stroke');
  map.replaceChildren(...boxes, view);
};

/** Copies what the drawing highlights. */
export const markMinimap = (map: SVGSVGElement, drawing: Element): void => {
  const names = new Map<string, string>();
  for (const group of drawing.querySelectorAll('[data-state]')) {
    const { classList } = group;
    const name = ['lit', 'peopled', 'passed'].find((one) => classList.contains(one)) ?? '';
    names.set(stateOf(group), classList.contains('outer') && name !== 'lit' ? 'outer' : name);
  }
  for (const rect of map.querySelectorAll('rect:not(.view)')) {
    rect.setAttribute('class', names.get(rect.getAttribute('data-state-at') ?? '') ?? '');
  }
};

/** Shows which part is visible. */
export const moveMinimap = (map: SVGSVGElement, holder: Element): void => {
  const drawing = holder.querySelector('svg');
  const view = map.querySelector('.view');
  if (drawing === null || view === null) return;
  const { scrollWidth, scrollHeight, clientWidth, clientHeight } = holder;
  const hasMore = scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1;
  map.classList.toggle('needless', !hasMore);
  const scale = drawing.viewBox.baseVal.width / drawing.clientWidth;
  const inside = holder.getBoundingClientRect();
  const box = drawing.getBoundingClientRect();
  const sides = {
    x: Math.max(0, inside.left - box.left) * scale,
    y: Math.max(0, inside.top - box.top) * scale,
    width: Math.min(clientWidth, box.width) * scale,
    height: Math.min(clientHeight, box.height) * scale,
  };
  for (const [name, value] of Object.entries(sides)) view.setAttribute(name, String(value));
};

/** Scrolls the drawing so that the point under the pointer is in the middle. */
export const goTo = (map: SVGSVGElement, holder: Element, event: PointerEvent): void => {
  const drawing = holder.querySelector('svg');
  if (drawing === null || event.buttons === 0) return;
  const box = map.getBoundingClientRect();
  const [across, down] = [
    (event.clientX - box.left) / box.width,
    (event.clientY - box.top) / box.height,
  ];
  holder.scrollTo(
    across * drawing.clientWidth - holder.clientWidth / 2,
    down * drawing.clientHeight - holder.clientHeight / 2,
  );
};
