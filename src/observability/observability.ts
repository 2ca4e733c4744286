/**
 * Everything that shows what a process does, started together and closed together.
 *
 * Promises: `telemetry` and `inspect` work before the servers listen and after they are closed.
 */
import type { InspectionEvent } from 'xstate';
import type { LogFields, LogLevel, Telemetry } from '../api/telemetry.ts';
import type { Time } from '../domain/time.ts';
import type { HealthChecks } from './health.ts';
import { inspectionTap } from './inspect.ts';
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
  readonly onlookers?: readonly ((event: InspectionEvent) => void)[];
}

/** What every log line says. */
const baseOf = ({ cluster }: ObservabilityOptions): LogFields =>
  cluster === undefined ? {} : { cluster };

/** What the rest of the process talks to. */
export interface Observability {
  readonly telemetry: Telemetry;
  readonly inspect: (event: InspectionEvent) => void;
  /** Opens metrics and probes. */
  readonly serve: (options: {
    readonly metricsAddress: Address | undefined;
    readonly healthAddress: Address | undefined;
    readonly health: HealthChecks;
  }) => Promise<Servers>;
}

type Look = Observability['inspect'];

/** One tap for all who look; where nobody looks on it is the tap itself, and nothing is between. */
export const seenBy = (tap: Look, onlookers: readonly Look[]): Look =>
  onlookers.reduce<Look>(
    (before, look) => (event) => {
      before(event);
      look(event);
    },
    tap,
  );

/** Makes logs, metrics and the tap; servers are opened by `serve`, when checks exist. */
export const makeObservability = (options: ObservabilityOptions): Observability => {
  const logs = makeLogs({ ...options, base: baseOf(options) });
  const metrics = makeMetrics();
  const telemetry = liveTelemetry(logs, metrics);
  const levels = options.machineLevels;
  const tap = inspectionTap({ telemetry, enabled: logs.enabled, levels });
  return {
    telemetry,
    inspect: seenBy(tap, options.onlookers ?? []),
    serve: (addresses) => startServers({ ...addresses, metrics }),
  };
};
