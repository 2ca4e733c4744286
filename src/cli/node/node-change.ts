/**
 * `tidegate node disable`, `enable` and `confirm-gone`: changes one Node.
 *
 * Promises: exit code 0 when the Node is as requested; 1 when the API server refuses; 3 when the
 * Node does not exist, or is Ready and was said to be gone; 5 when data would be lost that nobody
 * accepted to lose; 4 when the cluster cannot be reached. What the taint of a Node out of service
 * removes is printed before it is set, or is part of the JSON.
 */
import { Effect } from 'effect';
import { confirmGonePatch } from '../../domain/node-availability/availability-writes.ts';
import {
  type DisablingStep,
  disablingStep,
  enablingStep,
} from '../../domain/node-availability/disabled-node.ts';
import { type RemovedPod, removedPod } from '../../domain/node-availability/node-pod.ts';
import { quoted } from '../../domain/text.ts';
import type { ServerDate } from '../../domain/cluster-time.ts';
import type { Time } from '../../domain/time.ts';
import type { KubeApi, KubeFault } from '../../effects/kube-api.ts';
import {
  type NodeObject,
  type NodePatchOutcome,
  patchNode,
  readNodePods,
  readNodes,
} from '../../effects/node-objects.ts';
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
import { missingNodes, unknownWord } from '../failures.ts';
import { jsonText } from '../terminal/json-text.ts';
import {
  NODE_CHANGE_FORMATS,
  type NodeChangeRequest,
  type NodeDisableRequest,
  type NodeEnableRequest,
  type NodeGoneRequest,
} from './node-request.ts';
import type { Terminal } from '../terminal/terminal.ts';

interface CommandEnvironment {
  readonly terminal: Terminal;
  readonly time: Pick<Time, 'now'>;
}

type Changing = Effect.Effect<Answer<'Changed' | 'Unchanged'>, KubeFault, KubeApi>;

/** Tries while others change the Node. */
const TRIES_MAX = 5;

const failed = (what: string, outcome: Exclude<NodePatchOutcome, { _tag: 'Stored' }>): Silence =>
  silent(
    EXIT.failure,
    outcome._tag === 'Refused'
      ? `Cannot ${what}: ${outcome.why}`
      : `Cannot ${what}: it changed at the same time; try again`,
  );

/** Reads the Node, decides and patches, again when others were quicker. */
const changed = (
  { node: name, what }: { readonly node: string; readonly what: string },
  stepOf: (node: NodeObject) => DisablingStep | Silence,
): Changing =>
  Effect.gen(function* () {
    let outcome: NodePatchOutcome = { _tag: 'Conflict' };
    for (let attempt = 0; attempt < TRIES_MAX && outcome._tag === 'Conflict'; attempt += 1) {
      const read = yield* readNodes(name);
      if (read._tag === 'Refused') return silent(EXIT.failure, `Cannot ${what}: ${read.why}`);
      const [node] = read.objects;
      if (node === undefined) return silent(EXIT.notMet, missingNodes([name]));
      const step = stepOf(node);
      if (step._tag === 'Silent') return step;
      if (step._tag === 'Unchanged') return answered('Unchanged');
      if (step._tag === 'Unrecognized') return silent(EXIT.failure, `Cannot ${what}: ${step.why}`);
      outcome = yield* patchNode(name, step.body);
    }
    return outcome._tag === 'Stored' ? answered('Changed') : failed(what, outcome);
  });

/** How a change is told. */
interface ChangeReport {
  readonly changing: Changing;
  readonly texts: { readonly Changed: string; readonly Unchanged: string };
  /** What the JSON has beside the Node and whether it was changed. */
  readonly details: () => object;
  /** Corrects the clock of a change that has a time. */
  readonly onServerDate?: (date: ServerDate) => void;
}

