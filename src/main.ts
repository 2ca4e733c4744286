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
import { processSurroundings } from './effects/settings.ts';

const surroundings = processSurroundings();
const terminal = processTerminal(surroundings.environment);

const roles: Roles = {
  operator: async (flags) => {
    const { runOperator } = await import('./cli/operator.ts');
    const start = () => Promise.reject(new Error('Cannot start the operator: not composed'));
    return await runOperator(flags, surroundings, { terminal, start });
  },
  fleet: () => Promise.reject(new Error('Cannot start the fleet: not composed')),
  explain: () => Promise.reject(new Error('Cannot explain: not composed')),
};

try {
  process.exit(await runProgram(process.argv.slice(2), roles, terminal));
} catch (error) {
  terminal.say(error instanceof Error ? error.message : String(error));
  process.exit(EXIT.failure);
}
