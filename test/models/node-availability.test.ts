/** The availability of one Node, walked through every configuration. */
import { textAt, valueAt } from '../../src/domain/json.ts';
import { differsFrom, nodeState } from '../../src/domain/node-availability/node-state.ts';
import { isOlder } from '../../src/domain/resource-versions.ts';
import { nodeAvailability } from '../../src/machines/node-availability.ts';
import {
  duePods,
  type NodeAvailabilityContext,
  type NodeAvailabilityInput,
} from '../../src/machines/node-availability-context.ts';
import { lostPod, nodeWith } from '../support/node-availability/availability-fixture.ts';
import { nodeAvailabilityHarness } from './cluster/node-availability-harness.ts';
import type { Received } from './harness/crash.ts';
import type { Step } from './harness/interpreter.ts';
import { exactly, isTimer, must } from './harness/step-invariants.ts';
import { describeModel } from './model.ts';

const [POD, OTHER_POD] = [lostPod('web-1'), lostPod('web-2')];

// Versions that cannot be compared may follow each other in any order.
const HEALTHY = nodeWith('healthy');
const OLD = nodeWith('1', { readyStatus: 'Unknown' });
const FIRST = nodeWith('2');
const PRESSED = nodeWith('pressed', { problem: 'Present' });
const TAINTED = nodeWith('tainted', { label: 'Degraded', isTainted: true });
const UNREPORTED = nodeWith('unreported', {
  problem: 'Unknown',
  label: 'Degraded',
  isTainted: true,
});
const DISABLED = nodeWith('disabled', { isDisabled: true, isDraining: true });
const DRAINING = nodeWith('draining', { isDraining: true });
const LOST = nodeWith('lost', { readyStatus: 'Unknown' });
const STORM = nodeWith('storm', { readyStatus: 'Unknown', label: 'OfflineStorm' });
const CONFIRMED = nodeWith('confirmed', {
  readyStatus: 'Unknown',
  label: 'OfflineStorm',
  isConfirmedGone: true,
  isConfirmedByCommand: true,
});
const BACK = nodeWith('back', {
  label: 'Offline',
  isConfirmedGone: true,
  isConfirmedByCommand: true,
});

const NODES = [
  ...[HEALTHY, OLD, FIRST, PRESSED, TAINTED, UNREPORTED],
  ...[DISABLED, DRAINING, LOST, STORM, CONFIRMED, BACK],
];
const byVersion = new Map<string, (typeof NODES)[number]>(
  NODES.map((node) => [node.resourceVersion, node]),
);

const inputOf = (node: (typeof NODES)[number], isGuarded = true): NodeAvailabilityInput => ({
  node,
  silentMs: 0,
  isGuarded,
  times: { offlineAfterMs: 60_000, degradedAfterMs: 30_000, cleanAfterMs: 60_000 },
  seed: 1,
});

/** What outlives the process: the Node. */
interface World {
  readonly version: string;
}

const observedIn = (world: World, version: string | undefined): World => {
  const [known, next] = [byVersion.get(world.version), byVersion.get(version ?? '')];
  if (next === undefined) return world;
  const isOld = known !== undefined && isOlder(next.resourceVersion, known.resourceVersion);
  return isOld ? world : { version: next.resourceVersion };
};

const recorded = (world: World, { event }: Pick<Received, 'event'>): World => {
  if (event.type === 'xstate.init') {
    return { version: textAt(event, 'input', 'node', 'resourceVersion') ?? world.version };
  }
  return observedIn(world, textAt(event['node'], 'resourceVersion'));
};

type Place = NodeAvailabilityContext;

/** The names of the innermost states of the four regions. */
const placesIn = (value: unknown) => {
  const availability = valueAt(value, 'availability');
  const offline = valueAt(availability, 'offline');
  return {
    heartbeat: textAt(value, 'heartbeat'),
    health: textAt(value, 'health'),
    availability: typeof availability === 'string' ? availability : 'offline',
    offline: typeof offline === 'string' ? offline : offline === undefined ? '' : 'replacing',
    replacing: textAt(offline, 'replacing') ?? '',
    display: textAt(value, 'display'),
  };
};
type Places = ReturnType<typeof placesIn>;

const heartbeatAfter = (step: Step, before: Places): string | undefined => {
  if (step.event.type === 'xstate.init') {
    const label = textAt(step.event, 'input', 'node', 'availability', 'label') ?? '';
    return label.startsWith('Offline') ? 'silent' : 'fresh';
  }
  const isProtected = before.availability === 'offline' && before.offline === 'protected';
  if (step.event.type === 'lease.renewed') return isProtected ? before.heartbeat : 'fresh';
  return isTimer(step, 'silence') ? 'silent' : before.heartbeat;
};

