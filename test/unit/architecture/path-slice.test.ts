/** The files and calls of a path, computed from synthetic traces. */
import { describe, expect, test } from 'vitest';
import { makeCallTrace } from '../../../tools/architecture/call-trace.ts';
import { type SliceOptions, slicePath } from '../../../tools/architecture/path-slice.ts';
import { pathSteps } from '../../../tools/architecture/path-steps.ts';

const FILES = [
  'test/simulation/shard-line.ts',
  'src/actors/session.ts',
  'src/domain/reading.ts',
  'src/effects/nodes.ts',
  'src/observability/logs.ts',
  'test/simulation/api-line.ts',
  'src/actors/rollups.ts',
  'src/domain/demand.ts',
] as const;

type File = (typeof FILES)[number];

/** A trace whose functions are files: one each. */
const tracing = () => {
  const trace = makeCallTrace();
  trace.functions.push(...FILES.map((file) => ({ file, name: 'run', line: 1 })));
  return {
    trace,
    call: (file: File, act: () => void = () => {}): void => {
      const entered = trace.enter(FILES.indexOf(file), undefined);
      act();
      trace.exit(entered);
    },
    leave: (message: string): void =>
      void trace.exchange({ direction: 'out', peer: 'API server', message }),
    arrive: (message: string): void =>
      void trace.exchange({ direction: 'in', peer: 'API server', message }),
  };
};

const options = ({ trace }: ReturnType<typeof tracing>): SliceOptions => ({
  calls: trace.drain(),
  isGoal: ({ direction, message }) => direction === 'out' && message !== 'POST events',
  isTrigger: ({ direction }) => direction === 'in',
  functions: trace.functions,
  chartOf: (actor) => `src/machines/${actor.split('/')[0]}.ts`,
});

/** A frame makes an actor write to a Node, read a value and log. */
const drained = (): SliceOptions => {
  const run = tracing();
  const { trace, call, leave } = run;
  call('test/simulation/shard-line.ts', () =>
    call('src/actors/session.ts', () => {
      call('src/domain/reading.ts');
      trace.step({ actor: 'nodeDrain/a', event: 'order.received' }, undefined, () => {
        call('src/observability/logs.ts', () => leave('POST events'));
        call('src/effects/nodes.ts', () =>
          call('test/simulation/api-line.ts', () => leave('PATCH nodes/{name}')));
      });
    }));
  return options(run);
};

describe('a path', () => {
  test('includes the files that lead to the write, and lists the others as consulted', () => {
    const { files, consulted } = slicePath(drained());
    expect(files).toEqual([
      'src/actors/session.ts',
      'src/effects/nodes.ts',
      'src/machines/nodeDrain.ts',
    ]);
    expect(consulted).toEqual(['src/domain/reading.ts', 'src/observability/logs.ts']);
  });

  test('counts calls between files once each', () => {
    expect(slicePath(drained()).crossings).toEqual([
      'src/actors/session.ts:1 run → src/machines/nodeDrain.ts',
      'src/machines/nodeDrain.ts → src/effects/nodes.ts:1 run',
    ]);
  });

  test('has a step for each event and each message, with the files between', () => {
    const files = drained();
    const steps = pathSteps({
      slice: slicePath(files),
      files,
      states: new Map([[3, 'cordoning']]),
      trigger: 'ReclaimInstruction',
    });
    expect(steps).toEqual([
      {
        from: 'shard',
        to: 'nodeDrain',
        text: 'ReclaimInstruction: order.received',
        state: 'cordoning',
        files: ['src/actors/session.ts', 'src/machines/nodeDrain.ts'],
      },
      {
        from: 'nodeDrain',
        to: 'API server',
        text: 'PATCH nodes/{name}',
        state: '',
        files: ['src/effects/nodes.ts'],
      },
    ]);
  });

  test('includes the code that stores a value until a timer uses it', () => {
    const run = tracing();
    const { call, leave, arrive } = run;
    call('test/simulation/api-line.ts', () => {
      arrive('watch capacityrequests');
      call('src/actors/rollups.ts', () => call('src/domain/demand.ts'));
      call('src/observability/logs.ts');
    });
    call('src/actors/rollups.ts', () => {
      call('src/domain/demand.ts');
      call('src/actors/session.ts', () => leave('Rollup'));
    });
    const { files, held, consulted } = slicePath(options(run));
    expect(files).toEqual([
      'src/actors/rollups.ts',
      'src/actors/session.ts',
      'src/domain/demand.ts',
    ]);
    expect(held).toBeDefined();
    expect(consulted).toEqual(['src/observability/logs.ts']);
  });

  test('is an error when nothing was sent', () => {
    const run = tracing();
    run.call('src/actors/session.ts');
    expect(() => slicePath(options(run))).toThrow('Nothing left the process');
  });
});
