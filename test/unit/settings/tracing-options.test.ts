/** Where traces go: the flag, or the variable of OpenTelemetry, or nowhere. */
import { expect, test } from 'vitest';
import { tracingSettings } from '../../../src/effects/tracing-options.ts';

const VARIABLE = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const COLLECTOR = 'http://collector:4318';

test.each([
  ['neither', undefined, undefined, undefined],
  ['the flag', COLLECTOR, undefined, COLLECTOR],
  ['the variable', undefined, COLLECTOR, COLLECTOR],
  ['the flag before the variable', COLLECTOR, 'http://other:4318', COLLECTOR],
  ['a variable that is no URL', undefined, 'collector', undefined],
  ['a variable of another protocol', undefined, 'unix:/run/otel', undefined],
])('with %s', (_, otlpEndpoint, variable, expected) => {
  expect(tracingSettings({ otlpEndpoint }, { [VARIABLE]: variable })).toEqual({
    otlpEndpoint: expected,
  });
});
