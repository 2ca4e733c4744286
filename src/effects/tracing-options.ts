/** Where traces are exported: the option, and the variable that OpenTelemetry's programs read. */
import { type Kind, optional } from './option-kinds.ts';
import type { Given } from './options.ts';

/** An address of HTTP. */
const httpUrl: Kind<string> = {
  placeholder: 'URL',
  read: (given) =>
    URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)
      ? { _tag: 'Read', value: given }
      : {
        _tag: 'Unreadable',
        why: 'it is not a URL',
        remedy: 'write http:// or https://, such as http://otel-collector:4318',
      },
};

/** The options of tracing. */
export const TRACING_OPTIONS = {
  otlpEndpoint: optional(httpUrl, {
    name: 'otlp-endpoint',
    help: 'Export a trace of each reclaim to URL/v1/traces; without it, to ' +
      '$OTEL_EXPORTER_OTLP_ENDPOINT if that is set',
  }),
} as const;

/** The settings of tracing; off without an endpoint. */
export interface TracingSettings {
  readonly otlpEndpoint?: string | undefined;
}

const VARIABLE = 'OTEL_EXPORTER_OTLP_ENDPOINT';

/** The flag, or else the variable of OpenTelemetry; a value that is no URL exports nothing. */
export const tracingSettings = (
  { otlpEndpoint }: TracingSettings,
  environment: Given['environment'],
): TracingSettings => {
  const read = httpUrl.read(environment[VARIABLE] ?? '');
  return { otlpEndpoint: otlpEndpoint ?? (read._tag === 'Read' ? read.value : undefined) };
};
