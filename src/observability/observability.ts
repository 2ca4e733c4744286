/**
 * Logs, metrics, inspection and probes of a process, opened and closed together.
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

/** The options of observability. */
export interface ObservabilityOptions {
  readonly level: LogLevel;
  readonly target: LogTarget;
  /** A field of every line; a role without a fleet has none. */
  readonly cluster?: string;
  readonly time: Pick<Time, 'now'>;
  /** The log level of each statechart, by its id. */
  readonly machineLevels: Readonly<Record<string, LogLevel>>;
  /** Further inspectors, such as the live page; none costs nothing. */
  readonly inspectors?: readonly Inspector[];
}

/** Fields of every log line. */
const baseOf = ({ cluster }: ObservabilityOptions): LogFields =>
  cluster === undefined ? {} : { cluster };

/** The interface for the rest of the process. */
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

/** Creates logs, metrics and the inspector; `serve` opens the servers once checks exist. */
export const makeObservability = (options: ObservabilityOptions): Observability => {
  const logs = makeLogs({ ...options, base: baseOf(options) });
  const metrics = makeMetrics();
  const telemetry = liveTelemetry(logs, metrics);
  const tap = inspectionTap({ telemetry, enabled: logs.enabled, levels: options.machineLevels });
  return {
    telemetry,
    inspect: inspectWith(tap, options.inspectors ?? []),
    serve: (addresses) => startServers({ ...addresses, metrics }),
  };
};
