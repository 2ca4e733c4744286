/**
 * What went wrong, as a sentence.
 *
 * Promises: never empty, one line, no stack; a failure of an effect tells its own `why`.
 */
import { textAt } from '../domain/json.ts';

const wordsOf = (failure: unknown): string => {
  const why = textAt(failure, 'why');
  if (why !== undefined && why !== '') return why;
  if (failure instanceof Error) return failure.message === '' ? failure.name : failure.message;
  return String(failure);
};

/** The failure in one line. */
export const failureSentence = (failure: unknown): string =>
  wordsOf(failure).replaceAll(/\s*[\r\n]+\s*/g, ' ').trim();

/** True when it is the kubeconfig that cannot be used: a person must mend the configuration. */
export const isKubeconfigFailure = (failure: unknown): boolean =>
  textAt(failure, '_tag') === 'KubeconfigUnusable';

/** What to tell about a kubeconfig that cannot be used. */
export const kubeconfigSentence = (path: string | undefined, failure: unknown): string =>
  path === undefined
    ? `Cannot find the cluster: ${
      failureSentence(failure)
    }; add --kubeconfig=FILE or set KUBECONFIG`
    : `Cannot use --kubeconfig "${path}": ${failureSentence(failure)}; give it a kubeconfig that ` +
      'can be read';

/** What to tell about a word that is none of those that may stand there. */
export const unknownWord = (flag: string, given: string, known: readonly string[]): string =>
  `Cannot use ${flag} "${given}": it is unknown; write one of ${known.join(', ')}`;