/** Where a problem leads, once a timer has done its part. */
const healthAfter = (step: Step, before: Places): string | undefined => {
  const { node: { problem } }: Place = step.after.context;
  const isTainted = valueAt(step.event, 'input', 'node', 'availability', 'isTainted') === true;
  const began = step.event.type === 'xstate.init' ? (isTainted ? 'degraded' : 'clean') : undefined;
  const timed = isTimer(step, 'problemHold')
    ? 'degraded'
    : isTimer(step, 'cleanHold')
    ? 'clean'
    : before.health;
  const isHeld = ['degraded', 'ending'].includes(began ?? timed ?? '');
  if (isHeld) return problem === 'Absent' ? 'ending' : 'degraded';
  return problem === 'Present' ? 'beginning' : 'clean';
};

const STATES: Readonly<Record<string, string>> = {
  Offline: 'offline',
  Disabled: 'disabled',
  Draining: 'draining',
  Degraded: 'degraded',
  Active: 'active',
};

/** What a Node shows in this part of offline; `Offline` says that it was handled. */
const offlineLabel = (offline: string, { node }: Place): string => {
  const { label } = node.availability;
  if (offline === 'protected') return 'OfflineStorm';
  return offline === 'settling' && label !== 'OfflineStorm' ? label ?? 'Active' : 'Offline';
};

/** Which part of offline an event leads to. */
const offlineAfter = (step: Step, before: Places): string => {
  const context: Place = step.after.context;
  const { isConfirmedGone } = context.node.availability;
  if (before.availability !== 'offline') {
    if (step.event.type !== 'xstate.init' || !context.isGuarded) return 'settling';
    const label = textAt(step.event, 'input', 'node', 'availability', 'label');
    if (label !== 'OfflineStorm') return 'settling';
    return isConfirmedGone ? 'replacing' : 'protected';
  }
  if (step.event.type === 'storm.detected' && !isConfirmedGone) return 'protected';
  if (isTimer(step, 'stormSettle')) return 'replacing';
  return before.offline === 'protected' && isConfirmedGone ? 'replacing' : before.offline;
};

const replacingAfter = (step: Step, before: Places): string => {
  const context: Place = step.after.context;
  if (duePods(context).length === 0) {
    return before.replacing === 'removing' && step.event.type !== 'removal.ended'
      ? 'removing'
      : 'replaced';
  }
  if (before.replacing === 'removing' && step.event.type !== 'removal.ended') return 'removing';
  if (before.replacing === 'backingOff') {
    return isTimer(step, 'removalBackoff') ? 'removing' : 'backingOff';
  }
  if (before.replacing === 'givenUp') return 'givenUp';
  if (context.attempt >= 5) return 'givenUp';
  return context.attempt > 0 ? 'backingOff' : 'removing';
};

const displayAfter = (step: Step, before: Places): string => {
  const { node, wanted }: Place = step.after.context;
  const isPending = differsFrom(node.availability, wanted);
  if (step.event.type === 'write.failed' && before.display === 'writing') return 'backingOff';
  if (before.display === 'writing') {
    if (step.event.type !== 'node.written') return 'writing';
    return isPending ? 'backingOff' : 'current';
  }
  if (before.display === 'backingOff' && !isTimer(step, 'writeBackoff')) return 'backingOff';
  return isPending ? 'writing' : 'current';
};

const checkPlaces = (step: Step, before: Places, after: Places): void => {
  const context: Place = step.after.context;
  must(
    after.heartbeat === heartbeatAfter(step, before),
    'RS-05: only renewals end a silence, and none a storm',
  );
  must(after.health === healthAfter(step, before), `RS-04: a problem leads to ${after.health}`);
  const isSilent = after.heartbeat === 'silent';
  const isDegraded = after.health === 'degraded' || after.health === 'ending';
  const state = nodeState(context.node, { isSilent, isDegraded });
  must(after.availability === STATES[state], `RS-01: ${state} is shown as ${after.availability}`);
  must(context.state === state, 'RS-01: the state that is shown is the one that is decided');
  if (state !== 'Offline') return;
  const offline = offlineAfter(step, before);
  must(after.offline === offline, `RS-06: ${after.offline} is not ${offline}`);
  must(context.isProtected === (offline === 'protected'), 'RS-06: a storm protects the Node');
  const label = offlineLabel(offline, context);
  must(context.wanted.label === label, `RS-06: ${context.wanted.label} is not ${label}`);
  if (offline !== 'replacing') return;
  const replacing = replacingAfter(step, before);
  must(after.replacing === replacing, `RS-20: ${after.replacing} is not ${replacing}`);
};

const RECORDS = ['recordOffline', 'recordBack', 'recordGivenUp', 'recordDegraded'] as const;

const checkActions = (step: Step, before: Places, after: Places): void => {
  const context: Place = step.after.context;
  const enters = (place: keyof Places, state: string) =>
    after[place] === state && before[place] !== state;
  const isOver = step.event.type === 'removal.ended' && before.replacing === 'removing';
  exactly(
    step,
    'removePods',
    after.replacing === 'removing' && (before.replacing !== 'removing' || isOver),
  );
  exactly(step, 'writeNode', enters('display', 'writing'));
  exactly(step, 'requestPods', enters('availability', 'offline'));
  exactly(step, 'recordOffline', enters('offline', 'replacing'));
  exactly(
    step,
    'recordBack',
    before.availability === 'offline' && after.availability !== 'offline',
  );
  exactly(step, 'recordGivenUp', enters('replacing', 'givenUp'));
  exactly(step, 'recordDegraded', isTimer(step, 'problemHold'));
  const records = step.actions.filter((action) => RECORDS.some((record) => record === action));
  must(new Set(records).size === records.length, 'RS-20: nothing is recorded twice at once');
  if (after.replacing === 'removing') {
    must(duePods(context).length > 0 || !enters('replacing', 'removing'), 'RS-23: removes a pod');
    must(context.state === 'Offline' && !context.isProtected, 'RS-06: removes no protected pod');
  }
};

