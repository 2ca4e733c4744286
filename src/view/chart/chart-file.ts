/** The files that a chart is exported to: its picture, its diagram and its definition. */
import { createMachine } from 'xstate';
import { type Chart, chartOf } from './chart.ts';
import { machineJson } from './chart-config.ts';
import type { ChartFormat } from './chart-format.ts';
import { placedChart } from './chart-layout.ts';
import { chartMermaid } from './chart-mermaid.ts';
import { chartSvg } from './chart-svg.ts';

/** A chart in a format; it ends in a line break. */
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

/** The chart that was exported as JSON; throws when the text is none. */
export const chartFromJson = (text: string): Chart => chartOf(createMachine(JSON.parse(text)));
