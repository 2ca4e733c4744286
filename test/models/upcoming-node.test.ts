/** One machine and its object, walked through every configuration. */
import { expect } from 'vitest';
import type { MachineObservation, MachineState } from '../../src/domain/frames.ts';
import { machineId } from '../../src/domain/ids.ts';
import { endsObject } from '../../src/domain/machine-phase.ts';
import {
  type NodeLink,
  owedWrite,
  projectUpcomingNode,
  sight,
  type Sighting,
  standingOf,
  UNBOUND,
  type UpcomingNodeProjection,
} from '../../src/domain/upcoming-node.ts';
import { upcomingNode, type UpcomingNodeContext } from '../../src/machines/upcoming-node.ts';
import { describeModel } from './model.ts';

const frame = (state: MachineState): MachineObservation => ({
  machineId: machineId('m1'),
  state,
  nodeName: '',
  providerId: 'host-1',
  lastError: '',
  labels: {},
  resources: { cpu: '1' },
  taints: [],
});

const said = (...states: readonly MachineState[]): Sighting =>
  states.reduce<Sighting | undefined>(
    (before, state) => sight(before, frame(state), 0),
    undefined,
  ) ??
    UNBOUND;

/** A revision is what the object says, so that equal revisions are equal objects. */
const shown = (phase: string, cpu = '1'): UpcomingNodeProjection => {
  const projection = projectUpcomingNode({
    metadata: {
      name: 'un-m1',
      uid: 'u1',
      resourceVersion: `${phase}${cpu}`,
      annotations: { 'bigfleet.lucy.sh/machine-id': 'm1' },
    },
    spec: { resources: { cpu } },
    status: phase === '' ? {} : { phase, providerID: 'host-1', provisioningStartTime: 'T' },
  });
  if (projection === undefined) throw new Error('No projection');
  return projection;
};

const node: NodeLink = { name: 'n1', uid: 'nu1', ready: true };
const readyOnNode = { ...shown('Ready'), nodeName: 'n1', nodeUid: 'nu1' };
const CONFIGURED = said('Configured');

/** What outlives the process: the object, the Node, and what the shard would replay. */
interface World {
  readonly shown: UpcomingNodeProjection | null;
  readonly node: NodeLink | null;
  /** `Unbound` machines are not replayed; the end of the replay says so. */
  readonly shard: 'Silent' | 'Unbound' | 'Configured';
}

const shardAfter = ({ standing }: Sighting): World['shard'] =>
  standing === null || endsObject(standing) ? 'Unbound' : 'Configured';

const inputOf = (object: UpcomingNodeProjection | null, sighting: Sighting | null = null) => ({
  machineId: 'm1',
  name: 'un-m1',
  facts: { said: sighting, shown: object, node: null },
  toldReady: '',
  seed: 1,
});

const WRITTEN_TWICE = 'two writes of one machine were in flight at a time';

describeModel('upcomingNode', {
  machine: upcomingNode,
  inputs: [inputOf(null)],
  events: {
    'machine.observed': [
      { said: CONFIGURED },
      { said: said('Configuring', 'Draining', 'Idle') },
      { said: said('Idle') },
    ],
    'object.observed': [
      { shown: shown('Ready') },
      { shown: shown('Ready', '2') },
      { shown: shown('Draining') },
    ],
    'object.vanished': [{ last: shown('Ready') }, { last: { uid: 'another', revision: 'r' } }],
    'node.observed': [{ node }],
    'xstate.done.actor.createObject': [
      { output: { _tag: 'Written', shown: shown('') } },
      { output: { _tag: 'Fault', why: 'planted' } },
      { output: { _tag: 'Refused', why: 'planted' } },
    ],
    'xstate.done.actor.patchStatus': [
      { output: { _tag: 'Written', shown: shown('Ready') } },
      { output: { _tag: 'Written', shown: shown('Drained') } },
      { output: { _tag: 'Written', shown: readyOnNode } },
      { output: { _tag: 'Absent' } },
    ],
    'xstate.done.actor.patchSpec': [{ output: { _tag: 'Written', shown: shown('Ready') } }],
    'xstate.done.actor.deleteObject': [{ output: { _tag: 'Absent' } }],
  },
  project: ({ facts, attempt, verdict, newest, toldReady }: UpcomingNodeContext) => ({
    said: facts.said === null ? null : [facts.said.standing, facts.said.state],
    shown: facts.shown === null ? null : [facts.shown.revision, facts.shown.nodeName],
    node: facts.node?.name,
    newest,
    toldReady,
    attempt: Math.min(attempt, 5),
    verdict,
  }),
  invariant: (snapshot, acts) => {
    const { facts } = snapshot.context;
    const begun = acts.filter((act) => act.startsWith('invoke:'));
    expect(begun.length, WRITTEN_TWICE).toBeLessThanOrEqual(1);
    if (begun.length > 0) expect(snapshot.hasTag('acting'), 'writes need a turn').toBe(true);
    if (snapshot.hasTag('settled')) expect(owedWrite('m1', facts)).toBeUndefined();
    if (acts.includes('invoke:createObject')) expect(facts.shown).toBeNull();
    if (acts.includes('invoke:deleteObject')) {
      expect(standingOf(facts), 'only what ended is deleted').toSatisfy(endsObject);
    }
    if (acts.includes('tellNodeReady')) expect(facts.node?.ready).toBe(true);
  },
  crash: {
    world: { shown: null, node: null, shard: 'Silent' } satisfies World,
    record: (world: World, { event, before, after }): World => {
      const { facts } = after.context;
      switch (event.type) {
        case 'machine.observed':
          return { ...world, shard: facts.said === null ? 'Silent' : shardAfter(facts.said) };
        case 'machine.unbound':
          return { ...world, shard: 'Unbound' };
        case 'node.observed':
          return { ...world, node: facts.node };
        default:
          return before === after ? world : { ...world, shown: facts.shown };
      }
    },
    restart: (world) => ({
      input: inputOf(world.shown),
      events: [
        ...(world.shard === 'Configured' ? [{ type: 'machine.observed', said: CONFIGURED }] : []),
        ...(world.shard === 'Unbound' ? [{ type: 'machine.unbound' }] : []),
        ...(world.node === null ? [] : [{ type: 'node.observed', node: world.node }]),
      ],
    }),
    obligations: ({ context }: { context: UpcomingNodeContext }) => {
      const standing = standingOf(context.facts);
      if (context.facts.said === null) return 'nothing';
      return standing === null || endsObject(standing)
        ? { object: context.facts.shown === null ? 'absent' : 'to be deleted' }
        : { phase: standing, spec: context.facts.said.spec, node: context.facts.node };
    },
  },
  limit: 20_000,
});
