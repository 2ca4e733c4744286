/**
 * `tidegate explain`: reads the cluster, explains one object, prints the explanation.
 *
 * Promises: exit code 3 when the object is not there, 4 when the cluster cannot be reached, 2 when
 * the question makes no sense; stdout has the explanation and nothing else.
 */
import { Effect } from 'effect';
import { stringify } from 'yaml';
import { machineId } from '../domain/ids.ts';
import { upcomingNodeName } from '../domain/names.ts';
import type { KubeApi, KubeFault } from '../effects/kube-api.ts';
import { readExplainedMachine, readExplainedRequest } from '../effects/explained-objects.ts';
import type { ObjectRead } from '../effects/object-reads.ts';
import { OPERATOR_OPTIONS } from '../effects/operator-options.ts';
import { explainCapacityRequest } from '../view/explain-capacity-request.ts';
import { explainMachine } from '../view/explain-machine.ts';
import type { Explanation } from '../view/explanation.ts';
import { explanationText } from '../view/explanation-text.ts';
import { type Answer, answered, askCluster, saySilence, silent } from './cluster-question.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import {
  EXPLAINED_KINDS,
  type ExplainedKind,
  type ExplainRequest,
  type Format,
  FORMATS,
} from './explain-request.ts';
import type { Terminal } from './terminal.ts';

/** A question that can be asked of a cluster. */
interface Question {
  readonly kind: ExplainedKind;
  readonly namespace: string;
  /** Of the object, not of the machine. */
  readonly name: string;
  /** As it was asked. */
  readonly asked: string;
  readonly format: Format;
}

const kindOf = (text: string): ExplainedKind | undefined => {
  const kinds: Readonly<Record<ExplainedKind, readonly string[]>> = EXPLAINED_KINDS;
  const named = text.toLowerCase();
  if (kinds.capacityrequest.includes(named)) return 'capacityrequest';
  if (kinds.machine.includes(named)) return 'machine';
  return kinds.upcomingnode.includes(named) ? 'upcomingnode' : undefined;
};

/** The question, or one line about what is wrong with it. */
export const questionOf = (request: ExplainRequest): Question | string => {
  const kind = kindOf(request.kind);
  if (kind === undefined) {
    const known = Object.keys(EXPLAINED_KINDS).join(', ');
    return `Cannot explain "${request.kind}": it is unknown; write one of ${known}`;
  }
  const format = FORMATS.find((candidate) => candidate === request.format);
  if (format === undefined) {
    return `Cannot use --output "${request.format}": it is unknown; write one of ${
      FORMATS.join(', ')
    }`;
  }
  const common = { kind, format, asked: request.name };
  if (kind === 'machine') {
    return { ...common, namespace: '', name: upcomingNodeName(machineId(request.name)) };
  }
  const [first = '', second, ...more] = request.name.split('/');
  const name = second ?? first;
  if (name === '' || more.length > 0 || (kind === 'upcomingnode' && second !== undefined)) {
    const form = kind === 'upcomingnode' ? 'NAME' : 'NAMESPACE/NAME';
    return `Cannot explain "${request.name}": it is no name of an object; write ${form}`;
  }
  const namespace = second === undefined ? request.namespace ?? 'default' : first;
  return { ...common, namespace, name };
};

const missing = ({ kind, asked, namespace, name }: Question): string => {
  if (kind === 'machine') {
    return `Cannot find machine "${asked}": the fleet has not shown it to this cluster, or it ` +
      `was given back (there is no UpcomingNode "${name}")`;
  }
  return kind === 'upcomingnode'
    ? `Cannot find UpcomingNode "${name}": it does not exist, or its machine was given back`
    : `Cannot find CapacityRequest "${namespace}/${name}": it does not exist`;
};

const whenFound = (
  question: Question,
  read: ObjectRead,
  explain: (object: unknown) => Explanation,
): Answer<Explanation> => {
  if (read._tag === 'Found') return answered(explain(read.object));
  return read._tag === 'Absent'
    ? silent(EXIT.notMet, missing(question))
    : silent(EXIT.failure, `Cannot read ${question.kind} "${question.asked}": ${read.why}`);
};

const answerTo = (
  question: Question,
  nowMs: number,
): Effect.Effect<Answer<Explanation>, KubeFault, KubeApi> =>
  question.kind === 'capacityrequest'
    ? readExplainedRequest(
      question.namespace,
      question.name,
      OPERATOR_OPTIONS.leaseName.default ?? '',
    ).pipe(
      Effect.map(({ request, ...around }) =>
        whenFound(
          question,
          request,
          (object) => explainCapacityRequest({ ...around, request: object, nowMs }),
        )
      ),
    )
    : readExplainedMachine(question.name).pipe(
      Effect.map(({ upcomingNode, ...around }) =>
        whenFound(
          question,
          upcomingNode,
          (object) => explainMachine({ ...around, upcomingNode: object, nowMs }),
        )
      ),
    );

const printed = (
  explanation: Explanation,
  format: Format,
  text: Parameters<typeof explanationText>[1],
): string => {
  if (format === 'json') return `${JSON.stringify(explanation, null, 2)}\n`;
  return format === 'yaml' ? stringify(explanation) : explanationText(explanation, text);
};

/** Explains one object of the cluster that the kubeconfig names. */
export const runExplain = async (
  request: ExplainRequest,
  terminal: Terminal,
  nowMs: number,
): Promise<ExitCode> => {
  const question = questionOf(request);
  if (typeof question === 'string') {
    terminal.say(question);
    return EXIT.usage;
  }
  const answer = await askCluster(request, answerTo(question, nowMs));
  if (answer._tag === 'Silent') return saySilence(answer, terminal);
  terminal.print(printed(answer.value, question.format, { nowMs, colors: terminal.colors }));
  return EXIT.ok;
};
