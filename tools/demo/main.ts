/**
 * `npm run demo:real`: the scenarios of `tidegate demo` on a real control plane.
 *
 * Promises: it takes the flags of `tidegate demo` and prints the same lines; it ends with its exit
 * codes, and leaves no process and no folder.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { runDemo } from '../../src/cli/demo/demo.ts';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { processTerminal } from '../../src/cli/terminal/terminal.ts';
import { demoSiteOn } from '../../src/demo.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { TestbedUnavailable } from '../testbed/go-builds.ts';
import { realCluster } from './real-cluster.ts';

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', default: 'scale-up' },
    serve: { type: 'boolean', default: false },
    'inspect-addr': { type: 'string' },
    'when-watched': { type: 'boolean', default: false },
    record: { type: 'string' },
  },
});

const terminal = processTerminal(process.env);
try {
  process.exitCode = await runDemo(
    {
      scenario: values.scenario,
      serve: values.serve,
      inspectAddress: values['inspect-addr'],
      whenWatched: values['when-watched'],
      recordFile: values.record,
    },
    demoSiteOn(() => realCluster(terminal.report)),
    { terminal, time: realTime },
  );
} catch (error) {
  if (!(error instanceof TestbedUnavailable)) throw error;
  terminal.report(error.message);
  process.exitCode = EXIT.failure;
}
