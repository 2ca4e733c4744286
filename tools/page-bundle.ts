/** Bundles a page of the project into one script. */
import { dirname } from 'node:path';
import { build } from 'vite';

/** The script of a page whose entry is `input`; throws when it becomes more than one file. */
export const bundled = async (input: string): Promise<string> => {
  const built = await build({
    root: dirname(input),
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      write: false,
      target: 'es2023',
      modulePreload: false,
      rolldownOptions: { input, output: { codeSplitting: false } },
    },
  });
  const outputs = Array.isArray(built) ? built : [built];
  const chunks = outputs.flatMap((one) => 'output' in one ? one.output : []);
  const [script, ...others] = chunks;
  if (script?.type !== 'chunk' || others.length > 0) throw new Error('The page is not one script');
  return script.code;
};
