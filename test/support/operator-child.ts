/** `tidegate operator` as a process of its own, on a test bed, with its metrics and probes. */
import { freePort } from '../../tools/testbed/ports.ts';
import type { TestbedUser } from '../../tools/testbed/credentials.ts';
import type { Testbed } from '../../tools/testbed/testbed.ts';
import { metricValue } from './metric-texts.ts';
import { eventually } from './eventually.ts';
import type { Runtime, StartTidegate, TidegateProcess } from './tidegate-child.ts';

export interface OperatorOptions {
  readonly bed: Testbed;
  /** `host:port` of the fleet. */
  readonly shardAddress: string;
  readonly clusterId?: string;
  /** As whom it talks to the API server. */
  readonly user?: TestbedUser;
  readonly runtime?: Runtime;
  /** Further flags, by name without dashes. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A running operator. */
export interface OperatorProcess extends TidegateProcess {
  /** All metrics, as Prometheus reads them. */
  readonly metrics: () => Promise<string>;
  /** One metric: the sum over all series whose labels include these. 0 when there is none. */
  readonly metric: (name: string, labels?: Readonly<Record<string, string>>) => Promise<number>;
  /** The status code of a probe, or 0 when nobody answers. */
  readonly probe: (path: '/healthz' | '/readyz') => Promise<number>;
  /** Waits until `/readyz` says 200. */
  readonly untilReady: () => Promise<void>;
}

const OK = 200;

/** Starts it by `start`. */
export const operatorBy = async (
  start: StartTidegate,
  options: OperatorOptions,
): Promise<OperatorProcess> => {
  const user = options.user ?? 'tidegate';
  const metricsAddress = `127.0.0.1:${await freePort()}`;
  const healthAddress = `127.0.0.1:${await freePort()}`;
  const flags = {
    'cluster-id': options.clusterId ?? 'test',
    'shard-addr': options.shardAddress,
    'kubeconfig': options.bed.kubeconfigFor(user),
    'metrics-addr': metricsAddress,
    'health-addr': healthAddress,
    'rollup-interval': '1s',
    'log-level': 'debug',
    ...options.flags,
  };
  const child = start({
    name: `operator as ${user}`,
    args: ['operator', ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)],
    ...(options.runtime === undefined ? {} : { runtime: options.runtime }),
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  const metrics = async (): Promise<string> =>
    await (await fetch(`http://${metricsAddress}/metrics`)).text();
  const probe = async (path: string): Promise<number> => {
    try {
      const answer = await fetch(`http://${healthAddress}${path}`);
      await answer.text();
      return answer.status;
    } catch {
      return 0;
    }
  };
  return {
    ...child,
    metrics,
    metric: async (name, labels = {}) => metricValue(await metrics(), name, labels),
    probe,
    untilReady: async () => {
      await eventually(async () => await probe('/readyz') === OK, {
        what: 'the operator to be ready',
        hopeless: () => child.isRunning() ? undefined : 'it has ended',
      });
    },
  };
};
