/** A path as a section of ARCHITECTURE.md: a sequence diagram, its steps, and its files. */
import type { PathSlice } from './path-slice.ts';
import type { PathStep } from './path-steps.ts';
import type { PathDefinition } from './paths.ts';

/** Outside of the operator. */
const PEERS = ['shard', 'API server'];

const idOf = (participant: string): string => participant.replaceAll(/\W/g, '');

/** Peers are at the two ends, actors between them in order of appearance. */
const participantsOf = (steps: readonly PathStep[]): readonly string[] => {
  const all = [...new Set(steps.flatMap(({ from, to }) => [from, to]))];
  const inside = all.filter((one) => !PEERS.includes(one));
  const [left = '', right = ''] = PEERS;
  return [left, ...inside, right].filter((one) => all.includes(one));
};

const diagram = (steps: readonly PathStep[]): readonly string[] => [
  '```mermaid',
  'sequenceDiagram',
  '  autonumber',
  ...participantsOf(steps).map((one) =>
    `  ${PEERS.includes(one) ? 'actor' : 'participant'} ${idOf(one)} as ${one}`
  ),
  ...steps.map(({ from, to, text }) => `  ${idOf(from)}->>${idOf(to)}: ${text}`),
  '```',
];

const link = (file: string): string => `[${file.replace('src/', '')}](${file})`;

const stepItem = ({ from, to, text, state, files }: PathStep): string => {
  const then = state === ''
    ? ''
    : `, then ${state.split(' ').map((one) => `\`${one}\``).join(' ')}`;
  return `1. **${from} → ${to}: ${text}**${then}. ${files.map(link).join(', ')}`;
};

/** The sentence of purpose that a file begins with. */
const purposeOf = (text: string): string => {
  const header = /^\/\*\*([\s\S]*?)\*\//.exec(text)?.[1] ?? '';
  const words = header.replaceAll(/^\s*\*? ?/gm, '').replaceAll(/\s+/g, ' ').trim();
  return /^.*?[.:](?= |$)/.exec(words)?.[0].replace(/:$/, '.') ?? words;
};

const filesInOrder = (steps: readonly PathStep[]): readonly string[] => [
  ...new Set(steps.flatMap(({ files }) => files)),
];

/** `27 files (at most 25)`. */
const limited = (count: number, thing: string, most: number | undefined): string =>
  `${count} ${thing}${most === undefined ? '' : ` (at most ${most})`}`;

/** A path's summary in one line. */
export const countsText = (
  { filesMax, callsMax }: PathDefinition,
  { files, crossings }: PathSlice,
): string =>
  `${limited(files.length, 'files', filesMax)}, ` +
  limited(crossings.length, 'calls between files', callsMax);

/** The section; `read` returns the text of a file. */
export const pathSection = (
  path: PathDefinition,
  { slice, steps, read }: {
    readonly slice: PathSlice;
    readonly steps: readonly PathStep[];
    readonly read: (file: string) => string;
  },
): readonly string[] => [
  `### ${path.title}`,
  '',
  ...path.intro,
  '',
  ...diagram(steps),
  '',
  'The same steps, each with the files that lead to it:',
  '',
  ...steps.map(stepItem),
  '',
  `It passes ${countsText(path, slice)}:`,
  '',
  ...filesInOrder(steps).map((file) => `- ${link(file)}: ${purposeOf(read(file))}`),
  '',
];
