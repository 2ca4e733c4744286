/** The files that a chart is exported to: its picture, diagram and definition. */
import { createMachine } from 'xstate';
import { type Chart, chartOf } from './chart.ts';
import { machineJson } from './chart-config.ts';
import type { ChartFormat } from './chart-format.ts';
import { placedChart } from './chart-layout.ts';
import { chartMermaid } from './chart-mermaid.ts';
import { chartSvg } from './chart-svg.ts';

/** A chart in a format; ends in a line break. */
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