/** What an event brings is remembered. */
const checkContext = ({ event, before, after }: Step, from: Places, to: Places): void => {
  if (event.type === 'xstate.init') return;
  const [was, now]: readonly [Place, Place] = [before.context, after.context];
  const expected = recorded({ version: was.node.resourceVersion }, { event });
  const isIgnored = event.type === 'node.written' && from.display !== 'writing';
  if (!isIgnored) {
    must(now.node.resourceVersion === expected.version, 'RS-01: the newest facts count');
  }
  if (event.type === 'lease.renewed') must(now.silentMs === 0, 'RS-05: the silence is over');
  if (event.type === 'pods.observed' && to.availability === 'offline') {
    must(now.pods === event['pods'], 'RS-20: the pods are those that were observed');
  }
  if (event.type === 'removal.ended' && from.replacing === 'removing' && to.offline !== '') {
    const why = textAt(event['end'], 'why');
    must(now.attempt === (why === '' ? 0 : was.attempt + 1), 'RS-23: attempts are counted');
    const removed = valueAt(event['end'], 'removed');
    const isKnown = Array.isArray(removed) && removed.every((uid) => now.removed.includes(uid));
    must(isKnown, 'RS-23: a pod that was deleted is remembered');
  }
  if (event.type === 'write.failed' && from.display === 'writing') {
    must(now.writeAttempt === was.writeAttempt + 1, 'RS-01: failed writes are counted');
  }
  if (event.type === 'node.written' && from.display === 'writing') {
    must(now.problem === '', 'RS-01: a write that landed has no problem');
    must((now.writeAttempt === 0) === (to.display === 'current'), 'RS-01: a reverted write waits');
  }
  if (to.availability !== 'offline' && from.availability === 'offline') {
    must(now.pods.length + now.removed.length + now.attempt === 0, 'RS-22: nothing is left');
  }
};

describeModel('nodeAvailability', {
  machine: nodeAvailability,
  inputs: [inputOf(FIRST), inputOf(TAINTED), inputOf(STORM), inputOf(STORM, false)],
  events: {
    'node.observed': [
      ...[HEALTHY, OLD, PRESSED, TAINTED, UNREPORTED],
      ...[DISABLED, DRAINING, LOST, STORM, CONFIRMED, BACK],
    ].map((node) => ({ node })),
    'pods.observed': [{ pods: [POD, OTHER_POD] }, { pods: [] }],
    'removal.ended': [
      { end: { removed: [POD.uid, OTHER_POD.uid], why: '' } },
      { end: { removed: [POD.uid], why: 'planted' } },
    ],
    'node.written': [{ node: HEALTHY }, { node: STORM }],
    'write.failed': [{ why: 'planted' }],
  },
  project: (context: NodeAvailabilityContext) => ({
    version: context.node.resourceVersion,
    isGuarded: context.isGuarded,
    isSilent: context.isSilent,
    isDegraded: context.isDegraded,
    isProtected: context.isProtected,
    due: duePods(context).length,
    attempt: Math.min(context.attempt, 5),
    writeAttempt: Math.min(context.writeAttempt, 1),
  }),
  stepInvariant: (step) => {
    const isFirst = step.event.type === 'xstate.init';
    const [before, after] = [
      placesIn(isFirst ? {} : step.before.value),
      placesIn(step.after.value),
    ];
    const from = isFirst ? { ...before, availability: '' } : before;
    checkPlaces(step, from, after);
    checkActions(step, from, after);
    checkContext(step, from, after);
    must(after.display === displayAfter(step, from), `RS-01: the display is ${after.display}`);
  },
  crash: {
    world: { version: FIRST.resourceVersion },
    record: recorded,
    restart: ({ version }) => ({ input: inputOf(byVersion.get(version) ?? FIRST), events: [] }),
    obligations: (snapshot) => {
      const context: NodeAvailabilityContext = snapshot.context;
      const { node, isProtected, wanted, state } = context;
      const isOfStorm = node.availability.label === 'OfflineStorm' &&
        node.readyStatus === 'Unknown' && !node.availability.isConfirmedGone;
      return {
        version: node.resourceVersion,
        // While the Node shows a storm, it is protected, or will show that it is not.
        isProtected: isOfStorm &&
          (isProtected || state !== 'Offline' || differsFrom(node.availability, wanted)),
      };
    },
  },
  forgets: 'node.observed',
  harness: nodeAvailabilityHarness(NODES, [POD, OTHER_POD]),
  limit: 60_000,
});
