/** One NodeMaintenance, walked through every configuration. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import type { AnyMachineSnapshot } from 'xstate';
import { provideNodeMaintenance } from '../../src/actors/node-maintenance/node-maintenance-actor.ts';
import { textAt, valueAt } from '../../src/domain/json.ts';
import { sameJson } from '../../src/domain/json-equality.ts';
import {
  maintenanceStep,
  type ObservedNodes,
} from '../../src/domain/node-maintenance/maintenance-step.ts';
import { FINALIZER_MANAGER } from '../../src/domain/node-maintenance/maintenance-writes.ts';
import type {
  NodeStatus,
  ObservedMaintenance,
} from '../../src/domain/node-maintenance/observed-maintenance.ts';
import type { MaintenancePreview } from '../../src/domain/node-maintenance/preview.ts';
import type { ObservedWindow } from '../../src/domain/node-maintenance/window.ts';
import type { WriteOutcome } from '../../src/domain/object-write.ts';
import { isOlder } from '../../src/domain/resource-versions.ts';
import type { KubeCall } from '../../src/effects/kube-api.ts';
import { nodeMaintenancesLayer } from '../../src/effects/node-maintenance.ts';
import { nodeMaintenance } from '../../src/machines/node-maintenance.ts';
import type {
  NodeMaintenanceContext,
  NodeMaintenanceInput,
} from '../../src/machines/node-maintenance-context.ts';
import { answeringApi, answerOf } from '../support/api/fake-api.ts';
import {
  conditionRaw,
  maintenanceOf,
  maintenanceRaw,
  type MaintenanceTraits,
  nodeRaw,
  NOW_MS,
} from '../support/node-maintenance/maintenance-fixture.ts';
import { nodeMaintenanceHarness } from './cluster/node-maintenance-harness.ts';
import type { Received } from './harness/crash.ts';
import type { Step } from './harness/interpreter.ts';
import { checkWindow, windowOf } from './harness/maintenance-window.ts';
import { exactly, isTimer, must } from './harness/step-invariants.ts';
import { triesOf } from './harness/tries.ts';
import { writerInvariant } from './harness/writer-invariants.ts';
import { describeModel, type InvokedActors } from './model.ts';

/** Maintenances by resourceVersion: an answer and an observation of one version are the same. */
const served = new Map<string, ObservedMaintenance>();
const servedRaw = new Map<string, object>();

const version = (resourceVersion: string, traits: MaintenanceTraits): ObservedMaintenance => {
  const one = maintenanceOf(resourceVersion, traits);
  served.set(resourceVersion, one);
  servedRaw.set(resourceVersion, maintenanceRaw(resourceVersion, traits));
  return one;
};

const BUSY_NODE = nodeRaw('n1', { drainMessage: 'Evacuating', podsEvacuating: 1 });
const EMPTY_NODE = nodeRaw('n1', { drainMessage: 'Drained' });
const BUSY_TEXT = conditionRaw('Drained', 'False', ['Evacuating', '1 pod left on 1 of 1 node']);
const EMPTY_TEXT = conditionRaw('Drained', 'True', [
  'Drained',
  'All pods that must leave are gone from 1 node',
]);
const RELEASING_TEXT = conditionRaw('Completed', 'False', [
  'Releasing',
  'Nodes are being released',
]);
const COMPLETED_TEXT = conditionRaw('Completed', 'True', [
  'Completed',
  'No Node is cordoned by this maintenance',
]);

const DRAINED: MaintenanceTraits = {
  isProtected: true,
  started: ['Cordon', 'Drain'],
  nodes: [EMPTY_NODE],
  entriesDone: 12,
  progress: '1/1',
  conditions: [EMPTY_TEXT],
};
const COMPLETE: MaintenanceTraits = {
  ...DRAINED,
  stage: 'Complete',
  started: ['Cordon', 'Drain', 'Complete'],
};

const PREVIEW: MaintenancePreview = {
  nodes: 1,
  entries: [],
  staticPods: 0,
  findings: [],
  rounds: 0,
  terminationSeconds: 0,
};

