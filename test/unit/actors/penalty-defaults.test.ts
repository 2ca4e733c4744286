/** The file of penalties by PriorityClass: validated at start, followed afterwards. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Layer, ManagedRuntime } from 'effect';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { penaltyDefaults } from '../../../src/actors/capacity-requests/capacity-requests-role.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import type { PenaltyDefaults } from '../../../src/domain/pod-demand/penalties.ts';
import { untilFileRead } from '../../support/time/file-polls.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

describe('penalty defaults', () => {
  let folder = '';
  let path = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tidegate-penalties-'));
    path = join(folder, 'penalties.yaml');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const start = async (file: string | undefined) => {
    const time = simulatedTime();
    const logged: string[] = [];
    const refused: string[] = [];
    const counted: string[] = [];
    const environment = makeActorEnvironment({
      time,
      runtime: ManagedRuntime.make(Layer.empty),
      telemetry: {
        ...silentTelemetry,
        log: (_, message) => void logged.push(message),
        count: (name, _by, ..._labels) => void counted.push(name),
      },
      firstSeed: 1,
    });
    const inUse = penaltyDefaults(environment, {
      file,
      onRefused: (problem) => refused.push(problem),
    });
    return { time, logged, refused, counted, inUse, started: await inUse.start() };
  };
  const running = async (text: string) => {
    await writeFile(path, text);
    const { started, ...rest } = await start(path);
    if (started._tag === 'Refused') throw new Error(started.problem);
    const published: PenaltyDefaults[] = [];
    rest.inUse.values.subscribe((defaults) => published.push(defaults));
    return { ...rest, published };
  };

  test('without a file no PriorityClass has penalties', async () => {
    const { inUse } = await start(undefined);
    expect(await firstValueFrom(inUse.values)).toEqual(new Map());
  });

  test('a missing file is refused by name', async () => {
    const { started } = await start(path);
    expect(started).toMatchObject({ _tag: 'Refused', problem: expect.stringContaining(path) });
  });

  test('an invalid file at start is refused with its problem', async () => {
    await writeFile(path, 'high: {interruptionPenalty: a lot}');
    const { started } = await start(path);
    expect(started).toMatchObject({
      _tag: 'Refused',
      problem: expect.stringContaining('penalties.yaml": line 1, column 29: this is not'),
    });
  });

  test('a changed file is used without a restart', async () => {
    const { time, published, logged } = await running('high: {interruptionPenalty: 16}');
    await writeFile(path, 'high: {interruptionPenalty: 32}');
    await untilFileRead(time, () => published.length === 2);
    expect(published).toEqual([
      new Map([['high', { interruptionPenalty: '16' }]]),
      new Map([['high', { interruptionPenalty: '32' }]]),
    ]);
    expect(logged).toEqual(['Penalty defaults in use']);
  });

  test('an invalid change keeps the last valid file, and is logged once', async () => {
    const { time, published, refused, counted, inUse } = await running(
      'high: {reclamationPenalty: 1}',
    );
    await writeFile(path, 'high: 1');
    await untilFileRead(time, () => refused.length === 1);
    await time.advance(60_000);
    expect(refused).toEqual([
      `Cannot use the penalty defaults "${path}": line 1, column 7: this is not a map of penalties`,
    ]);
    expect(counted).toEqual(['tidegate_penalty_defaults_refused_total']);
    expect(published).toHaveLength(1);
    inUse.stop();
  });
});
