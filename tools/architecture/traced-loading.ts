/**
 * A module loader for Node that instruments the operator's files and the simulation transports with
 * call tracing.
 *
 * Promises: traces only files loaded after installation; a file that was loaded before is a gap in
 * the trace, so the installing module imports nothing of `src/` statically.
 */
import { registerHooks } from 'node:module';
import { type CallTrace, makeCallTrace } from './call-trace.ts';
import { isCrossing } from './crossings.ts';
import { instrumented, TRACE_NAME } from './instrumented-source.ts';

const ROOT = new URL('../..', import.meta.url).href;

const OPERATOR = /^src\/(?:domain|api|machines|streams|effects|actors|observability)\//;

const reports = (path: string): boolean => isCrossing(path) || OPERATOR.test(path);

const textOf = (source: unknown): string =>
  source instanceof Uint8Array ? new TextDecoder().decode(source) : String(source);

/** Traces modules loaded from now on. */
export const traceLoading = (): CallTrace => {
  const trace = makeCallTrace();
  Object.defineProperty(globalThis, TRACE_NAME, { value: trace });
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      const path = url.startsWith(ROOT) ? url.slice(ROOT.length) : '';
      if (!reports(path)) return loaded;
      const { text, functions } = instrumented(path, textOf(loaded.source), trace.functions.length);
      trace.functions.push(...functions);
      return { ...loaded, source: text };
    },
  });
  return trace;
};