const NEW = version('100', {});
const IDLE = version('105', { started: ['Idle'] });
const PREVIEWED = version('106', { started: ['Idle'], preview: PREVIEW });
const CHANGED = version('107', {
  started: ['Idle'],
  preview: PREVIEW,
  generation: 2,
  spec: { reason: 'Newer kernel' },
});
const CORDON = version('110', { stage: 'Cordon' });
const PROTECTED = version('115', { stage: 'Cordon', isProtected: true });
const CORDONED = version('120', {
  stage: 'Cordon',
  isProtected: true,
  started: ['Cordon'],
  nodes: [BUSY_NODE],
  entriesDone: 0,
  progress: '0/1',
});
const DRAIN = version('125', { stage: 'Drain', isProtected: true, started: ['Cordon'] });
const DRAINING = version('130', {
  stage: 'Drain',
  isProtected: true,
  started: ['Cordon', 'Drain'],
  nodes: [BUSY_NODE],
  entriesDone: 0,
  progress: '0/1',
  conditions: [BUSY_TEXT],
});
const EMPTIED = version('135', { ...DRAINED, stage: 'Drain' });
const DELETED = version('140', { ...DRAINED, stage: 'Drain', isDeleting: true });
const ENDING = version('145', { ...DRAINED, stage: 'Complete', isDeleting: true });
const RELEASING = version('150', {
  ...COMPLETE,
  isDeleting: true,
  conditions: [RELEASING_TEXT, EMPTY_TEXT],
});
const RELEASED = version('155', {
  ...COMPLETE,
  isDeleting: true,
  conditions: [COMPLETED_TEXT, EMPTY_TEXT],
});
const FREE = version('160', {
  ...COMPLETE,
  isDeleting: true,
  isProtected: false,
  conditions: [COMPLETED_TEXT, EMPTY_TEXT],
});
/** A window on a spec whose Nodes have not begun. */
const LIMITED_TRAITS: MaintenanceTraits = {
  stage: 'Drain',
  isProtected: true,
  started: ['Cordon', 'Drain'],
  nodes: [BUSY_NODE],
  entriesDone: 0,
  progress: '0/1',
  spec: { window: { schedule: '0 2 * * *', durationMinutes: 60, timeZone: 'UTC' } },
};
const LIMITED = version('170', { ...LIMITED_TRAITS, nodes: [] });
const CLOSED = version('175', {
  ...LIMITED_TRAITS,
  conditions: [
    conditionRaw('Drained', 'False', [
      'WindowClosed',
      'The window opens at 2026-01-01T02:00:00Z; not begun: 1 of 1 node',
    ]),
  ],
});

const MINUTE_MS = 60_000;
const WINDOWS: readonly ObservedWindow['state'][] = [
  { _tag: 'Open', untilMs: NOW_MS + MINUTE_MS },
  { _tag: 'Closed', opensMs: NOW_MS + 120 * MINUTE_MS },
  { _tag: 'Malformed', field: 'schedule', problem: 'planted' },
];

const FREE_OF_OTHERS = { selectsAll: false, refused: '', crossing: null, yieldedBy: '' } as const;

const BUSY = {
  ...FREE_OF_OTHERS,
  nodes: DRAINING.status.nodes,
  waves: DRAINING.status.waves,
  drained: false,
  released: false,
  progress: '0/1',
} as const;

/** What Nodes show. */
const NODES = {
  untouched: { ...BUSY, nodes: IDLE.status.nodes, waves: [], progress: '', released: true },
  busy: BUSY,
  empty: {
    ...BUSY,
    nodes: EMPTIED.status.nodes,
    waves: EMPTIED.status.waves,
    drained: true,
    progress: '1/1',
  },
  crossed: { ...BUSY, crossing: { text: 'planted', yields: true } },
  refused: { ...BUSY, refused: 'n1' },
  yielding: {
    ...BUSY,
    nodes: DRAINING.status.nodes.map((node): NodeStatus => ({ ...node, state: 'Yielding' })),
  },
} as const;
type NodesName = keyof typeof NODES;

const nodesOf = (name: NodesName): ObservedNodes => NODES[name];

const NAMES: readonly NodesName[] = [
  ...['untouched', 'busy', 'empty', 'crossed', 'refused', 'yielding'] as const,
];

