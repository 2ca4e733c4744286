/** The command `tidegate tree`, and its request as plain values. */
import { Effect, Option } from 'effect';
import { Argument, Command, Flag } from 'effect/cli';
import { chosenCluster, CLUSTER_FLAGS, optionalText } from '../cluster-flags.ts';
import type { ExitCode } from '../exit-codes.ts';

/** Output formats. */
export const TREE_FORMATS = ['table', 'name', 'json', 'yaml'] as const;

/** A request for a tree, not yet validated. */
export interface TreeRequest {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly format: string;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

/** The implementation. */
export interface TreeRoles {
  readonly tree: (request: TreeRequest) => Promise<ExitCode>;
}

const FLAGS = {
  name: Argument.String('name').pipe(
    Argument.withDescription(
      'A Node, a machine or an UpcomingNode; or NAMESPACE/NAME of a CapacityRequest or a pod',
    ),
  ),
  namespace: optionalText('namespace', 'NAME', 'Namespace of a request or pod named without one')
    .pipe(Flag.withAlias('n')),
  output: optionalText('output', TREE_FORMATS.join('|'), 'Format of the answer (default table)')
    .pipe(Flag.withAlias('o')),
  ...CLUSTER_FLAGS,
};

/** The command. */
export const treeCommand = (roles: TreeRoles, end: (code: ExitCode) => void) =>
  Command.make(
    'tree',
    FLAGS,
    ({ name, namespace, output, ...cluster }) =>
      Effect.promise(() =>
        roles.tree({
          name,
          namespace: Option.getOrUndefined(namespace),
          format: Option.getOrElse(output, () => 'table'),
          ...chosenCluster(cluster),
        }).then(end)
      ),
  ).pipe(
    Command.withDescription(
      'Shows what leads to what: from a machine over its UpcomingNode and its Node to its pods, ' +
        'and from a pod over its CapacityRequest to the demand of the fleet. Read-only.',
    ),
    Command.withShortDescription('Show the objects around a node, a pod or a request'),
    Command.withExamples([
      { command: 'tidegate tree node-7' },
      { command: 'tidegate tree team-a/web-7', description: 'A pod or a CapacityRequest' },
      { command: 'tidegate tree m-0042 -o json' },
    ]),
  );