const finished = async (
  request: NodeChangeRequest,
  { changing, texts, details, onServerDate }: ChangeReport,
  terminal: Terminal,
): Promise<ExitCode> => {
  const format = NODE_CHANGE_FORMATS.find((candidate) => candidate === request.format);
  if (format === undefined) {
    terminal.report(unknownWord('--output', request.format, NODE_CHANGE_FORMATS));
    return EXIT.usage;
  }
  const answer = await askCluster(request, changing, onServerDate);
  if (answer._tag === 'Silent') return logUnreachable(answer, terminal);
  const json = { node: request.node, changed: answer.value === 'Changed', ...details() };
  terminal.print(format === 'json' ? jsonText(json) : `${texts[answer.value]}\n`);
  return EXIT.ok;
};

/** Takes a Node out of service. */
export const runNodeDisable = (
  request: NodeDisableRequest,
  { terminal, time }: CommandEnvironment,
): Promise<ExitCode> => {
  const { node, why, acceptsDowntime } = request;
  const clock = commandTime(time);
  if (why.trim() === '') {
    terminal.report(`Cannot disable node ${quoted(node)} without a reason: write --why=TEXT`);
    return Promise.resolve(EXIT.usage);
  }
  return finished(request, {
    changing: changed(
      { node, what: `disable node ${quoted(node)}` },
      (found) => disablingStep(found, { why, acceptsDowntime, nowMs: clock.now() }),
    ),
    texts: { Changed: `node/${node} disabled`, Unchanged: `node/${node} already disabled` },
    details: () => ({ why, acceptsDowntime }),
    onServerDate: clock.observe,
  }, terminal);
};

/** Gives a disabled Node back. */
export const runNodeEnable = (
  request: NodeEnableRequest,
  { terminal }: Pick<CommandEnvironment, 'terminal'>,
): Promise<ExitCode> => {
  const { node } = request;
  return finished(request, {
    changing: changed({ node, what: `enable node ${quoted(node)}` }, enablingStep),
    texts: { Changed: `node/${node} enabled`, Unchanged: `node/${node} is not disabled` },
    details: () => ({}),
  }, terminal);
};

const removedText = ({ namespace, name, podClass, losses }: RemovedPod): string =>
  `pod/${name} in ${namespace}: ${podClass.toLowerCase()}${
    losses.length === 0 ? '' : `; lost: ${losses.join(', ')}`
  }\n`;

const goneStep = (node: NodeObject, nowMs: number): DisablingStep | Silence => {
  const { name, readyStatus, availability } = node;
  if (readyStatus === 'True') {
    return silent(
      EXIT.notMet,
      `Cannot confirm that node ${quoted(name)} is gone: it is Ready; use "tidegate node disable"`,
    );
  }
  return availability.isConfirmedGone
    ? { _tag: 'Unchanged' }
    : { _tag: 'Patch', body: confirmGonePatch(node, nowMs) };
};

/** Confirms that the machine of a Node is gone. */
export const runNodeConfirmGone = (
  request: NodeGoneRequest,
  { terminal, time }: CommandEnvironment,
): Promise<ExitCode> => {
  const { node, acceptsLocalLoss, format } = request;
  const clock = commandTime(time);
  const what = `confirm that node ${quoted(node)} is gone`;
  let removed: readonly RemovedPod[] = [];
  const changing: Changing = Effect.gen(function* () {
    const read = yield* readNodePods(node);
    if (typeof read === 'string') return silent(EXIT.failure, read);
    const pods = read.pods.flatMap((pod) => removedPod(pod, read.lookup) ?? []);
    return yield* changed({ node, what }, (found) => {
      const step = goneStep(found, clock.now());
      if (step._tag !== 'Patch') return step;
      removed = pods;
      const isRefused = !acceptsLocalLoss && pods.some(({ losses }) => losses.length > 0);
      if (format === 'text') terminal.print(pods.map(removedText).join(''));
      else if (isRefused) terminal.print(jsonText({ node, changed: false, pods }));
      return isRefused
        ? silent(
          EXIT.blocked,
          `Cannot ${what}: pods or data that exist only there would be lost; add ` +
            '--accept-local-loss',
        )
        : step;
    });
  });
  return finished(request, {
    changing,
    texts: {
      Changed: `node/${node} confirmed gone`,
      Unchanged: `node/${node} already confirmed gone`,
    },
    details: () => ({ pods: removed }),
    onServerDate: clock.observe,
  }, terminal);
};
