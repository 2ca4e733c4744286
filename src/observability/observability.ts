/**
 * Everything that shows what a process does, started together and closed together.
 *
 * Promises: `telemetry` and `inspect` work before the servers listen and after they are closed.
 */
import type { LogFields, LogLevel, Telemetry } from '../api/telemetry.ts';
import type { Time } from '../domain/time.ts';
import type { HealthChecks } from './health.ts';
import { inspectionTap } from './inspect.ts';
import { type Inspect, type Inspector, inspectWith } from './inspector.ts';
import { liveTelemetry } from './live-telemetry.ts';
import { type LogTarget, makeLogs } from './logs.ts';
import { makeMetrics } from './metrics.ts';
import { type Address, type Servers, startServers } from './servers.ts';

/** How a process shows itself. */
export interface ObservabilityOptions {
  readonly level: LogLevel;
  readonly target: LogTarget;
  /** Stands on every line; a role that has no name in the fleet has none here. */
  readonly cluster?: string;
  readonly time: Pick<Time, 'now'>;
  /** How loud each statechart is, by its id. */
  readonly machineLevels: Readonly<Record<string, LogLevel>>;
  /** Who else looks on, such as the live page; none costs nothing. */
  readonly inspectors?: readonly Inspector[];
}

/** What every log line says. */
const baseOf = ({ cluster }: ObservabilityOptions): LogFields =>
  cluster === undefined ? {} : { cluster };

/** What the rest of the process talks to. */
export interface Observability {
  readonly telemetry: Telemetry;
  readonly inspect: Inspect;
  /** Opens metrics and probes. */
  readonly serve: (options: {
    readonly metricsAddress: Address | undefined;
    readonly healthAddress: Address | undefined;
    readonly health: HealthChecks;
  }) => Promise<Servers>;
}

/** Makes logs, metrics and the tap; servers are opened by `serve`, when checks exist. */
export const makeObservability = (options: ObservabilityOptions): Observability => {
  const logs = makeLogs({ ...options, base: baseOf(options) });
  const metrics = makeMetrics();
  const telemetry = liveTelemetry(logs, metrics);
  const levels = options.machineLevels;
  const tap = inspectionTap({ telemetry, enabled: logs.enabled, levels });
  return {
    telemetry,
    inspect: inspectWith(tap, options.inspectors ?? []),
    serve: (addresses) => startServers({ ...addresses, metrics }),
  };
};
