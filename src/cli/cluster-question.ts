/**
 * A question to the cluster that a kubeconfig names: asked once, answered or not.
 *
 * Promises: what keeps an answer away is one line and an exit code: 4 when the cluster cannot be
 * reached, 2 when the kubeconfig cannot be used.
 */
import { Effect, type Layer } from 'effect';
import { silentTelemetry } from '../api/telemetry.ts';
import type { KubeApi, KubeFault } from '../effects/kube-api.ts';
import { kubeConnection } from '../effects/kube-connection.ts';
import type { KubeconfigUnusable } from '../effects/kubeconfig.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { kubeconfigSentence } from './failures.ts';
import type { Terminal } from './terminal.ts';
import { VERSION } from './version.ts';

/** Which cluster is meant. */
export interface ChosenCluster {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

/** Nothing to print: why, in one line. */
export interface Silence {
  readonly _tag: 'Silent';
  readonly code: ExitCode;
  readonly why: string;
}

/** What came of a question. */
export type Answer<Value> = { readonly _tag: 'Answered'; readonly value: Value } | Silence;

/** An answer. */
export const answered = <Value>(value: Value): Answer<Value> => ({ _tag: 'Answered', value });

/** No answer, and why. */
export const silent = (code: ExitCode, why: string): Silence => ({ _tag: 'Silent', code, why });

const unreachable = ({ why }: { readonly why: string }): Effect.Effect<Silence> =>
  Effect.succeed(silent(EXIT.unreachable, `Cannot reach the API server: ${why}`));

/** The connection to the chosen cluster. */
export const chosenConnection = (
  { kubeconfig, context }: ChosenCluster,
): Layer.Layer<KubeApi, KubeconfigUnusable> => {
  const chosen = context === undefined ? {} : { context };
  return kubeConnection({
    source: kubeconfig === undefined
      ? { _tag: 'Default', ...chosen }
      : { _tag: 'File', path: kubeconfig, ...chosen },
    version: VERSION,
    telemetry: silentTelemetry,
  });
};

/** Asks, and folds what may go wrong on the way into the answer. */
export const askCluster = <Value>(
  cluster: ChosenCluster,
  question: Effect.Effect<Answer<Value>, KubeFault, KubeApi>,
): Promise<Answer<Value>> =>
  Effect.runPromise(
    question.pipe(
      Effect.catchTags({ NotSent: unreachable, AnswerLost: unreachable }),
      Effect.provide(chosenConnection(cluster)),
      Effect.catchTag('KubeconfigUnusable', (failure) =>
        Effect.succeed(silent(EXIT.usage, kubeconfigSentence(cluster.kubeconfig, failure)))),
    ),
  );

/** Says why there is no answer, and gives the exit code. */
export const logUnreachable = ({ why, code }: Silence, terminal: Terminal): ExitCode => {
  terminal.report(why.replaceAll(/\s*[\r\n]+\s*/g, ' '));
  return code;
};
