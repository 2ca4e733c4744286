/** Work as a count: how many blocks of code run, which no busy or slow machine changes. */
import { Session } from 'node:inspector';

/**
 * How often the functions and blocks of this project run while `work` does: V8's own counts for
 * coverage. What built-in functions do inside is not in it. Zero on Deno, which counts nothing:
 * pure code takes the same steps there.
 */
export const stepsOf = (work: () => unknown): number => {
  if ('Deno' in globalThis) {
    work();
    return 0;
  }
  const session = new Session();
  session.connect();
  let steps = 0;
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  try {
    work();
    session.post('Profiler.takePreciseCoverage', (failure, { result }) => {
      if (failure !== null) throw failure;
      for (const { functions, url } of result) {
        if (url.includes('/node_modules/')) continue;
        for (const { ranges } of functions) for (const { count } of ranges) steps += count;
      }
    });
  } finally {
    session.post('Profiler.disable');
    session.disconnect();
  }
  return steps;
};
