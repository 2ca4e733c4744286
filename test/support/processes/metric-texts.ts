/** Reads the Prometheus text format, as far as tests need it. */

const SERIES = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

const labelsOf = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(LABEL)].map(([, name = '', value = '']) => [name, value]));

/** The sum of all series of this name whose labels include these; 0 when there is none. */
export const metricValue = (
  text: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number =>
  text.split('\n').reduce((sum, line) => {
    const [, series, inBraces = '', value] = SERIES.exec(line) ?? [];
    if (series !== name) return sum;
    const has = labelsOf(inBraces);
    const matches = Object.entries(labels).every(([label, wanted]) => has.get(label) === wanted);
    return matches ? sum + Number(value) : sum;
  }, 0);
