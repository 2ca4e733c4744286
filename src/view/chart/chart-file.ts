/** The files that a chart is exported to: its picture, diagram and definition. */
import { createMachine } from 'xstate';
import { type Chart, chartOf } from './chart.ts';
import { machineJson } from './chart-config.ts';
import { chartFileName, type ChartFormat } from './chart-format.ts';
import { placedChart } from './chart-layout.ts';
import { chartMermaid } from './chart-mermaid.ts';
import { chartPictures } from './chart-pictures.ts';
import { chartSvg } from './chart-svg.ts';

/** A file of a chart. */
export interface ChartFile {
  readonly name: string;
  readonly text: string;
}

/** The files of a chart in a format: a chart that is too wide for a page has several pictures. */
export const chartFiles = async (
  chart: Chart,
  format: ChartFormat,
): Promise<readonly ChartFile[]> => {
  if (format !== 'svg') {
    return [{ name: chartFileName(chart.name, format), text: await chartFile(chart, format) }];
  }
  return (await chartPictures(chart)).map(({ path, placed }) => ({
    name: chartFileName(path === '' ? chart.name : `${chart.name}-${path}`, format),
    text: chartSvg(placed),
  }));
};

/** A whole chart in a format; ends in a line break. */
export const chartFile = async (chart: Chart, format: ChartFormat): Promise<string> => {
  switch (format) {
    case 'svg':
      return chartSvg(await placedChart(chart));
    case 'mermaid':
      return chartMermaid(chart);
    case 'json':
      return `${JSON.stringify(machineJson(chart), null, 2)}\n`;
  }
};

/** Reads a chart exported as JSON; throws on invalid text. */
export const chartFromJson = (text: string): Chart => chartOf(createMachine(JSON.parse(text)));
