/**
 * `tidegate node status`: reads Nodes and their pods and prints them.
 *
 * Promises: read-only; exit code 3 when the requested Node does not exist, 1 when the API server
 * refuses, 4 when the cluster cannot be reached, 2 for invalid arguments; stdout has only records.
 */
import { Effect } from 'effect';
import { stringify } from 'yaml';
import { quoted } from '../../domain/text.ts';
import { readNodePods, readNodes } from '../../effects/node-objects.ts';
import {
  nodeColumns,
  nodePodColumns,
  type NodeView,
  nodeView,
  nodeWhy,
} from '../../view/node-view.ts';
import { tableText } from '../../view/table.ts';
import { type Answer, answered, askCluster, logUnreachable, silent } from '../cluster-question.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { missingNodes, unknownWord } from '../failures.ts';
import { jsonText } from '../terminal/json-text.ts';
import { NODE_FORMATS, type NodeStatusRequest } from './node-request.ts';
import { recordsText } from '../terminal/record-printer.ts';
import type { Terminal } from '../terminal/terminal.ts';

const KIND = {
  columns: nodeColumns,
  nameOf: ({ name }: NodeView) => `node/${name}`,
};

const viewsIn = (request: NodeStatusRequest): Promise<Answer<readonly NodeView[]>> =>
  askCluster(
    request,
    Effect.gen(function* () {
      const nodes = yield* readNodes(request.node);
      if (nodes._tag === 'Refused') {
        return silent(EXIT.failure, `Cannot list Nodes: ${nodes.why}`);
      }
      if (request.node !== undefined && nodes.objects.length === 0) {
        return silent(EXIT.notMet, missingNodes([request.node]));
      }
      const read = yield* readNodePods(request.node);
      if (typeof read === 'string') return silent(EXIT.failure, read);
      const views = nodes.objects.map((node) => nodeView(node, read.pods, read.lookup));
      return answered(views.toSorted((left, right) => (left.name < right.name ? -1 : 1)));
    }),
  );

const oneText = (view: NodeView, format: 'table' | 'json' | 'yaml'): string => {
  if (format === 'json') return jsonText(view);
  return format === 'yaml' ? stringify(view) : tableText(nodePodColumns(), view.pods);
};

const heading = (view: NodeView): string => {
  const { name, state, ready } = view;
  const why = nodeWhy(view);
  return `Node ${quoted(name)}: ${state}; Ready ${ready}${why === '' ? '' : `; ${why}`}`;
};

/** Prints Nodes once. */
export const runNodeStatus = async (
  request: NodeStatusRequest,
  { terminal, nowMs }: { readonly terminal: Terminal; readonly nowMs: number },
): Promise<ExitCode> => {
  const format = NODE_FORMATS.find((candidate) => candidate === request.format);
  if (format === undefined) {
    terminal.report(unknownWord('--output', request.format, NODE_FORMATS));
    return EXIT.usage;
  }
  const answer = await viewsIn(request);
  if (answer._tag === 'Silent') return logUnreachable(answer, terminal);
  const [only] = answer.value;
  if (request.node === undefined || only === undefined || format === 'name') {
    terminal.print(recordsText(answer.value, KIND, { format, nowMs }));
    return EXIT.ok;
  }
  if (format === 'table') terminal.report(heading(only));
  if (format !== 'table' || only.pods.length > 0) terminal.print(oneText(only, format));
  return EXIT.ok;
};
