/** The flags of every command that reads a cluster, as in kubectl. */
import { Option } from 'effect';
import { Flag } from 'effect/cli';
import type { ChosenCluster } from './cluster-question.ts';

/** An optional flag. */
export const optionalText = (name: string, placeholder: string, help: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar(placeholder),
    Flag.withDescription(help),
    Flag.optional,
  );

/** A flag that is off unless it is given. */
export const switchFlag = (name: string, help: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(help), Flag.withDefault(false));

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
