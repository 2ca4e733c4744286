/**
 * `tidegate tree`: reads the objects around one and prints them as a tree.
 *
 * Promises: exit code 3 when the object does not exist, 4 when the cluster cannot be reached, 2 for
 * invalid arguments; stdout has only the tree.
 */
import { Effect } from 'effect';
import { stringify } from 'yaml';
import type { Time } from '../../domain/time.ts';
import { readNodeTree, readRequestTree, type TreeRead } from '../../effects/tree-reads.ts';
import {
  nodeTree,
  requestTree,
  treeNames,
  type TreeNode,
  treeText,
} from '../../view/object-tree.ts';
import {
  type Answer,
  answered,
  askCluster,
  commandTime,
  logUnreachable,
  silent,
} from '../cluster-question.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { unknownWord } from '../failures.ts';
import { jsonText } from '../terminal/json-text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { TREE_FORMATS, type TreeRequest } from './tree-command.ts';

const rootOf = (read: TreeRead, nowMs: number): TreeNode | undefined => {
  switch (read._tag) {
    case 'AroundNode':
      return nodeTree({ ...read, nowMs });
    case 'AroundPod':
      return requestTree({ ...read, nowMs });
    default:
      return undefined;
  }
};

/** The namespace and the name; no namespace for an object of the cluster. */
const subjectOf = (
  { name: given, namespace }: TreeRequest,
): { readonly namespace: string | undefined; readonly name: string } | undefined => {
  const [first = '', second, ...more] = given.split('/');
  const name = second ?? first;
  if (name === '' || first === '' || more.length > 0) return undefined;
  return { namespace: second === undefined ? namespace : first, name };
};

const missing = (name: string, namespace: string | undefined): string =>
  namespace === undefined
    ? `Cannot find "${name}": there is no Node, machine or UpcomingNode of that name; write ` +
      'NAMESPACE/NAME for a pod or a CapacityRequest'
    : `Cannot find "${namespace}/${name}": there is no CapacityRequest or pod of that name`;

const printed = (root: TreeNode, format: (typeof TREE_FORMATS)[number], nowMs: number): string => {
  switch (format) {
    case 'json':
      return jsonText(root);
    case 'yaml':
      return stringify(root);
    case 'name':
      return treeNames(root).map((name) => `${name}\n`).join('');
    case 'table':
      return treeText(root, nowMs);
  }
};

/** Prints the tree around one object of the cluster in the kubeconfig. */
export const runTree = async (
  request: TreeRequest,
  terminal: Terminal,
  time: Pick<Time, 'now'>,
): Promise<ExitCode> => {
  const format = TREE_FORMATS.find((one) => one === request.format);
  if (format === undefined) {
    terminal.report(unknownWord('--output', request.format, TREE_FORMATS));
    return EXIT.usage;
  }
  const subject = subjectOf(request);
  if (subject === undefined) {
    terminal.report(
      `Cannot show "${request.name}": it is not an object name; write NAME or NAMESPACE/NAME`,
    );
    return EXIT.usage;
  }
  const { namespace, name } = subject;
  const reading = namespace === undefined ? readNodeTree(name) : readRequestTree(namespace, name);
  const clock = commandTime(time);
  const answer = await askCluster(
    request,
    Effect.map(reading, (read): Answer<TreeNode> => {
      const root = rootOf(read, clock.now());
      if (root !== undefined) return answered(root);
      return read._tag === 'Refused'
        ? silent(EXIT.failure, `Cannot read "${request.name}": ${read.why}`)
        : silent(EXIT.notMet, missing(name, namespace));
    }),
    clock.observe,
  );
  if (answer._tag === 'Silent') return logUnreachable(answer, terminal);
  terminal.print(printed(answer.value, format, clock.now()));
  return EXIT.ok;
};
