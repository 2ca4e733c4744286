/** The bootstrap template file: validated at start, followed afterwards. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Layer, ManagedRuntime } from 'effect';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bootstrapTemplate } from '../../../src/actors/fleet-session/fleet-session-role.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { untilFileRead } from '../../support/time/file-polls.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const pull = { requestId: '0011223344556677', clusterId: 'c1', requirements: [] };

describe('bootstrap file', () => {
  let folder = '';
  let path = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tidegate-template-'));
    path = join(folder, 'bootstrap.tmpl');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const begin = async (file: string | undefined) => {
    const time = simulatedTime();
    const logged: string[] = [];
    const gauges: number[] = [];
    const environment = makeActorEnvironment({
      time,
      runtime: ManagedRuntime.make(Layer.empty),
      telemetry: {
        ...silentTelemetry,
        log: (_, message) => logged.push(message),
        gauge: (_, value, ..._labels) => void gauges.push(value),
      },
      firstSeed: 1,
    });
    const template = bootstrapTemplate(environment, file);
    return { time, logged, gauges, template, started: await template.start() };
  };
  const start = async (text?: string) => {
    if (text !== undefined) await writeFile(path, text);
    return begin(path);
  };

  const untilLogged = async (time: ReturnType<typeof simulatedTime>, logged: readonly string[]) => {
    await untilFileRead(time, () => logged.length > 0);
    return logged.at(-1);
  };

  test('bootstrap file: an invalid template at start is refused with its line and column', async () => {
    const { started } = await start('#cloud-config\n{{ .ClusterID');
    expect(started).toMatchObject({
      _tag: 'Refused',
      problem: expect.stringMatching(/bootstrap\.tmpl": line 2, column \d+: /),
    });
  });

  test('bootstrap file: a missing file is refused by name', async () => {
    const { started } = await start();
    expect(started).toMatchObject({ _tag: 'Refused', problem: expect.stringContaining(path) });
  });

  test('bootstrap file: without a file the built-in stub is used', async () => {
    const { started, template, time } = await begin(undefined);
    expect(started).toEqual({ _tag: 'Started' });
    expect(template.render(pull)).toMatchObject({
      _tag: 'Rendered',
      userData: expect.stringContaining('#cloud-config'),
    });
    expect(time.pending()).toBe(0);
  });

  test('bootstrap file: a changed template is used without a restart', async () => {
    const { time, logged, template } = await start('one {{ .ClusterID }}');
    expect(template.render(pull)).toEqual({ _tag: 'Rendered', userData: 'one c1' });
    await writeFile(path, 'two {{ .ClusterID }}');
    expect(await untilLogged(time, logged)).toBe('Bootstrap template in use');
    expect(template.render(pull)).toEqual({ _tag: 'Rendered', userData: 'two c1' });
    template.stop();
    expect(time.pending()).toBe(0);
  });

  test('bootstrap file: an invalid change keeps the last valid template and is logged once', async () => {
    const { time, logged, gauges, template } = await start('one {{ .ClusterID }}');
    await writeFile(path, 'two {{ .ClusterID');
    expect(await untilLogged(time, logged)).toContain('the last valid one stays in use');
    await time.advance(60_000);
    expect(logged).toHaveLength(1);
    expect(template.render(pull)).toEqual({ _tag: 'Rendered', userData: 'one c1' });
    expect(gauges).toEqual([1, 0]);
    await writeFile(path, 'one {{ .ClusterID }}');
    await untilFileRead(time, () => gauges.length > 2);
    expect(gauges).toEqual([1, 0, 1]);
    template.stop();
  });
});
