/** One embedded cluster for a whole run: an API server without controllers. */
import type { TestProject } from 'vitest/node';
import { customResourceDefinition } from '../../../src/api/crd.ts';
import { CUSTOM_RESOURCES, LIFECYCLE_RESOURCES } from '../../../src/api/resources.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { serveCluster } from '../../../packages/embedded-kubernetes/src/http/server.ts';
import { withSimulation } from '../../../packages/embedded-kubernetes/src/http/simulation-routes.ts';
import { makeCluster } from '../../../packages/embedded-kubernetes/src/cluster.ts';
import { scaledClock } from '../../../packages/embedded-kubernetes/src/scaled-clock.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Starts it; returns the stop function. Called by vitest. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const time = scaledClock(realTime);
  const cluster = makeCluster({ time, seed: 1 });
  for (const resource of [...CUSTOM_RESOURCES, ...LIFECYCLE_RESOURCES]) {
    const body = customResourceDefinition(resource);
    cluster.answer({ method: 'POST', path: DEFINITIONS, body });
  }
  const at = { host: '127.0.0.1', port: 0 };
  const { address, stop } = await serveCluster(withSimulation({ cluster, time }), at);
  project.provide('site', {
    name: 'embedded',
    server: `http://${address.host}:${address.port}`,
    authority: '',
    operatorToken: '',
    strangerToken: '',
  });
  return stop;
};
