/** The flags of every command that reads a cluster, as in kubectl. */
import { Option } from 'effect';
import { Flag } from 'effect/cli';
import type { ChosenCluster } from './cluster-question.ts';

/** A repeated flag counts as it was given last, as in kubectl: an alias may have it, too. */
const lastGiven = <Value>(flag: Flag.Flag<Value>): Flag.Flag<Option.Option<Value>> =>
  flag.pipe(Flag.atLeast(0), Flag.map((values) => Option.fromUndefinedOr(values.at(-1))));

/** An optional flag. */
export const optionalText = (name: string, placeholder: string, help: string) =>
  lastGiven(
    Flag.String(name).pipe(Flag.withMetavar(placeholder), Flag.withDescription(help)),
  );

/** A required flag. */
export const requiredText = (name: string, placeholder: string, help: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar(placeholder),
    Flag.withDescription(help),
    Flag.atLeast(1),
    Flag.map((values) => values.at(-1) ?? ''),
  );

/** A flag that is off unless it is given. */
export const switchFlag = (name: string, help: string) =>
  lastGiven(Flag.Boolean(name).pipe(Flag.withDescription(help)))
    .pipe(Flag.map(Option.getOrElse(() => false)));

/** Selects the cluster. */
export const CLUSTER_FLAGS = {
  kubeconfig: optionalText('kubeconfig', 'FILE', 'Kubeconfig of the cluster (default $KUBECONFIG)'),
  context: optionalText('context', 'NAME', 'Context of the kubeconfig (default its current one)'),
};

/** `CLUSTER_FLAGS` as parsed. */
export interface ParsedCluster {
  readonly kubeconfig: Option.Option<string>;
  readonly context: Option.Option<string>;
}

/** The cluster that the flags choose. */
export const chosenCluster = ({ kubeconfig, context }: ParsedCluster): ChosenCluster => ({
  kubeconfig: Option.getOrUndefined(kubeconfig),
  context: Option.getOrUndefined(context),
});
