/** A `tidegate` role as a child process, with its metrics and probes. */
import { freePort } from '../../../tools/testbed/ports.ts';
import { eventually } from '../eventually.ts';
import { metricValue } from './metric-texts.ts';
import type { ProcessOptions, StartTidegate, TidegateProcess } from './tidegate-child.ts';
import { unpooledFetch } from './unpooled-fetch.ts';

/** A running role. */
export interface RoleProcess extends TidegateProcess {
  /** The ports of its metrics and its probes. */
  readonly ports: { readonly metrics: number; readonly health: number };
  /** All metrics, as Prometheus reads them. */
  readonly metrics: () => Promise<string>;
  /** One metric: the sum over all series whose labels include these. 0 when there is none. */
  readonly metric: (name: string, labels?: Readonly<Record<string, string>>) => Promise<number>;
  /** The status code of a probe, or 0 when it is unreachable. */
  readonly probe: (path: '/healthz' | '/readyz') => Promise<number>;
  /** Waits until `/readyz` returns 200. */
  readonly untilReady: () => Promise<void>;
}

/** How a role is started. */
export interface RoleOptions extends Omit<ProcessOptions, 'args'> {
  readonly role: 'operator' | 'pods';
  /** Flags by name without dashes, but for the addresses of metrics and probes. */
  readonly flags: Readonly<Record<string, string>>;
}

const OK = 200;

/** Starts it by `start`. */
export const roleBy = async (
  start: StartTidegate,
  { role, flags, ...options }: RoleOptions,
): Promise<RoleProcess> => {
  const ports = { metrics: await freePort(), health: await freePort() };
  const metricsAddress = `127.0.0.1:${ports.metrics}`;
  const healthAddress = `127.0.0.1:${ports.health}`;
  const all = { 'metrics-addr': metricsAddress, 'health-addr': healthAddress, ...flags };
  const child = start({
    ...options,
    args: [role, ...Object.entries(all).map(([name, value]) => `--${name}=${value}`)],
  });
  const metrics = async (): Promise<string> =>
    await (await unpooledFetch(`http://${metricsAddress}/metrics`)).text();
  const probe = async (path: string): Promise<number> => {
    try {
      const answer = await unpooledFetch(`http://${healthAddress}${path}`);
      await answer.text();
      return answer.status;
    } catch {
      return 0;
    }
  };
  return {
    ...child,
    ports,
    metrics,
    metric: async (name, labels = {}) => metricValue(await metrics(), name, labels),
    probe,
    untilReady: async () => {
      await eventually(async () => await probe('/readyz') === OK, {
        what: `${options.name} to be ready`,
        hopeless: () => child.isRunning() ? undefined : 'it has ended',
      });
    },
  };
};
