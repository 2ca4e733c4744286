/** The spans that the debug exporter of an OpenTelemetry Collector printed. */

/** One span, as it was received. */
export interface PrintedSpan {
  readonly trace: string;
  readonly id: string;
  /** Empty for the root. */
  readonly parent: string;
  readonly name: string;
  readonly status: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly events: readonly string[];
}

const field = (text: string, name: string): string =>
  new RegExp(`^ +${name} +: (.*)$`, 'm').exec(text)?.[1]?.trim() ?? '';

const attributesIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...text.matchAll(/^ +-> ([\w.]+): \w+\((.*)\)$/gm)].map(([, name = '', value = '']) =>
      [name, value] as const
    ),
  );

const spanIn = (text: string): PrintedSpan => {
  const [own = '', events = ''] = text.split(/^Events:$/m);
  return {
    trace: field(own, 'Trace ID'),
    id: field(own, 'ID'),
    parent: field(own, 'Parent ID'),
    name: field(own, 'Name'),
    status: field(own, 'Status code'),
    attributes: attributesIn(own),
    events: [...events.matchAll(/^ +-> Name: (.*)$/gm)].map(([, name = '']) => name),
  };
};

/** All spans in its output. */
export const printedSpans = (output: string): readonly PrintedSpan[] =>
  output.split(/^Span #\d+$/m).slice(1).map(spanIn);
