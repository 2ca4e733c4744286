/**
 * The actors of all machines: who is awake, who has a turn, who may sleep.
 *
 * Promises: an actor is woken only when something is owed; it sleeps only when the cache shows what
 * it knows, so that waking never begins from an older truth; one that ends by a defect is started
 * again.
 */
import { Effect } from 'effect';
import type { ActorRefFrom, SnapshotFrom } from 'xstate';
import type { RecordEvent } from '../../api/event-note.ts';
import { defectText } from '../../api/telemetry.ts';
import { configuredPatch } from '../../domain/drain/cordon-patch.ts';
import { type NodeLink, nodeLinkOf, sameNodeLink } from '../../domain/node-link.ts';
import type { WriteOutcome } from '../../domain/object-write.ts';
import { isOlder } from '../../domain/revisions.ts';
import {
  drainShown,
  owedWrite,
  readinessUntold,
  standingOf,
  UNBOUND,
  type UpcomingNodeFacts,
  type UpcomingNodeProjection,
} from '../../domain/upcoming-node.ts';
import { Cordons } from '../../effects/cordons.ts';
import type { UpcomingNodes } from '../../effects/upcoming-nodes.ts';
import type { UpcomingNodeContext } from '../../machines/upcoming-node-terms.ts';
import type { upcomingNode } from '../../machines/upcoming-node.ts';
import { quietActors } from '../quiet-actors.ts';
import { innermostState, stateCounts } from '../state-counts.ts';
import { startConcurrencyLimit } from '../concurrency-limit.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { writeDoor } from '../write-door.ts';
import type { Member, Roster } from './machine-roster.ts';
import { provideUpcomingNode, type ReleaseNode } from './upcoming-node-acts.ts';
import { upcomingNodeVoice } from './upcoming-node-voice.ts';

/** Machines that write at once (wire: rule 4). */
export const MACHINES_AT_ONCE = 32;
/** Machines beside them whose drain has something to show: it never waits behind frames. */
export const DRAINED_AT_ONCE = 16;
/** Settled actors that are kept awake, to be looked at; more of them sleep. */
export const QUIET_ACTORS_MAX = 2000;
/** After a defect of ours: long enough not to be a hot loop. */
const RESTART_MS = 30_000;

export type MachineActor = ActorRefFrom<typeof upcomingNode>;
export type Machine = Member<MachineActor>;

/** What the actors need to know, and where they speak. */
export interface PopulationOptions {
  readonly roster: Roster<MachineActor>;
  readonly object: (key: Machine['key']) => UpcomingNodeProjection | undefined;
  readonly record: RecordEvent;
}

