/** The export formats of a chart and their file names. */

/** Export formats. */
export const CHART_FORMATS = ['svg', 'mermaid', 'json'] as const;

/** An export format. */
export type ChartFormat = (typeof CHART_FORMATS)[number];

const EXTENSIONS: Readonly<Record<ChartFormat, string>> = {
  svg: 'svg',
  mermaid: 'mmd',
  json: 'json',
};

/** The file name of an exported chart. */
export const chartFileName = (machine: string, format: ChartFormat): string =>
  `${machine}.${EXTENSIONS[format]}`;
