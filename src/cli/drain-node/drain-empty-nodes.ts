/**
 * Drains nodes from which no pod has to leave: these need a cordon and no NodeMaintenance.
 *
 * Promises: pods are listed again after the cordon, because one may have come before it; a node
 * with such a pod, or with the NodeMaintenance of an earlier run, is left to the whole drain.
 */
import { Effect } from 'effect';
import { quoted } from '../../domain/text.ts';
import { handOverCordon, type NodeReading, readPodsToDrain } from '../../effects/drained-pods.ts';
import type { KubeApi, KubeFault } from '../../effects/kube-api.ts';
import { readMaintenances } from '../../effects/maintenance-objects.ts';
import { type Answer, answered, askCluster, type ChosenCluster } from '../cluster-question.ts';
import { filteredNode, filteredNodes, type FilteringEnvironment } from './drain-node-filtering.ts';
import type { DrainQuestion } from './drain-node-request.ts';
import { drainLines, type FilteredNode } from './drain-node-text.ts';
import { maintenanceOf } from '../maintenance/maintenance-of-node.ts';
import type { Terminal } from '../terminal/terminal.ts';

const AT_ONCE = 8;
const NOT_SERVED = 404;
const LINES = drainLines('none');

/** How the cordon of a node ended. */
type Cordoned =
  | { readonly _tag: 'Cordoned'; readonly reading: NodeReading }
  /** An earlier run is not over. */
  | { readonly _tag: 'Maintained' }
  | { readonly _tag: 'Refused'; readonly why: string };

const isEmpty = ({ pods }: Pick<FilteredNode, 'pods'>): boolean =>
  pods.every(({ verdict }) => verdict._tag === 'Stays');

const cordoned = (
  { name, before }: FilteredNode,
  question: DrainQuestion,
  nowMs: number,
): Effect.Effect<Cordoned, KubeFault, KubeApi> =>
  Effect.gen(function* () {
    const known = yield* readMaintenances(maintenanceOf(name));
    const isFree = known._tag === 'Refused'
      ? known.status === NOT_SERVED
      : known.objects.length === 0;
    if (!isFree) return { _tag: 'Maintained' };
    const why = yield* handOverCordon(before, nowMs);
    if (why !== undefined) return { _tag: 'Refused', why };
    return { _tag: 'Cordoned', reading: yield* readPodsToDrain(before, question) };
  });

/** What is left to do. */
export interface NodesLeft {
  readonly nodes: readonly FilteredNode[];
  /** False when a node was refused, which is reported. */
  readonly areAll: boolean;
}

type DrainEnvironment = FilteringEnvironment & { readonly terminal: Pick<Terminal, 'print'> };

/** Prints how it went; returns the node if it has to be drained after all. */
const settled = (
  { node, outcome }: { readonly node: FilteredNode; readonly outcome: Cordoned },
  question: DrainQuestion,
  environment: DrainEnvironment,
): NodesLeft => {
  const { terminal, time } = environment;
  if (outcome._tag === 'Maintained') return { nodes: [node], areAll: true };
  if (outcome._tag === 'Refused') {
    terminal.report(`Cannot cordon node ${quoted(node.name)}: ${outcome.why}`);
    return { nodes: [], areAll: false };
  }
  const { reading } = outcome;
  if (reading._tag === 'Read' && isEmpty(filteredNode(reading, question, time.now()))) {
    terminal.print(LINES.cordoned(node.name, node.wasCordoned));
    terminal.print(LINES.drained(node.name));
    return { nodes: [], areAll: true };
  }
  const now = filteredNodes([reading], question, environment);
  const before = { ...node.before, unschedulable: true };
  return {
    nodes: now.map((one) => ({ ...one, wasCordoned: node.wasCordoned, before })),
    areAll: now.length > 0,
  };
};

/** Drains the nodes without a pod that has to leave; returns the others. */
export const drainEmptyNodes = async (
  { cluster, question, nodes }: {
    readonly cluster: ChosenCluster;
    readonly question: DrainQuestion;
    readonly nodes: readonly FilteredNode[];
  },
  environment: DrainEnvironment,
): Promise<Answer<NodesLeft>> => {
  const { time } = environment;
  const [empty, others] = [nodes.filter(isEmpty), nodes.filter((node) => !isEmpty(node))];
  if (empty.length === 0) return answered({ nodes, areAll: true });
  const answer = await askCluster(
    cluster,
    Effect.forEach(
      empty,
      (node) =>
        cordoned(node, question, time.now()).pipe(Effect.map((outcome) => ({ node, outcome }))),
      { concurrency: AT_ONCE },
    ).pipe(Effect.map(answered)),
  );
  if (answer._tag === 'Silent') return answer;
  const ends = answer.value.map((one) => settled(one, question, environment));
  return answered({
    nodes: [...others, ...ends.flatMap((end) => end.nodes)],
    areAll: ends.every(({ areAll }) => areAll),
  });
};