/** The actors of all machines. */
export interface Population {
  /** Tells an actor that is awake what is new; wakes one that sleeps when something is owed. */
  readonly consider: (machine: Machine) => void;
  /** The object went; who has ended for good is forgotten. */
  readonly vanish: (machine: Machine, last: UpcomingNodeProjection) => void;
  /** Forgets what was said of every machine; nothing is owed until it is said again. */
  readonly renounce: () => void;
  readonly counts: () => Readonly<Record<string, number>>;
  readonly idle: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Takes the `reclaim` key off a Node, as far as that is still owed on what it shows by then. */
export const releasing =
  (roster: Pick<Roster<MachineActor>, 'nodeNamed' | 'nodeSeen'>): ReleaseNode => (name) =>
    Effect.gen(function* (): Effect.fn.Return<WriteOutcome<NodeLink>, never, Cordons> {
      const { patch } = yield* Cordons;
      const node = roster.nodeNamed(name);
      if (node === undefined) return { _tag: 'Absent' };
      const body = configuredPatch(node);
      if (body === undefined) return { _tag: 'Written', shown: nodeLinkOf(node) };
      const outcome = yield* patch({ node: name, purpose: 'release', body });
      switch (outcome._tag) {
        case 'Written': {
          const released = { ...node, ...outcome.node };
          roster.nodeSeen(released);
          return { _tag: 'Written', shown: nodeLinkOf(released) };
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

/** Nobody is awake at first. */
export const makePopulation = (
  environment: ActorEnvironment<UpcomingNodes | Cordons>,
  { roster, object, record }: PopulationOptions,
): Population => {
  const { telemetry, time } = environment;
  const counts = stateCounts((state, count) =>
    telemetry.gauge('tidegate_machines', count, { state })
  );
  const door = writeDoor();
  const voice = upcomingNodeVoice(telemetry, time, record);
  let stopped = false;
  let renouncing = false;

  const showState = (machine: Machine, state: string | undefined): void => {
    counts.move(machine.state, state);
    machine.state = state;
  };
  const rest = (machine: Machine): void => {
    machine.owedSinceMs = undefined;
    showState(machine, roster.forget(machine) ? undefined : 'asleep');
  };
  const sleep = (machine: Machine): void => {
    const { actor } = machine;
    machine.actor = undefined;
    quiet.stir(machine);
    actor?.stop();
    rest(machine);
  };
  const cacheCaughtUp = (machine: Machine, { facts, newest }: UpcomingNodeContext): boolean => {
    const cached = object(machine.key);
    if (cached === undefined) return facts.shown === null;
    if (facts.shown === null) return false;
    return newest === null || !isOlder(cached.revision, newest);
  };
  const quiet = quietActors<Machine>(QUIET_ACTORS_MAX, (machine) => {
    const context = machine.actor?.getSnapshot().context;
    if (context !== undefined && !cacheCaughtUp(machine, context)) return false;
    sleep(machine);
    return true;
  });
  const answerDrain = (machine: Machine): void => {
    if (machine.awaiting.length === 0) return;
    const facts = machine.actor?.getSnapshot().context.facts ?? roster.facts(machine);
    const isTold = facts.drain === (machine.drain ?? null);
    if (!isTold || !drainShown(machine.machineId, facts)) return;
    for (const resolve of machine.awaiting.splice(0)) resolve();
  };
  const measure = (machine: Machine, facts: UpcomingNodeFacts): void => {
    if (machine.owedSinceMs === undefined) return;
    const seconds = (time.monotonic() - machine.owedSinceMs) / 1000;
    const phase = standingOf(facts) ?? 'Gone';
    machine.owedSinceMs = undefined;
    telemetry.observe('bigfleet_operator_node_state_update_duration_seconds', seconds, { phase });
  };
  const moved = (machine: Machine, snapshot: SnapshotFrom<typeof upcomingNode>): void => {
    showState(machine, innermostState(snapshot.value));
    answerDrain(machine);
    if (!snapshot.hasTag('settled')) return quiet.stir(machine);
    measure(machine, snapshot.context.facts);
    if (snapshot.matches('gone') && cacheCaughtUp(machine, snapshot.context)) sleep(machine);
    else quiet.rest(machine);
  };
  const restart = (machine: Machine, cause: unknown): void => {
    telemetry.count('tidegate_actor_defects_total', 1, { machine: 'upcomingNode' });
    telemetry.log('error', 'The actor of a machine failed by a defect and starts again', {
      machine: machine.machineId,
      problem: defectText(cause),
    });
    sleep(machine);
    time.schedule(RESTART_MS, () => consider(machine));
  };
  /** `undefined` when there turned out to be nothing left to do. */
  const wake = (machine: Machine): MachineActor | undefined => {
    if (machine.actor !== undefined) return machine.actor;
    const actor = environment.actor(logic, `upcomingNode/${machine.machineId}`, {
      machineId: machine.machineId,
      name: machine.key,
      facts: roster.facts(machine),
      toldReady: machine.toldReady,
      seed: environment.seed(),
    });
    machine.actor = actor;
    actor.subscribe({
      next: (snapshot) => {
        if (machine.actor === actor) moved(machine, snapshot);
      },
      error: (cause) => restart(machine, cause),
    });
    actor.start();
    return machine.actor;
  };
  const taking = { frames: 0, drains: 0 };
  const turnsFor = (whom: keyof typeof taking, atOnce: number) =>
    startConcurrencyLimit<Machine>({
      atOnce,
      name: ({ machineId }) => machineId,
      wake: (machine) => (stopped || renouncing ? undefined : wake(machine)),
      onTaking: (count) => {
        taking[whom] = count;
        const all = taking.frames + taking.drains;
        telemetry.gauge('bigfleet_operator_dispatch_inflight', all);
      },
    });
  const turns = turnsFor('frames', MACHINES_AT_ONCE);
  const drainTurns = turnsFor('drains', DRAINED_AT_ONCE);
  const ask = (machine: Machine): void =>
    (machine.awaiting.length > 0 ? drainTurns : turns).ask(machine);
  const logic = provideUpcomingNode(environment.runtime, {
    ...voice,
    askForTurn: ({ machineId }) => {
      const machine = roster.get(machineId);
      if (machine !== undefined && !stopped) ask(machine);
    },
    tellNodeReady: (context) => {
      const machine = roster.get(context.machineId);
      if (machine !== undefined) machine.toldReady = context.facts.node?.uid ?? '';
      voice.tellNodeReady(context);
    },
  }, { through: door.through, releaseNode: releasing(roster) });

  const considerAsleep = (machine: Machine): void => {
    const facts = roster.facts(machine);
    const owed = owedWrite(machine.machineId, facts) !== undefined;
    if (!owed && !readinessUntold(facts, machine.toldReady)) return rest(machine);
    showState(machine, 'waiting');
    ask(machine);
  };
  const considerAwake = (machine: Machine, actor: MachineActor): void => {
    const { facts, newest } = actor.getSnapshot().context;
    const { said } = machine;
    if (said !== undefined && said !== facts.said) {
      actor.send(
        said === UNBOUND ? { type: 'machine.unbound' } : { type: 'machine.observed', said },
      );
    }
    const drain = machine.drain ?? null;
    if (drain !== facts.drain) actor.send({ type: 'drain.observed', drain });
    const node = roster.node(machine);
    if (!sameNodeLink(node, facts.node)) actor.send({ type: 'node.observed', node });
    const shown = object(machine.key);
    if (shown !== undefined && shown.revision !== newest) {
      actor.send({ type: 'object.observed', shown });
    }
  };
  const consider = (machine: Machine): void => {
    if (stopped) return;
    roster.settleDrain(machine);
    if (machine.actor === undefined) considerAsleep(machine);
    else considerAwake(machine, machine.actor);
    answerDrain(machine);
    // One that waits its turn for a frame has asked for that one only.
    if (machine.awaiting.length > 0 && machine.state === 'waiting') drainTurns.ask(machine);
  };

  return {
    consider,
    vanish: (machine, last) => {
      machine.actor?.send({ type: 'object.vanished', last });
      if (machine.actor?.getSnapshot().matches('gone') === true) sleep(machine);
      else consider(machine);
    },
    renounce: () => {
      // Whoever sleeps gives its turn to the next, who must not wake up for it.
      renouncing = true;
      for (const machine of [...roster.members()]) {
        machine.said = undefined;
        machine.drain = undefined;
        machine.outlivedDrain = false;
        // Whoever waits leads no longer either.
        machine.awaiting = [];
        sleep(machine);
      }
      renouncing = false;
    },
    counts: counts.all,
    idle: async () => {
      await turns.idle();
      await drainTurns.idle();
    },
    stop: async () => {
      stopped = true;
      turns.stop();
      drainTurns.stop();
      await door.close();
      for (const { actor } of roster.members()) actor?.stop();
    },
  };
};
