/**
 * Prints results of the models: tables of coverage, of mutants with the survivors, and of
 * executions on clusters.
 *
 * Promises: writes to the standard output alone.
 */
import process from 'node:process';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { type Column, tableText } from '../../../src/view/table.ts';
import type { ExecutionResult } from '../cluster/executions.ts';
import type { ModelCoverage } from '../model.ts';
import { type MutantCounts, mutantsIn, type MutationResult, percent } from './mutation-run.ts';

const shareOf = (whole: number, missing: readonly string[]): string =>
  `${whole - missing.length}/${whole}  ${percent(whole - missing.length, whole)}`;

const COVERAGE: readonly Column<ModelCoverage>[] = [
  { heading: 'MACHINE', cell: ({ machine }) => machine },
  { heading: 'STATES', cell: ({ states, missingStates }) => shareOf(states, missingStates) },
  {
    heading: 'TRANSITIONS',
    cell: ({ transitions, missingTransitions }) => shareOf(transitions, missingTransitions),
  },
  { heading: 'CONFIGURATIONS', cell: ({ configurations }) => `${configurations}` },
  { heading: 'TRANSCRIPTS', cell: ({ transcripts }) => `${transcripts}` },
  { heading: 'FURTHER PATHS', cell: ({ paths }) => `${paths}` },
];

const MUTATION: readonly Column<MutationResult>[] = [
  { heading: 'MACHINE', cell: ({ machine }) => machine },
  { heading: 'MUTANTS', cell: (result) => `${mutantsIn(result).made}` },
  {
    heading: 'BY INDEPENDENT CHECKS',
    cell: (result) => {
      const { made, caught } = mutantsIn(result);
      return `${caught}  ${percent(caught, made)}`;
    },
  },
  { heading: 'INVARIANTS', cell: ({ checks }) => `${checks.invariants}` },
  { heading: 'CRASH LAW', cell: ({ checks }) => `${checks['crash law']}` },
  { heading: 'COVERAGE', cell: ({ checks }) => `${checks.coverage}` },
  { heading: 'DEAD ENDS', cell: ({ checks }) => `${checks['dead ends']}` },
  { heading: 'BREAKS', cell: ({ checks }) => `${checks.breaks}` },
  { heading: 'BY TRANSCRIPTS ONLY', cell: (result) => `${result.byTranscriptsOnly.length}` },
  { heading: 'SURVIVORS', cell: ({ survivors }) => `${survivors.length}` },
];

/** A dash for cells that do not apply to a cluster. */
const ofCalls = (result: ExecutionResult, text: string): string => result.calls ? text : '-';

const EXECUTIONS: readonly Column<ExecutionResult>[] = [
  { heading: 'MACHINE', cell: ({ machine }) => machine },
  { heading: 'CLUSTER', cell: ({ site, calls }) => calls ? site : 'makes no calls' },
  { heading: 'PATHS', cell: (result) => ofCalls(result, `${result.paths}`) },
  { heading: 'STEPS', cell: (result) => ofCalls(result, `${result.steps}`) },
  {
    heading: 'CALLS ANSWERED',
    cell: (result) => ofCalls(result, `${result.moves.server}`),
  },
  { heading: 'LOST OR REFUSED', cell: (result) => ofCalls(result, `${result.moves.line}`) },
  { heading: 'OBSERVATIONS', cell: (result) => ofCalls(result, `${result.moves.watch}`) },
  {
    heading: 'TRANSITIONS BY THE CLUSTER',
    cell: (result) => ofCalls(result, `${result.byCluster}/${result.transitions}`),
  },
  {
    heading: 'EXECUTED',
    cell: (result) => ofCalls(result, `${result.executed}/${result.transitions}`),
  },
];

const executionsText = (results: readonly ExecutionResult[]): string => {
  const unexecuted = results.flatMap((result) =>
    result.unexecuted.map((one) => `  on ${result.site}: ${one}`)
  );
  return [
    tableText(EXECUTIONS, results),
    ...(unexecuted.length === 0 ? [] : ['Not executed:', ...unexecuted, '']),
  ].join('\n');
};

const casesOf = (modules: readonly TestModule[]): readonly TestCase[] =>
  modules.flatMap((module) => [...module.children.allTests()]);

const byMachine = <Row extends { readonly machine: string }>(rows: readonly Row[]): Row[] =>
  rows.toSorted((one, other) => one.machine < other.machine ? -1 : 1);

const sum = (counts: readonly MutantCounts[]): MutantCounts => ({
  made: counts.reduce((total, { made }) => total + made, 0),
  caught: counts.reduce((total, { caught }) => total + caught, 0),
});

const listed = (heading: string, names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : ['', heading, ...names.map((one) => `  ${one}`)];

const mutationText = (results: readonly MutationResult[]): string => {
  const { made, caught } = sum(results.map(mutantsIn));
  return [
    tableText(MUTATION, results),
    `Independent checks catch ${caught} of ${made} mutants: ${percent(caught, made)}`,
    ...listed('Caught by transcripts only:', results.flatMap((one) => one.byTranscriptsOnly)),
    ...listed('Survivors:', results.flatMap(({ survivors }) => survivors)),
    '',
  ].join('\n');
};

/** Prints its tables when the models have run. */
export const modelsReporter = (): Reporter => ({
  onTestRunEnd: (modules) => {
    const metas = casesOf(modules).map((one) => one.meta());
    const coverage = byMachine(metas.flatMap((meta) => meta.coverage ?? []));
    const mutation = byMachine(metas.flatMap((meta) => meta.mutation ?? []));
    if (coverage.length > 0) process.stdout.write(`\n${tableText(COVERAGE, coverage)}\n`);
    const executions = byMachine(metas.flatMap((meta) => meta.execution ?? []));
    if (executions.length > 0) process.stdout.write(`\n${executionsText(executions)}\n`);
    if (mutation.length > 0) process.stdout.write(`\n${mutationText(mutation)}`);
  },
});
