/**
 * `tidegate explain`: reads the cluster, explains one object, prints the explanation.
 *
 * Promises: exit code 3 when the object does not exist, 4 when the cluster cannot be reached, 2 for
 * invalid arguments; stdout has only the explanation.
 */
import { Effect } from 'effect';
import { stringify } from 'yaml';
import { textAt } from '../../domain/json.ts';
import { projectMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import { readNodes } from '../../effects/node-objects.ts';
import { readDrains } from '../../effects/drain-reads.ts';
import type { KubeApi, KubeFault } from '../../effects/kube-api.ts';
import {
  readExplainedEvictionRequest,
  readExplainedMachine,
  readExplainedPod,
  readExplainedRequest,
  readOperatorLeases,
} from '../../effects/explained-objects.ts';
import { NODE_MAINTENANCES_PATH } from '../../effects/node-maintenance.ts';
import { type ObjectRead, readEvents, readObject } from '../../effects/object-reads.ts';
import { OPERATOR_OPTIONS } from '../../effects/operator-options.ts';
import { hasDrain } from '../../view/drain-owner.ts';
import { drainStatus } from '../../view/drain-status.ts';
import { explainBudget } from '../../view/explain-budget.ts';
import { explainCapacityRequest } from '../../view/explain-capacity-request.ts';
import { type NodeFacts, nodeFactsOf } from '../../view/drain-facts.ts';
import { explainEvictionRequest } from '../../view/explain-eviction-request.ts';
import { explainMaintenance } from '../../view/explain-maintenance.ts';
import { explainMachine } from '../../view/explain-machine.ts';
import { withAvailability } from '../../view/explain-availability.ts';
import { explainNode } from '../../view/explain-node.ts';
import { explainPod } from '../../view/explain-pod.ts';
import type { Explanation } from '../../view/explanation.ts';
import type { Time } from '../../domain/time.ts';
import { shardOutage } from '../../view/shard-outage.ts';
import { explanationText } from '../../view/explanation-text.ts';
import {
  type Answer,
  answered,
  askCluster,
  commandTime,
  logUnreachable,
  type Silence,
  silent,
} from '../cluster-question.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { sceneOf } from '../drain/drain-status.ts';
import { jsonText } from '../terminal/json-text.ts';
import { type ExplainQuestion, questionOf } from './explain-question.ts';
import type { ExplainedKind, ExplainRequest, Format } from './explain-request.ts';
import { missingNodes } from '../failures.ts';
import type { Terminal } from '../terminal/terminal.ts';

const missing = ({ kind, asked, namespace, name }: ExplainQuestion): string => {
  switch (kind) {
    case 'machine':
      return `Cannot find machine "${asked}": the fleet has not reported it here, or it ` +
        `was returned (there is no UpcomingNode "${name}")`;
    case 'node':
      return missingNodes([name]);
    case 'upcomingnode':
      return `Cannot find UpcomingNode "${name}": it does not exist, or its machine was returned`;
    case 'capacityrequest':
      return `Cannot find CapacityRequest "${namespace}/${name}": it does not exist`;
    case 'evictionrequest':
      return `Cannot find EvictionRequest "${namespace}/${name}": it does not exist; its name is ` +
        'the UID of its pod, and "tidegate explain pod" takes the name of the pod';
    case 'nodemaintenance':
      return `Cannot find NodeMaintenance "${name}": it does not exist`;
    case 'poddisruptionbudget':
      return `Cannot find PodDisruptionBudget "${namespace}/${name}": it does not exist`;
    case 'pod':
      return `Cannot find pod "${namespace}/${name}": it does not exist`;
  }
};

const whenAbsent = (
  question: ExplainQuestion,
  read: Exclude<ObjectRead, { readonly _tag: 'Found' }>,
): Silence =>
  read._tag === 'Absent'
    ? silent(EXIT.notMet, missing(question))
    : silent(EXIT.failure, `Cannot read ${question.kind} "${question.asked}": ${read.why}`);

const whenFound = (
  question: ExplainQuestion,
  read: ObjectRead,
  explain: (object: unknown) => Explanation,
): Answer<Explanation> => {
  return read._tag === 'Found' ? answered(explain(read.object)) : whenAbsent(question, read);
};

type Asking = Effect.Effect<Answer<Explanation>, KubeFault, KubeApi>;

type Now = Pick<Time, 'now'>;

const LEASE_NAME = OPERATOR_OPTIONS.leaseName.default ?? '';

const aboutRequest = (question: ExplainQuestion, time: Now): Asking =>
  readExplainedRequest(question.namespace, question.name, LEASE_NAME).pipe(
    Effect.map(({ request, ...around }) => {
      const outage = shardOutage(around, time.now());
      return whenFound(
        question,
        request,
        (object) =>
          explainCapacityRequest({ ...around, request: object, outage, nowMs: time.now() }),
      );
    }),
  );

/** The facts about the drain of a Node; undefined without a Node, a drain, or permission. */
const drainedNode = (
  name: string | undefined,
  time: Now,
): Effect.Effect<NodeFacts | undefined, KubeFault, KubeApi> => {
  if (name === undefined || name === '') return Effect.succeed(undefined);
  return readDrains({ _tag: 'Named', names: [name] }).pipe(
    Effect.map((read) => {
      if (read._tag === 'Refused') return undefined;
      const [facts] = nodeFactsOf(sceneOf(read.reading, time.now()));
      return facts !== undefined && hasDrain(facts.node) ? facts : undefined;
    }),
  );
};

const aboutMachine = (question: ExplainQuestion, time: Now): Asking =>
  Effect.gen(function* () {
    const { upcomingNode, ...around } = yield* readExplainedMachine(question.name, LEASE_NAME);
    const object = upcomingNode._tag === 'Found' ? upcomingNode.object : undefined;
    const drained = yield* drainedNode(textAt(object, 'status', 'nodeRef', 'name'), time);
    return whenFound(
      question,
      upcomingNode,
      (found) =>
        explainMachine({
          ...around,
          upcomingNode: found,
          drained,
          outage: shardOutage(around, time.now()),
          nowMs: time.now(),
        }),
    );
  });

const aboutPod = (question: ExplainQuestion, time: Now): Asking =>
  Effect.gen(function* () {
    const { namespace, name } = question;
    const { pod, ...around } = yield* readExplainedPod(namespace, name, LEASE_NAME);
    const object = pod._tag === 'Found' ? pod.object : undefined;
    const drained = yield* drainedNode(textAt(object, 'spec', 'nodeName'), time);
    return whenFound(
      question,
      pod,
      (found) =>
        explainPod({
          ...around,
          pod: found,
          drained,
          outage: shardOutage(around, time.now()),
          nowMs: time.now(),
        }),
    );
  });

const aboutEvictionRequest = (question: ExplainQuestion, time: Now): Asking =>
  readExplainedEvictionRequest(question.namespace, question.name).pipe(
    Effect.map(({ request: read, events }): Answer<Explanation> => {
      if (read._tag !== 'Found') return whenAbsent(question, read);
      return answered(explainEvictionRequest({ request: read.request, events, nowMs: time.now() }));
    }),
  );

const aboutMaintenance = (question: ExplainQuestion): Asking =>
  Effect.all({
    read: readObject(`${NODE_MAINTENANCES_PATH}/${encodeURIComponent(question.name)}`),
    // Events about an object of the cluster are in the namespace default.
    events: readEvents({ kind: 'NodeMaintenance', name: question.name, namespace: 'default' }),
  }, { concurrency: 'unbounded' }).pipe(
    Effect.map(({ read, events }): Answer<Explanation> => {
      if (read._tag !== 'Found') return whenAbsent(question, read);
      const maintenance = projectMaintenance(read.object);
      return maintenance === undefined
        ? silent(EXIT.failure, `Cannot read nodemaintenance "${question.asked}": it has no name`)
        : answered(explainMaintenance({ maintenance, events: [events] }));
    }),
  );

const aboutNode = (question: ExplainQuestion, time: Now): Asking =>
  Effect.all({
    read: readDrains({ _tag: 'Named', names: [question.name] }),
    nodes: readNodes(question.name),
    operator: readOperatorLeases(LEASE_NAME),
  }, { concurrency: 'unbounded' }).pipe(
    Effect.map(({ read, nodes, operator }): Answer<Explanation> => {
      if (read._tag === 'Refused') return silent(EXIT.failure, read.why);
      const [facts] = nodeFactsOf(sceneOf(read.reading, time.now()));
      if (facts === undefined) return silent(EXIT.notMet, missing(question));
      const explanation = explainNode(facts, shardOutage(operator, time.now()));
      const [node] = nodes._tag === 'Listed' ? nodes.objects : [];
      return answered(node === undefined ? explanation : withAvailability(explanation, node));
    }),
  );

/** A budget is explained with the drains of the whole cluster, which may not be permitted. */
const aboutBudget = (question: ExplainQuestion, time: Now): Asking =>
  Effect.gen(function* () {
    const { namespace, name } = question;
    const { budget, events, drains } = yield* Effect.all({
      budget: readObject(
        `/apis/policy/v1/namespaces/${encodeURIComponent(namespace)}/poddisruptionbudgets/` +
          encodeURIComponent(name),
      ),
      events: readEvents({ kind: 'PodDisruptionBudget', name, namespace }),
      drains: readDrains({ _tag: 'All', isMeant: hasDrain }),
    }, { concurrency: 'unbounded' });
    if (budget._tag !== 'Found') return whenAbsent(question, budget);
    const explanation = explainBudget({
      budget: budget.object,
      events: [events],
      drains: drains._tag === 'Read'
        ? nodeFactsOf(sceneOf(drains.reading, time.now())).map(drainStatus)
        : undefined,
    });
    return explanation === undefined
      ? silent(EXIT.failure, `Cannot read poddisruptionbudget "${question.asked}": it has no name`)
      : answered(explanation);
  });

const ABOUT: Readonly<
  Record<ExplainedKind, (question: ExplainQuestion, time: Now) => Asking>
> = {
  capacityrequest: aboutRequest,
  evictionrequest: aboutEvictionRequest,
  machine: aboutMachine,
  nodemaintenance: aboutMaintenance,
  node: aboutNode,
  pod: aboutPod,
  poddisruptionbudget: aboutBudget,
  upcomingnode: aboutMachine,
};

const printed = (
  explanation: Explanation,
  format: Format,
  text: Parameters<typeof explanationText>[1],
): string => {
  if (format === 'json') return jsonText(explanation);
  return format === 'yaml' ? stringify(explanation) : explanationText(explanation, text);
};

/** Explains one object of the cluster in the kubeconfig. */
export const runExplain = async (
  request: ExplainRequest,
  terminal: Terminal,
  time: Now,
): Promise<ExitCode> => {
  const question = questionOf(request);
  if (typeof question === 'string') {
    terminal.report(question);
    return EXIT.usage;
  }
  const clock = commandTime(time);
  const answer = await askCluster(request, ABOUT[question.kind](question, clock), clock.observe);
  if (answer._tag === 'Silent') return logUnreachable(answer, terminal);
  const { columns } = terminal.size();
  terminal.print(printed(answer.value, question.format, {
    nowMs: clock.now(),
    colors: terminal.colors,
    ...(terminal.interactive ? { columns } : {}),
  }));
  return EXIT.ok;
};
