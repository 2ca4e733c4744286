#!/usr/bin/env node
/**
 * Runs an interceptor of this package on the cluster of the current kubeconfig, or of the pod that
 * it runs in: `tidegate-interceptor surge`, or `tidegate-interceptor command NAME TEMPLATE.json`.
 */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { KubeConfig } from '@kubernetes/client-node';
import { chosenInterceptor } from './chosen-interceptor.ts';
import { clientOf } from './client-node.ts';
import { processSeed, realTime } from './real-time.ts';
import { startInterceptor } from './running-interceptor.ts';

const log = (message: string, fields: object): void => {
  process.stdout.write(`${JSON.stringify({ message, ...fields })}\n`);
};

const config = new KubeConfig();
config.loadFromDefault();
const client = clientOf(config);
const chosen = chosenInterceptor(process.argv.slice(2), {
  client,
  time: realTime,
  seed: processSeed(),
  log,
  readText: (file) => readFileSync(file, 'utf8'),
});
if (chosen._tag === 'Refused') {
  process.stderr.write(`${chosen.problem}\n`);
  process.exitCode = 2;
} else {
  const running = startInterceptor(chosen.definition, {
    client,
    time: realTime,
    seed: processSeed(),
    log,
  });
  const stop = (): void => {
    running.stop();
    process.exit(0);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}