const nameOf = (observed: unknown): NodesName =>
  NAMES.find((name) => sameJson(NODES[name], observed)) ?? 'untouched';

/** What outlives the process. */
interface World {
  readonly version: string;
  readonly nodes: NodesName;
  readonly vanished: boolean;
}

const START: World = { version: '100', nodes: 'untouched', vanished: false };

const at = (resourceVersion: string): ObservedMaintenance => {
  const one = served.get(resourceVersion);
  if (one === undefined) throw new Error(`No version ${resourceVersion}`);
  return one;
};

const inputOf = (world: World): NodeMaintenanceInput => ({
  maintenance: at(world.version),
  observed: nodesOf(world.nodes),
  nowMs: NOW_MS,
  seed: 1,
});

const recorded = (world: World, { event }: Received): World => {
  if (event.type === 'xstate.init') {
    return {
      ...world,
      version: textAt(event, 'input', 'maintenance', 'resourceVersion') ?? world.version,
      nodes: nameOf(valueAt(event, 'input', 'observed')),
    };
  }
  if (event.type === 'maintenance.vanished' || textAt(event['output'], '_tag') === 'Absent') {
    return { ...world, vanished: true };
  }
  if (event.type === 'nodes.observed') return { ...world, nodes: nameOf(event['observed']) };
  const seen = textAt(event['maintenance'], 'resourceVersion') ??
    textAt(event['output'], 'current', 'resourceVersion');
  if (seen === undefined) return world;
  const isOld = isOlder(at(seen).resourceVersion, at(world.version).resourceVersion);
  return isOld ? world : { ...world, version: seen };
};

/** Where the work is, told by the object and its Nodes. */
const workOf = ({ maintenance, observed, vanished }: NodeMaintenanceContext): string => {
  const { spec: { stage }, deleting, hasFinalizer } = maintenance;
  if (vanished) return 'vanished';
  if (stage === 'Idle') return 'idle';
  if (stage === 'Complete' || deleting) return observed.released ? 'completed' : 'releasing';
  if (!hasFinalizer) return 'unprotected';
  if (stage === 'Cordon') return 'cordoned';
  return observed.drained ? 'drained' : 'evacuating';
};

/** The actions that begin with each state of the work. */
const WORK_ACTIONS: Readonly<Record<string, readonly string[]>> = {
  cordoned: ['cordonNodes'],
  evacuating: ['drainNodes'],
  drained: ['drainNodes'],
  releasing: ['releaseNodes'],
  vanished: ['releaseNodes'],
};
const ALL_ACTIONS = ['cordonNodes', 'drainNodes', 'releaseNodes'] as const;

const isAt = (snapshot: AnyMachineSnapshot, work: string): boolean => snapshot.matches({ work });

const checkWork = (step: Step): void => {
  const { before, after, event } = step;
  const work = workOf(after.context);
  must(isAt(after, work), `the work is ${work}, not ${JSON.stringify(after.value)}`);
  const isEntered = event.type === 'xstate.init' || !isAt(before, work);
  const expected = isEntered ? WORK_ACTIONS[work] ?? [] : [];
  for (const action of ALL_ACTIONS) exactly(step, action, expected.includes(action));
};

/** What may be written, and when. */
const checkWrites = ({ after, actions }: Step): void => {
  const { maintenance, observed }: NodeMaintenanceContext = after.context;
  const { spec: { stage }, deleting, hasFinalizer } = maintenance;
  if (actions.includes('invoke:addFinalizer')) {
    must(stage === 'Cordon' || stage === 'Drain', 'NM-08: only an active stage has the finalizer');
    must(!deleting && !hasFinalizer, 'NM-08: it is added once');
  }
  if (actions.includes('invoke:completeStage')) {
    must(deleting && hasFinalizer && stage !== 'Complete', 'NM-09: only a deletion completes');
  }
  if (actions.includes('invoke:removeFinalizer')) {
    must(stage === 'Idle' || stage === 'Complete', 'NM-09: an active stage keeps the finalizer');
    must(stage === 'Idle' || observed.released, 'NM-09: the last key leaves the Nodes first');
  }
};

