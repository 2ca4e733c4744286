/** Flags that every command has that asks a cluster, as kubectl has them. */
import { Flag } from 'effect/cli';

/** A flag that may be left out. */
export const optionalText = (name: string, placeholder: string, help: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar(placeholder),
    Flag.withDescription(help),
    Flag.optional,
  );

/** Which cluster is meant. */
export const CLUSTER_FLAGS = {
  kubeconfig: optionalText('kubeconfig', 'FILE', 'Kubeconfig of the cluster (default $KUBECONFIG)'),
  context: optionalText('context', 'NAME', 'Context of the kubeconfig (default its current one)'),
};
