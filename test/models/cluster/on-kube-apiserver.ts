/** One test bed for a whole run: etcd and a kube-apiserver without controllers. */
import { readFile } from 'node:fs/promises';
import type { TestProject } from 'vitest/node';
import { listOrEmptyAt, parseJson, textAt } from '../../../src/domain/json.ts';
import { unavailability } from '../../../tools/testbed/binaries.ts';
import { startTestbed } from '../../../tools/testbed/testbed.ts';
import { adminAccess } from '../../support/api/cluster-connection.ts';

const tokenIn = async (kubeconfig: string): Promise<string> =>
  textAt(
    listOrEmptyAt(parseJson(await readFile(kubeconfig, 'utf8')), 'users')[0],
    'user',
    'token',
  ) ?? '';

/** Starts it; returns the stop function. Called by vitest. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const problem = await unavailability();
  if (problem !== undefined) {
    process.stderr.write(`NOT RUN: models on kube-apiserver: ${problem}\n`);
    project.provide('siteProblem', problem);
    return () => Promise.resolve();
  }
  const bed = await startTestbed();
  await bed.installCrds();
  const { server, authority } = await adminAccess(bed);
  project.provide('site', {
    name: 'kube-apiserver',
    server,
    authority,
    operatorToken: await tokenIn(bed.kubeconfigFor('tidegate')),
    strangerToken: await tokenIn(bed.kubeconfigFor('viewer')),
  });
  return () => bed.stop();
};
