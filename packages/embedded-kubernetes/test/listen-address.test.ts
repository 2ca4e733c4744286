/** A kubeconfig leads to the cluster, whatever address the cluster listens on. */
import { expect, onTestFinished, test } from 'vitest';
import { runCluster } from '../src/run.ts';

test.each(['', '0.0.0.0', '127.0.0.1'])(
  'the kubeconfig of a cluster that listens on "%s" names an address of this machine',
  async (host) => {
    const { kubeconfig, stop } = await runCluster({
      time: {
        now: () => Date.now(),
        monotonic: () => performance.now(),
        schedule: () => () => {},
      },
      listen: { host, port: 0 },
      seed: 1,
      nodes: 0,
      rate: 1,
    });
    onTestFinished(stop);
    const server = /"server": "([^"]+)"/.exec(kubeconfig)?.[1] ?? '';
    expect(new URL(server).hostname).toBe('127.0.0.1');
    // Client-node refuses plain HTTP without it.
    expect(kubeconfig).toContain('"insecure-skip-tls-verify": true');
    expect((await fetch(`${server}/readyz`)).status).toBe(200);
  },
);