/** When a preview is renewed, and when the status has one. */
const checkPreview = (step: Step): void => {
  const { before, after, event } = step;
  const { maintenance, preview, pendingWrite, vanished }: NodeMaintenanceContext = after.context;
  const isPlanned = !vanished && maintenance.spec.stage === 'Idle';
  const isOfSpec = preview?.generation === maintenance.generation;
  const wasAt = (state: string): boolean =>
    event.type !== 'xstate.init' && before.matches({ preview: state });
  const isComputed = event.type === 'preview.computed';
  const isRenewed = wasAt('renewable') && isComputed && isPlanned;
  const isGathering = isRenewed || wasAt('gathering') && !isTimer(step, 'previewInterval');
  const state = isPlanned ? isGathering && isOfSpec ? 'gathering' : 'renewable' : 'withheld';
  must(after.matches({ preview: state }), `the preview is ${state}`);
  const isEntered = state === 'renewable' && (!wasAt('renewable') || isComputed);
  exactly(step, 'requestPreview', isEntered);
  if (!isRenewed && event.type !== 'xstate.init') {
    const { preview: earlier }: NodeMaintenanceContext = before.context;
    must(preview === earlier, 'the preview is renewed only when that was requested');
  }
  if (pendingWrite?.write !== 'setStatus') return;
  const expected = isPlanned && isOfSpec ? preview?.preview : null;
  must(sameJson(pendingWrite.status.preview, expected), 'the status has the preview of its spec');
};

/** What the drains wait for besides their pods. */
const drainsOf = (context: NodeMaintenanceContext): string => {
  const name = nameOf(context.observed);
  const isOther = name === 'crossed' || name === 'refused' || name === 'yielding';
  return workOf(context) === 'evacuating' && isOther ? name : 'going';
};

/** Drains of others count in Drain alone; with a window as well, there would be too many states. */
const projectedNodes = (context: NodeMaintenanceContext): NodesName => {
  const name = nameOf(context.observed);
  if (context.maintenance.spec.window !== null) return 'busy';
  if (name === 'untouched' || name === 'empty') return name;
  return workOf(context) === 'evacuating' ? name : 'busy';
};

/** Who yields, and which drains begin again. */
const checkDrains = (step: Step): void => {
  const { before, after, event } = step;
  const drains = drainsOf(after.context);
  must(after.matches({ drains }), `the drains are ${drains}`);
  const isEntered = event.type === 'xstate.init' || !before.matches({ drains });
  exactly(step, 'recordCrossed', isEntered && drains === 'crossed');
  exactly(step, 'recordYielding', isEntered && drains === 'yielding');
  exactly(step, 'yieldNode', isTimer(step, 'crossingGrace'));
  exactly(step, 'drainAgain', isTimer(step, 'drainRetry'));
};

const pendingIn = (context: NodeMaintenanceContext) =>
  context.vanished ? undefined : maintenanceStep(context, context.nowMs).write?.write;

const checkWriter = writerInvariant({
  region: 'object',
  pendingIn: ({ context }) => pendingIn(context),
  actorOf: {
    addFinalizer: 'addFinalizer',
    complete: 'completeStage',
    setStatus: 'setStatus',
    removeFinalizer: 'removeFinalizer',
  },
  baseOf: ({ context }) => context.maintenance.resourceVersion,
  restsIn: ({ context }) => context.vanished ? 'absent' : 'settled',
  retries: 'WithSlot',
  reconsiders: () => false,
});

/** Whose preview it has, while it is read: clusters count generations on. */
const previewIn = ({ phase, preview, maintenance }: NodeMaintenanceContext): string => {
  if (phase !== 'Idle' || preview === null) return 'none';
  return preview.generation === maintenance.generation ? 'of this spec' : 'of another spec';
};

const actIn = ({ path, query, body }: KubeCall): string => {
  if (path.endsWith('/status')) return 'setStatus';
  if (query?.['fieldManager'] === FINALIZER_MANAGER) return 'addFinalizer';
  return textAt(body, 'spec', 'stage') === undefined ? 'removeFinalizer' : 'completeStage';
};

/** Another finalizer: the object outlives ours. */
const HELD = maintenanceRaw('155', { finalizers: ['example.com/held'] });

