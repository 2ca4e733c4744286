/**
 * Failures as sentences.
 *
 * Promises: never empty, one line, no stack; a failure of an effect provides its own `why`.
 */
import { textAt } from '../domain/json.ts';
import { readSelector } from '../domain/pod-demand/label-selector-text.ts';
import { quoted } from '../domain/text.ts';

const wordsOf = (failure: unknown): string => {
  const why = textAt(failure, 'why');
  if (why !== undefined && why !== '') return why;
  if (failure instanceof Error) return failure.message === '' ? failure.name : failure.message;
  return String(failure);
};

/** The failure in one line. */
export const failureSentence = (failure: unknown): string =>
  wordsOf(failure).replaceAll(/\s*[\r\n]+\s*/g, ' ').trim();

/** True when the kubeconfig is invalid: a person must fix the configuration. */
export const isKubeconfigFailure = (failure: unknown): boolean =>
  textAt(failure, '_tag') === 'KubeconfigUnusable';

/** The message about an invalid kubeconfig. */
export const kubeconfigSentence = (path: string | undefined, failure: unknown): string =>
  path === undefined
    ? `Cannot find the cluster: ${
      failureSentence(failure)
    }; add --kubeconfig=FILE or set KUBECONFIG`
    : `Cannot use --kubeconfig "${path}": ${failureSentence(failure)}; use a kubeconfig that ` +
      'can be read';

/** The message about nodes that do not exist. */
export const missingNodes = (names: readonly string[]): string =>
  `Cannot find ${names.length === 1 ? 'Node' : 'Nodes'} ${
    names.map((name) => `"${name}"`).join(', ')
  }: ${names.length === 1 ? 'it does' : 'they do'} not exist`;

/** The message about an unknown word. */
export const unknownWord = (flag: string, given: string, known: readonly string[]): string =>
  `Cannot use ${flag} "${given}": unknown value; write one of ${known.join(', ')}`;

/** Why a label selector cannot be used, with an example of one that can; undefined when it can. */
export const selectorProblem = (
  selector: string | undefined,
  example: string,
): string | undefined => {
  const reading = selector === undefined ? undefined : readSelector(selector);
  return reading === undefined || reading._tag === 'Selector'
    ? undefined
    : `Cannot use --selector ${quoted(selector ?? '')}: it ${reading.problem}; write conditions ` +
      `on labels such as "${example}"`;
};

/**
 * Why a selector of nodes to work on cannot be used. One that is empty is most often a variable
 * that is not set, and would choose every node.
 */
export const workedNodesProblem = (selector: string | undefined): string | undefined =>
  selector?.trim() === ''
    ? `Cannot use --selector ${quoted(selector)}: it selects every node; write a condition such ` +
      'as "zone=a"'
    : selectorProblem(selector, 'zone=a,pool!=spot');
