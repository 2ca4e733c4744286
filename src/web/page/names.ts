/** Names and texts of the drain board, as it prints them. */

/** How much of a long name stays readable at its end: the part that tells pods apart. */
const TAIL = 12;

/** A name in two parts; the first may be shortened with an ellipsis, the second may not. */
export const splitName = (name: string): readonly [head: string, tail: string] => {
  const tail = Math.min(TAIL, Math.floor(name.length / 2));
  return [name.slice(0, name.length - tail), name.slice(name.length - tail)];
};

/** A change as what to do, and the command for it; either may be empty. */
export const splitChange = (
  change: string,
): { readonly action: string; readonly command: string } => {
  const at = change.indexOf(': kubectl ');
  return at < 0
    ? { action: change, command: '' }
    : { action: change.slice(0, at), command: change.slice(at + 2) };
};

/** A forecast without its cause, which is the reason beside it. */
export const forecastHead = (forecast: string): string => forecast.split(': ', 1)[0] ?? forecast;

/** `1 pod`, `2 pods`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

/** The title of the window: what needs a person comes first, because tabs are narrow. */
export const windowTitle = (title: string, needsPerson: number): string =>
  needsPerson === 0 ? title : `(${needsPerson}) ${title}`;

const COLORS: Readonly<Record<string, string>> = {
  Ok: '#1f7a4d',
  Waiting: '#0b6a78',
  Blocked: '#c96a00',
  Failed: '#b3261e',
};
const UNKNOWN = '#76838a';

/** The icon of the window, in the color of the severity. */
export const severityIcon = (severity: string): string => {
  const color = COLORS[severity] ?? UNKNOWN;
  const shape = severity === 'Blocked' || severity === 'Failed'
    ? `<path d="M16 2 31 29H1Z" fill="${color}"/>`
    : `<circle cx="16" cy="16" r="13" fill="${color}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${shape}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
};

/** The place of the next item; the first or last one without a current item. */
export const nextPlace = (count: number, at: number, step: 1 | -1): number => {
  if (at < 0) return step > 0 ? 0 : count - 1;
  return Math.min(count - 1, Math.max(0, at + step));
};
