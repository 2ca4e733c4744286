/** The formats that a chart is exported in, and the names of their files. */

/** Formats of an export. */
export const CHART_FORMATS = ['svg', 'mermaid', 'json'] as const;

/** One of them. */
export type ChartFormat = (typeof CHART_FORMATS)[number];

const EXTENSIONS: Readonly<Record<ChartFormat, string>> = {
  svg: 'svg',
  mermaid: 'mmd',
  json: 'json',
};

/** The name of the file that a chart is exported to. */
export const chartFileName = (machine: string, format: ChartFormat): string =>
  `${machine}.${EXTENSIONS[format]}`;
