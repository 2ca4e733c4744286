/**
 * `tidegate drain acknowledge`: lets pods stay whose data is on a Node only.
 *
 * Promises: exit code 0 when they may stay; 1 when the API server refuses; 2 for invalid arguments;
 * 3 when the Node does not exist, does not drain, or its drain keeps no pod; 4 when the cluster
 * cannot be reached. The pods that stay are printed, with their data.
 */
import { Effect } from 'effect';
import {
  type AcknowledgingStep,
  acknowledgingStep,
  type StayingForData,
} from '../../domain/drain/acknowledging-step.ts';
import { plural } from '../../domain/drain/verdict.ts';
import { quoted } from '../../domain/text.ts';
import { readDrains } from '../../effects/drain-reads.ts';
import type { KubeApi, KubeFault } from '../../effects/kube-api.ts';
import { patchNode } from '../../effects/node-objects.ts';
import { type Answer, answered, askCluster, logUnreachable, silent } from '../cluster-question.ts';
import { jsonText } from '../terminal/json-text.ts';
import { ACKNOWLEDGE_FORMATS, type DrainAcknowledgeRequest } from './drain-request.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { missingNodes, unknownWord } from '../failures.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** What the command answers. */
interface Acknowledged {
  readonly node: string;
  /** False when they were acknowledged before. */
  readonly changed: boolean;
  readonly pods: readonly StayingForData[];
}

type Acknowledging = Effect.Effect<Answer<Acknowledged>, KubeFault, KubeApi>;

/** Tries while others change the Node. */
const TRIES_MAX = 5;

const refusalOf = (
  node: string,
  { _tag: tag }: Extract<AcknowledgingStep, { _tag: 'NotDraining' | 'NothingKept' }>,
): string =>
  tag === 'NotDraining'
    ? `Cannot acknowledge pods of node ${quoted(node)}: it does not drain; ` +
      `"tidegate node disable ${node} --why=TEXT" takes it out of service`
    : `Cannot acknowledge pods of node ${quoted(node)}: none has data on this node only; ` +
      `"tidegate drain status ${node}" shows what the drain waits for`;

const acknowledging = ({ node: name, why }: DrainAcknowledgeRequest): Acknowledging =>
  Effect.gen(function* () {
    for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
      const read = yield* readDrains({ _tag: 'Named', names: [name] });
      if (read._tag === 'Refused') return silent(EXIT.failure, read.why);
      const { nodes: [node], pods, lookup } = read.reading;
      if (node === undefined) return silent(EXIT.notMet, missingNodes([name]));
      const bound = pods.filter((pod) => pod.node === name);
      const step = acknowledgingStep(node, bound, { lookup, why });
      if (step._tag === 'NotDraining' || step._tag === 'NothingKept') {
        return silent(EXIT.notMet, refusalOf(name, step));
      }
      const done = { node: name, changed: step._tag === 'Patch', pods: step.pods };
      if (step._tag === 'Unchanged') return answered(done);
      const outcome = yield* patchNode(name, step.body);
      if (outcome._tag === 'Stored') return answered(done);
      if (outcome._tag === 'Refused') {
        return silent(
          EXIT.failure,
          `Cannot acknowledge pods of node ${quoted(name)}: ${outcome.why}`,
        );
      }
    }
    return silent(
      EXIT.failure,
      `Cannot acknowledge pods of node ${quoted(name)}: it changed at the same time; try again`,
    );
  });

const textOf = ({ node, changed, pods }: Acknowledged): string =>
  [
    ...pods.map(({ namespace, name, data }) =>
      `pod/${name} in ${namespace} stays with its data: ${data.join(', ')}`
    ),
    `node/${node} ${changed ? 'acknowledged' : 'already acknowledged'}: ${
      plural(pods.length, 'pod')
    }`,
    '',
  ].join('\n');

/** Lets the pods stay that the drain of a Node keeps. */
export const runDrainAcknowledge = async (
  request: DrainAcknowledgeRequest,
  { terminal }: { readonly terminal: Terminal },
): Promise<ExitCode> => {
  const format = ACKNOWLEDGE_FORMATS.find((candidate) => candidate === request.format);
  if (format === undefined) {
    terminal.report(unknownWord('--output', request.format, ACKNOWLEDGE_FORMATS));
    return EXIT.usage;
  }
  const answer = await askCluster(request, acknowledging(request));
  if (answer._tag === 'Silent') return logUnreachable(answer, terminal);
  const { value } = answer;
  terminal.print(format === 'json' ? jsonText(value) : textOf(value));
  return EXIT.ok;
};
