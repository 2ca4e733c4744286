/**
 * The interceptor that the arguments of the program choose.
 *
 * Promises: nothing throws; arguments that no interceptor can run with are refused with one
 * sentence, before anything starts.
 */
import { command, type CommandOptions } from './command/command.ts';
import { readTemplate } from './command/job-template.ts';
import type { InterceptorDefinition } from './interceptor-definition.ts';
import type { Log } from './running-interceptor.ts';
import { surge } from './surge/surge.ts';

/** What the chosen interceptor runs with. */
export interface ProgramEnvironment extends Pick<CommandOptions, 'client' | 'time' | 'seed'> {
  readonly log: Log;
  /** Throws for a file that cannot be read. */
  readonly readText: (file: string) => string;
}

/** The interceptor; or why there is none. */
export type ChosenInterceptor =
  | { readonly _tag: 'Chosen'; readonly definition: InterceptorDefinition }
  | { readonly _tag: 'Refused'; readonly problem: string };

const USAGE = 'Usage: tidegate-interceptor surge | command NAME TEMPLATE.json';

const chosenCommand = (
  { client, time, seed, readText }: ProgramEnvironment,
  name: string,
  file: string,
): ChosenInterceptor => {
  const reading = readTemplate(file, readText);
  if (reading._tag === 'Refused') return reading;
  try {
    const definition = command({ client, time, seed, name, template: reading.template });
    return { _tag: 'Chosen', definition };
  } catch (cause) {
    return { _tag: 'Refused', problem: cause instanceof Error ? cause.message : `${cause}` };
  }
};

/** Chooses by `surge`, or by `command NAME TEMPLATE.json`. */
export const chosenInterceptor = (
  [kind, name, file]: readonly string[],
  environment: ProgramEnvironment,
): ChosenInterceptor => {
  const { client, time, seed, log } = environment;
  if (kind === 'surge') {
    return { _tag: 'Chosen', definition: surge({ client, time, seed, log }) };
  }
  if (kind !== 'command' || name === undefined || file === undefined) {
    return { _tag: 'Refused', problem: USAGE };
  }
  return chosenCommand(environment, name, file);
};
