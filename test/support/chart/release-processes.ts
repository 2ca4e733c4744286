/** The pods of a release of the chart as processes of this machine, for one test. */
import { expect } from 'vitest';
import {
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
} from '../../../src/domain/json.ts';
import { eventually } from '../eventually.ts';
import { startTidegate, type TidegateProcess } from '../processes/tidegate-process.ts';
import { unpooledFetch } from '../processes/unpooled-fetch.ts';
import type { ContainerProcess } from './container-process.ts';
import { kindAndName } from './helm.ts';

/** The pod of the Deployment of the operator. */
export const operatorPod = (objects: readonly JsonRecord[]): JsonRecord => {
  const deployment = objects.find((one) => kindAndName(one) === 'Deployment/tidegate-operator');
  const spec = recordAt(deployment, 'spec', 'template', 'spec');
  if (spec === undefined) throw new Error('The release has no Deployment/tidegate-operator');
  return spec;
};

/** Starts what the container of a pod starts: `tidegate`, whose main file is here. */
export const startContainer = (name: string, { command, args, env }: ContainerProcess) => {
  const [program, ...first] = command;
  expect(program).toBe('tidegate');
  return startTidegate({ name, args: [...first, ...args], env });
};

const answers = async (port: number | undefined, path: string): Promise<boolean> => {
  try {
    const response = await unpooledFetch(`http://127.0.0.1:${port}${path}`);
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
};

/** Waits until the probes of a container succeed, as a kubelet does. */
export const untilProbed = async (
  spec: JsonRecord,
  { ports }: ContainerProcess,
  child: TidegateProcess,
): Promise<void> => {
  const [container] = listOrEmptyAt(spec, 'containers');
  const named = listOrEmptyAt(container, 'ports');
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
    const get = recordAt(container, probe, 'httpGet');
    const port = named.find((one) => textAt(one, 'name') === textAt(get, 'port'));
    const here = ports.get(numberAt(port, 'containerPort') ?? 0);
    await eventually(() => answers(here, textAt(get, 'path') ?? ''), {
      what: `the ${probe} of ${textAt(container, 'name')}`,
      hopeless: () => child.isRunning() ? undefined : 'it has ended',
    });
  }
};
