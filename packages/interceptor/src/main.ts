#!/usr/bin/env node
/**
 * Runs an interceptor of this package on the cluster of the current kubeconfig, or of the pod that
 * it runs in: `tidegate-interceptor surge`, or `tidegate-interceptor command NAME TEMPLATE.json`.
 */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { KubeConfig } from '@kubernetes/client-node';
import { clientOf } from './client-node.ts';
import { command } from './command/command.ts';
import type { InterceptorDefinition } from './interceptor-definition.ts';
import { parseJson, recordAt } from './json.ts';
import type { KubernetesClient } from './kubernetes-client.ts';
import { processSeed, realTime } from './real-time.ts';
import { startInterceptor } from './running-interceptor.ts';
import { surge } from './surge/surge.ts';

const USAGE = 'Usage: tidegate-interceptor surge | command NAME TEMPLATE.json\n';

const log = (message: string, fields: object): void => {
  process.stdout.write(`${JSON.stringify({ message, ...fields })}\n`);
};

const definitionOf = (
  client: KubernetesClient,
  [kind, name, file]: readonly string[],
): InterceptorDefinition | undefined => {
  const environment = { client, time: realTime, seed: processSeed() };
  if (kind === 'surge') return surge({ ...environment, log });
  if (kind !== 'command' || name === undefined || file === undefined) return undefined;
  const spec = recordAt(parseJson(readFileSync(file, 'utf8')), 'spec');
  return command({ ...environment, name, template: { spec } });
};

const config = new KubeConfig();
config.loadFromDefault();
const client = clientOf(config);
const definition = definitionOf(client, process.argv.slice(2));
if (definition === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  const running = startInterceptor(definition, {
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
