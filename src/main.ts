/**
 * The process: reads the command line, composes the role that it asks for, and leaves with its exit
 * code. Runs unchanged on Node and Deno.
 *
 * Roles are imported when they are asked for, so that help and `explain` answer at once.
 */
import process from 'node:process';
import { EXIT } from './cli/exit-codes.ts';
import { type Roles, runProgram } from './cli/program.ts';
import { processTerminal } from './cli/terminal.ts';
import { realTime } from './effects/real-time.ts';
import { processSurroundings } from './effects/settings.ts';

const surroundings = processSurroundings();
const terminal = processTerminal(surroundings.environment);

const roles: Roles = {
  operator: async (flags) => {
    const { runOperator } = await import('./cli/operator.ts');
    const start = () => Promise.reject(new Error('Cannot start the operator: not composed'));
    return await runOperator(flags, surroundings, { terminal, start });
  },
  fleet: async (flags) => {
    const { runFleetCommand } = await import('./cli/fleet.ts');
    const start = () => Promise.reject(new Error('Cannot start the fleet: not composed'));
    return await runFleetCommand(flags, surroundings, { terminal, start });
  },
  explain: async (request) => {
    const { runExplain } = await import('./cli/explain.ts');
    return await runExplain(request, terminal, realTime.now());
  },
};

try {
  process.exit(await runProgram(process.argv.slice(2), roles, terminal));
} catch (error) {
  terminal.say(error instanceof Error ? error.message : String(error));
  process.exit(EXIT.failure);
}
