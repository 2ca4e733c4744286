/** Compares a machine's chart with the committed one and describes the differences. */
import type { Chart } from '../src/view/chart/chart.ts';
import { chartDiff, chartDiffText } from '../src/view/chart/chart-diff.ts';
import { chartFromJson } from '../src/view/chart/chart-file.ts';

/** The differences from the committed JSON; undefined when it is current. */
export const chartDrift = (chart: Chart, committed: string | undefined): string | undefined => {
  if (committed === undefined) return `The chart of ${chart.name} is not committed`;
  const diff = chartDiff(chartFromJson(committed), chart);
  if (diff === undefined || diff.differences.length === 0) return undefined;
  const [, ...lines] = chartDiffText(diff).trimEnd().split('\n');
  return [`The committed chart of ${chart.name} is not current:`, ...lines].join('\n');
};
