/**
 * What drains do when their statecharts say so: pods are asked to leave and let go of, machines are
 * told, people hear of it.
 *
 * Promises: the UpcomingNode is told and never written from here (DR-40); nothing is asked of pods
 * for a drain that is over.
 */
import { foreignCordons } from '../../domain/drain/cordon.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { DrainFact } from '../../domain/shown-phase.ts';
import type { Time } from '../../domain/time.ts';
import type { NodeDrainContext, NodeDrainEnd } from '../../machines/node-drain-terms.ts';
import type { Drain } from './drain-record.ts';
import type { DrainVoice } from './drain-voice.ts';
import type { NodeDrainVoice } from './node-drain-acts.ts';
import type { PodEvictions } from '../pod-evictions/pod-evictions.ts';

/** Whom drains tell. */
export interface DrainDeedsOptions {
  readonly evictions: Pick<PodEvictions, 'want' | 'release'>;
  /** Resolves when the object shows it, or there is none. */
  readonly tellMachine: (machineId: string, fact: DrainFact) => Promise<void>;
  /** The machine whose Node it is; `undefined` while nobody knows. */
  readonly machineOf: (node: DrainedNode) => string | undefined;
  readonly voice: DrainVoice;
  /** `--pause-drains`. */
  readonly paused: boolean;
  /** Volumes that are attached to a node; for the last word about it. */
  readonly volumesOn?: (node: string) => readonly string[];
}

/** What the deeds need to know of the registry. */
export interface DrainDesk {
  /** `undefined` when nothing may be done for the node any more. */
  readonly drainOf: (node: string) => Drain | undefined;
  readonly requestSlot: (drain: Drain) => void;
}

/** Says once what is wrong with the cordon keys of a Node, until they change (DR-01). */
export const foreignKeys = (voice: Pick<DrainVoice, 'leftAlone'>) => {
  const told = new Map<string, string>();
  return {
    report: (node: DrainedNode): void => {
      if (told.size === 0 && Object.keys(node.cordons).length === 0) return;
      const foreign = foreignCordons(node);
      const text = JSON.stringify(foreign);
      if (foreign.length === 0) return void told.delete(node.name);
      if (told.get(node.name) === text) return;
      told.set(node.name, text);
      for (const { owner, why } of foreign) voice.leftAlone(node, owner, why);
    },
    forget: (name: string): void => {
      told.delete(name);
    },
  };
};

/** The node as far as it decides why pods are still there. */
export const nodeNow = (
  { node: begun, actor }: Drain,
  { paused }: Pick<DrainDeedsOptions, 'paused'>,
): DrainedNode => {
  const node = actor.getSnapshot().context.node ?? begun;
  return paused ? { ...node, paused } : node;
};

/** The deeds of all drains. */
export const drainDeeds = (
  time: Time,
  options: DrainDeedsOptions,
  { drainOf, requestSlot }: DrainDesk,
): NodeDrainVoice => {
  const { evictions, voice } = options;
  const tell = async (drain: Drain, fact: DrainFact): Promise<void> => {
    if (drain.machineId === '') drain.machineId = options.machineOf(drain.node) ?? '';
    if (drain.machineId !== '') await options.tellMachine(drain.machineId, fact);
  };
  const lastErrorOf = (drain: Drain): string => {
    const { mark, refusal, problem } = drain.actor.getSnapshot().context;
    if (mark === null) return `the node could not be cordoned: ${problem || 'nobody answered'}`;
    const remaining = drain.pods.remaining(nodeNow(drain, options));
    return refusal === '' ? remaining : `${refusal}; ${remaining}`;
  };
  const showEnd = async ({ node, end }: NodeDrainEnd): Promise<void> => {
    const drain = drainOf(node);
    if (drain === undefined) return;
    const lastError = end === 'Failed' ? lastErrorOf(drain) : '';
    voice.ended(drain.node, {
      end,
      seconds: (time.monotonic() - drain.sinceMs) / 1000,
      lastError,
      forbidden: drain.actor.getSnapshot().context.refusal !== '',
      volumes: options.volumesOn?.(node) ?? [],
    });
    await tell(drain, end === 'Failed' ? { _tag: end, lastError } : { _tag: end });
  };
  const ask = (drain: Drain, { startedTo }: NodeDrainContext): void => {
    for (const pod of drain.pods.unasked(startedTo)) {
      drain.pods.noteAsked(pod);
      evictions.want(pod, {
        node: drain.node.name,
        owner: 'reclaim',
        deadlineMonotonicMs: drain.deadline.atMs,
        drainSinceMs: drain.sinceMs,
        podsLeft: drain.pods.left,
      });
    }
  };
  const tellStarted = (drain: Drain, { mark }: NodeDrainContext): void => {
    if (drain.startTold || mark === null) return;
    drain.startTold = true;
    voice.started(drain.node, {
      ids: mark.ids,
      pods: drain.pods.left(),
      deadlineMs: mark.deadlineMs ?? time.now(),
    });
  };
  const of =
    (act: (drain: Drain, context: NodeDrainContext) => void) => (context: NodeDrainContext) => {
      const drain = drainOf(context.name);
      if (drain !== undefined) act(drain, context);
    };
  return {
    requestSlot: of(requestSlot),
    tellStarted: of(tellStarted),
    tellDraining: of((drain) => void tell(drain, { _tag: 'Draining' })),
    tellCordonFailing: of(({ node }, { problem }) => voice.cordonFailing(node, problem)),
    // The registry says so when it sees the Node.
    tellLeftAlone: () => {},
    askPodsToLeave: of(ask),
    releasePods: of(({ pods, node }) => {
      pods.noteReleased();
      evictions.release(node.name, 'reclaim');
    }),
    showEnd,
  };
};
