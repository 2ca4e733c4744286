/**
 * One query to the cluster of a kubeconfig.
 *
 * Promises: a failure is one line and an exit code: 4 when the cluster cannot be reached, 2 when
 * the kubeconfig is invalid.
 */
import { Effect, type Layer } from 'effect';
import { silentTelemetry } from '../api/telemetry.ts';
import { clusterTime, type ServerDate } from '../domain/cluster-time.ts';
import type { Time } from '../domain/time.ts';
import type { KubeApi, KubeFault } from '../effects/kube-api.ts';
import { kubeConnection } from '../effects/kube-connection.ts';
import type { KubeconfigUnusable } from '../effects/api-credentials.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { kubeconfigSentence } from './failures.ts';
import type { Terminal } from './terminal/terminal.ts';
import { VERSION } from './version.ts';

/** Selects the cluster. */
export interface ChosenCluster {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

/** No result, with the cause in one line. */
export interface Silence {
  readonly _tag: 'Silent';
  readonly code: ExitCode;
  readonly why: string;
}

/** The result of a query. */
export type Answer<Value> = { readonly _tag: 'Answered'; readonly value: Value } | Silence;

/** A result. */
export const answered = <Value>(value: Value): Answer<Value> => ({ _tag: 'Answered', value });

/** No result, and why. */
export const silent = (code: ExitCode, why: string): Silence => ({ _tag: 'Silent', code, why });

const unreachable = ({ why }: { readonly why: string }): Effect.Effect<Silence> =>
  Effect.succeed(silent(EXIT.unreachable, `Cannot reach the API server: ${why}`));

/**
 * The time of day for a command: that of its machine, until the API server's answers correct it;
 * the clock of the machine counts on from there.
 */
export const commandTime = <Machine extends Pick<Time, 'now'>>(machine: Machine) =>
  clusterTime({ ...machine, monotonic: machine.now });

/** The connection to the selected cluster. */
export const chosenConnection = (
  { kubeconfig, context }: ChosenCluster,
  onServerDate: (date: ServerDate) => void = () => {},
): Layer.Layer<KubeApi, KubeconfigUnusable> => {
  const chosen = context === undefined ? {} : { context };
  return kubeConnection({
    source: kubeconfig === undefined
      ? { _tag: 'Default', ...chosen }
      : { _tag: 'File', path: kubeconfig, ...chosen },
    version: VERSION,
    telemetry: silentTelemetry,
    onServerDate,
  });
};

/** Runs a query and folds failures into its result. */
export const askCluster = <Value>(
  cluster: ChosenCluster,
  question: Effect.Effect<Answer<Value>, KubeFault, KubeApi>,
  onServerDate?: (date: ServerDate) => void,
): Promise<Answer<Value>> =>
  Effect.runPromise(
    question.pipe(
      Effect.catchTags({ NotSent: unreachable, AnswerLost: unreachable }),
      Effect.provide(chosenConnection(cluster, onServerDate)),
      Effect.catchTag('KubeconfigUnusable', (failure) =>
        Effect.succeed(silent(EXIT.usage, kubeconfigSentence(cluster.kubeconfig, failure)))),
    ),
  );

/** Reports why there is no result, and returns the exit code. */
export const logUnreachable = ({ why, code }: Silence, terminal: Terminal): ExitCode => {
  terminal.report(why.replaceAll(/\s*[\r\n]+\s*/g, ' '));
  return code;
};