/** The statechart with its real effects, down to its requests. */
const wire = (invoked: InvokedActors) => {
  const api = answeringApi((call) =>
    call.method === 'GET' ? Effect.succeed({ status: 200, body: HELD }) : Effect.flatMap(
      Effect.promise(() => invoked.perform<WriteOutcome<ObservedMaintenance>>(actIn(call), call)),
      (outcome) => answerOf(outcome, (one) => servedRaw.get(one)),
    )
  );
  const ignore = () => {};
  return provideNodeMaintenance(
    ManagedRuntime.make(Layer.provide(nodeMaintenancesLayer, api)),
    {
      requestSlot: ignore,
      recordRefused: ignore,
      recordFailing: ignore,
      recordCrossed: ignore,
      recordYielding: ignore,
      yieldNode: ignore,
      drainAgain: ignore,
      recordWindowClosed: ignore,
      recordWindowMalformed: ignore,
      beginNodes: ignore,
      withholdNodes: ignore,
      requestWindow: ignore,
      cordonNodes: ignore,
      drainNodes: ignore,
      releaseNodes: ignore,
      requestPreview: ignore,
    },
    (write) => write,
  );
};

const written = (current: ObservedMaintenance) => ({ output: { _tag: 'Written', current } });
const FAULT = { output: { _tag: 'Fault', why: 'planted' } };
const REFUSED = { output: { _tag: 'Refused', why: 'planted' } };
const ABSENT = { output: { _tag: 'Absent' } };

describeModel('nodeMaintenance', {
  machine: nodeMaintenance,
  wire,
  harness: nodeMaintenanceHarness(servedRaw),
  inputs: [
    inputOf(START),
    inputOf({ ...START, version: '130', nodes: 'busy' }),
  ],
  events: {
    'maintenance.observed': [CHANGED, CORDON, DRAIN, DELETED, LIMITED].map((maintenance) => ({
      maintenance,
      nowMs: NOW_MS,
    })),
    'nodes.observed': NAMES.map((name) => ({ observed: nodesOf(name), nowMs: NOW_MS })),
    'window.observed': WINDOWS.map((state) => ({
      window: { generation: 1, observedMs: NOW_MS, state },
    })),
    'preview.computed': [NEW, CHANGED].map(({ generation }) => ({
      computed: { generation, preview: PREVIEW },
    })),
    'xstate.done.actor.addFinalizer': [written(PROTECTED), FAULT, REFUSED],
    'xstate.done.actor.completeStage': [written(ENDING)],
    'xstate.done.actor.setStatus': [
      written(IDLE),
      written(PREVIEWED),
      written(CORDONED),
      written(DRAINING),
      written(EMPTIED),
      written(RELEASING),
      written(RELEASED),
      written(CLOSED),
    ],
    'xstate.done.actor.removeFinalizer': [written(FREE), ABSENT],
  },
  project: (context: NodeMaintenanceContext) => ({
    version: context.maintenance.resourceVersion,
    nodes: projectedNodes(context),
    vanished: context.vanished,
    phase: context.phase,
    preview: previewIn(context),
    window: windowOf(context),
    pending: context.pendingWrite?.write,
    isBase: context.base === context.maintenance.resourceVersion,
    sent: context.sent,
    attempt: triesOf(context.attempt, context.maintenance.resourceVersion === START.version),
    verdict: context.verdict,
  }),
  stepInvariant: (step) => {
    checkWriter(step);
    checkWork(step);
    checkPreview(step);
    checkWindow(step);
    checkDrains(step);
    checkWrites(step);
  },
  crash: {
    world: START,
    record: recorded,
    restart: (world) => ({
      input: inputOf(world),
      events: world.vanished ? [{ type: 'maintenance.vanished' }] : [],
    }),
    obligations: (snapshot) => {
      const { maintenance, observed, vanished }: NodeMaintenanceContext = snapshot.context;
      return {
        version: maintenance.resourceVersion,
        nodes: nameOf(observed),
        vanished,
        work: valueAt(snapshot.value, 'work'),
      };
    },
  },
  forgets: 'maintenance.observed',
  limit: 30_000,
});
