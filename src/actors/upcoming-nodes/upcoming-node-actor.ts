/**
 * The `upcomingNode` statechart with its writes to the API server, its Events and its log lines.
 *
 * Promises: the readiness of a Node gets one Event; objects that cannot be written get an Event
 * each and one log line together.
 */
import { Effect, type ManagedRuntime } from 'effect';
import type { EventNote, RecordEvent } from '../../api/event-note.ts';
import type { Telemetry } from '../../api/telemetry.ts';
import { configuredPatch } from '../../domain/drain/cordon-patch.ts';
import { type NodeLink, nodeLinkOf } from '../../domain/node-link.ts';
import type { WriteOutcome } from '../../domain/object-write.ts';
import type { Time } from '../../domain/time.ts';
import { Cordons } from '../../effects/cordons.ts';
import { UpcomingNodes } from '../../effects/upcoming-nodes.ts';
import type { UpcomingNodeAct, UpcomingNodeContext } from '../../machines/upcoming-node-terms.ts';
import { upcomingNode } from '../../machines/upcoming-node.ts';
import { fromEffect, type WriteInFlight } from '../actor-logic.ts';
import { warningAggregator } from '../warning-aggregator.ts';
import type { MachineIndex } from './machine-index.ts';

/** The actions of the statechart. */
export interface UpcomingNodeActions {
  readonly requestSlot: (context: UpcomingNodeContext) => void;
  readonly recordNodeReady: (context: UpcomingNodeContext) => void;
  readonly recordRefused: (context: UpcomingNodeContext) => void;
  readonly recordFailing: (context: UpcomingNodeContext) => void;
}

/** Removes the `reclaim` key from the Node of that name, if that is still pending. */
export type ReleaseNode = (node: string) => Effect.Effect<WriteOutcome<NodeLink>, never, Cordons>;

/** How the statechart writes. */
export interface UpcomingNodeWrites {
  readonly inFlight: WriteInFlight;
  readonly releaseNode: ReleaseNode;
}

/** The statechart, provided once for all machines. */
export const provideUpcomingNode = (
  runtime: ManagedRuntime.ManagedRuntime<UpcomingNodes | Cordons, never>,
  actions: UpcomingNodeActions,
  { inFlight, releaseNode }: UpcomingNodeWrites,
): typeof upcomingNode => {
  const write = (verb: keyof UpcomingNodes['Service']) =>
    fromEffect(runtime, (input: UpcomingNodeAct) =>
      Effect.gen(function* () {
        const upcomingNodes = yield* UpcomingNodes;
        return yield* inFlight(upcomingNodes[verb](input));
      }));
  return upcomingNode.provide({
    actors: {
      createObject: write('create'),
      patchStatus: write('patchStatus'),
      patchSpec: write('patchSpec'),
      deleteObject: write('remove'),
      releaseNode: fromEffect(
        runtime,
        ({ facts }) => inFlight(releaseNode(facts.node?.name ?? '')),
      ),
    },
    actions: {
      requestSlot: ({ context }) => actions.requestSlot(context),
      recordNodeReady: ({ context }) => actions.recordNodeReady(context),
      recordRefused: ({ context }) => actions.recordRefused(context),
      recordFailing: ({ context }) => actions.recordFailing(context),
    },
  });
};

/** Removes the `reclaim` key from a Node, as far as the Node by then still has it to give. */
export const releaseFrom =
  (index: Pick<MachineIndex, 'nodeNamed' | 'putNode'>): ReleaseNode => (name) =>
    Effect.gen(function* (): Effect.fn.Return<WriteOutcome<NodeLink>, never, Cordons> {
      const { patch } = yield* Cordons;
      const node = index.nodeNamed(name);
      if (node === undefined) return { _tag: 'Absent' };
      const body = configuredPatch(node);
      if (body === undefined) return { _tag: 'Written', current: nodeLinkOf(node) };
      const outcome = yield* patch({ node: name, purpose: 'release', body });
      switch (outcome._tag) {
        case 'Written': {
          const released = { ...node, ...outcome.node };
          index.putNode(released);
          return { _tag: 'Written', current: nodeLinkOf(released) };
        }
        case 'Gone':
          return { _tag: 'Absent' };
        case 'Conflict':
          return { _tag: 'Fault', why: 'the Node changed meanwhile' };
        case 'Refused':
        case 'Fault':
          return outcome;
      }
    });

const objectIn = ({ name, facts }: UpcomingNodeContext): EventNote['regarding'] => ({
  apiVersion: 'bigfleet.lucy.sh/v1alpha1',
  kind: 'UpcomingNode',
  name,
  uid: facts.current?.uid ?? '',
});

/** Records the Events of UpcomingNodes. */
export const upcomingNodeEvents = (
  { telemetry, time }: { readonly telemetry: Telemetry; readonly time: Time },
  record: RecordEvent,
): Omit<UpcomingNodeActions, 'requestSlot'> => {
  const warn = warningAggregator(telemetry, time, 'UpcomingNodes could not be written');
  const recordProblem = (reason: EventNote['reason']) => (context: UpcomingNodeContext): void => {
    const { name, problem } = context;
    warn({ name, reason, problem });
    const note = `Cannot write UpcomingNode "${name}": ${problem}`;
    record({ regarding: objectIn(context), reason, note });
  };
  return {
    recordNodeReady: (context) =>
      record({
        regarding: objectIn(context),
        reason: 'NodeReady',
        note: `Node "${context.facts.node?.name ?? ''}" is Ready`,
      }),
    recordRefused: recordProblem('WriteRefused'),
    recordFailing: recordProblem('WriteFailing'),
  };
};
