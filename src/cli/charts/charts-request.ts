/** The request of `tidegate charts`: flags and arguments as plain values. */
import { Option } from 'effect';
import { CHART_FORMATS } from '../../view/chart/chart-format.ts';
import { optionalText } from '../cluster-flags.ts';

/** A request to export charts, not yet validated. */
export interface ChartsExportRequest {
  /** Empty: all of them. */
  readonly machines: readonly string[];
  readonly out: string | undefined;
  readonly format: string | undefined;
}

/** A request to compare charts with a revision, not yet validated. */
export interface ChartsDiffRequest {
  readonly revision: string;
  /** Empty: all of them. */
  readonly machines: readonly string[];
  readonly out: string | undefined;
}

/** Flags of `charts export`. */
export const EXPORT_FLAGS = {
  out: optionalText('out', 'DIR', 'Folder for the files (default: one machine, to stdout)'),
  format: optionalText(
    'format',
    CHART_FORMATS.join('|'),
    'Format (default: all with --out, svg without)',
  ),
};

/** Flags of `charts diff`. */
export const DIFF_FLAGS = {
  out: optionalText('out', 'DIR', 'Folder for pictures of the changes'),
};

/** The parsed command line of an export. */
export const chartsExportRequest = (parsed: {
  readonly machines: readonly string[];
  readonly out: Option.Option<string>;
  readonly format: Option.Option<string>;
}): ChartsExportRequest => ({
  machines: parsed.machines,
  out: Option.getOrUndefined(parsed.out),
  format: Option.getOrUndefined(parsed.format),
});

/** The parsed command line of a comparison. */
export const chartsDiffRequest = (parsed: {
  readonly revision: string;
  readonly machines: readonly string[];
  readonly out: Option.Option<string>;
}): ChartsDiffRequest => ({
  revision: parsed.revision,
  machines: parsed.machines,
  out: Option.getOrUndefined(parsed.out),
});
