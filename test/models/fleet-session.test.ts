/** The session with the shard, walked through every configuration. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect } from 'vitest';
import {
  provideFleetSession,
  sessionState,
} from '../../src/actors/fleet-session/fleet-session-actor.ts';
import { makeActorEnvironment } from '../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import { booleanAt } from '../../src/domain/json.ts';
import { clusterId } from '../../src/domain/ids.ts';
import { simulatedTime } from '../support/time/simulated-time.ts';
import { Credentials } from '../../src/effects/credentials.ts';
import { ShardCalls } from '../../src/effects/shard-call.ts';
import {
  type FleetSessionContext,
  isRefused,
  isUnreachable,
} from '../../src/machines/fleet-session-context.ts';
import { fleetSession } from '../../src/machines/fleet-session.ts';
import { sessionMoves } from './fleet-session-invariants.ts';
import { describeModel, type InvokedActors } from './model.ts';

/** What outlives a process: who leads, whether the list can be had, what the key files hold. */
interface ProcessEnvironment {
  readonly leads: boolean;
  readonly listed: boolean;
  readonly credentials: 'Unneeded' | 'Unread' | 'Accepted' | 'Refused';
  readonly wanted: boolean;
}

const processEnvironment: ProcessEnvironment = {
  leads: false,
  listed: false,
  credentials: 'Unread',
  wanted: true,
};

const PROBLEM = 'the certificate names another cluster';

/** The statechart as the operator wires it, over a stream that ends when the path ends it. */
const wired = (invoked: InvokedActors) => {
  const time = simulatedTime();
  const runtime = ManagedRuntime.make(Layer.merge(
    Layer.succeed(ShardCalls, { open: () => Effect.never }),
    Layer.succeed(Credentials, { read: () => Effect.never }),
  ));
  const world = makeActorEnvironment({ time, runtime, telemetry: silentTelemetry, firstSeed: 1 });
  const options = {
    clusterId: clusterId('prod-1'),
    address: 'shard:7780',
    rollupIntervalMs: 10_000,
    render: () => ({ _tag: 'Failed', problem: '' } as const),
    record: () => {},
  };
  return provideFleetSession({ environment: world, options, state: sessionState(world) }, {
    hold: Effect.promise(() => invoked.perform('holdStream', {})),
    closeSending: () => {},
  });
};

describeModel('fleetSession', {
  machine: fleetSession,
  wire: wired,
  inputs: [
    { rollupIntervalMs: 10_000, renewalDelayMs: 30_000, secured: false, stream: 0, seed: 1 },
    { rollupIntervalMs: 10_000, renewalDelayMs: 30_000, secured: true, stream: 0, seed: 1 },
  ],
  events: {
    'credentials.refused': [{ problem: PROBLEM }],
    'xstate.done.actor.holdStream': [
      { output: { why: 'EndedByShard', detail: 'UNAVAILABLE: gone' } },
      { output: { why: 'RefusedByShard', detail: 'PERMISSION_DENIED: not your cluster' } },
    ],
    'xstate.error.actor.holdStream': [{ error: new Error('planted') }],
  },
  project: (context: FleetSessionContext) => ({
    leading: context.leading,
    demandListed: context.demandListed,
    credentials: context.credentials,
    pairReplaced: context.pairReplaced,
    unproven: context.attempt > 0,
    outage: isUnreachable(context),
    refused: isRefused(context),
  }),
  invariant: (snapshot, actions) => {
    const { context } = snapshot;
    if (snapshot.matches('connected') && !snapshot.matches({ connected: 'stopping' })) {
      expect(context.leading, 'only the leader holds a stream').toBe(true);
      expect(context.demandListed, 'wire 5: no dial before the list is complete').toBe(true);
    }
    if (actions.includes('invoke:holdStream')) {
      expect(['Unneeded', 'Accepted']).toContain(context.credentials);
    }
    if (actions.includes('requestRollup')) {
      expect(snapshot.matches({ connected: { streaming: { rollup: 'idle' } } })).toBe(true);
    }
    if (actions.includes('publishResynced')) {
      expect(snapshot.matches({ connected: { streaming: { resync: 'resynced' } } })).toBe(true);
      expect(actions, 'only the ack of a roll-up proves a resync').toContain(
        'recordRollupAcknowledged',
      );
      expect(context.attempt, 'wire 7: the first ack resets the backoff').toBe(0);
    }
  },
  settles: (snapshot) =>
    snapshot.status === 'done' ||
    snapshot.matches({ connected: { streaming: { resync: 'resynced' } } }) ||
    snapshot.matches({ connected: { streaming: { resync: 'unproven' } } }),
  stepInvariant: sessionMoves,
  crash: {
    world: processEnvironment,
    record: (world: ProcessEnvironment, { event }): ProcessEnvironment => {
      switch (event.type) {
        case 'xstate.init':
          return booleanAt(event, 'input', 'secured') === true
            ? world
            : { ...world, credentials: 'Unneeded' };
        case 'leadership.won':
          return { ...world, leads: true };
        case 'leadership.lost':
          return { ...world, leads: false, listed: false };
        case 'demand.listed':
          return { ...world, listed: true };
        case 'credentials.accepted':
          return { ...world, credentials: 'Accepted' };
        case 'credentials.refused':
          return { ...world, credentials: 'Refused' };
        case 'stop.requested':
          return { ...world, wanted: false };
        default:
          return world;
      }
    },
    restart: (world) => ({
      input: {
        rollupIntervalMs: 10_000,
        renewalDelayMs: 30_000,
        secured: world.credentials !== 'Unneeded',
        stream: 0,
        seed: 1,
      },
      events: [
        ...(world.leads ? [{ type: 'leadership.won' }] : []),
        ...(world.listed ? [{ type: 'demand.listed' }] : []),
        ...(world.credentials === 'Accepted' ? [{ type: 'credentials.accepted' }] : []),
        ...(world.credentials === 'Refused'
          ? [{ type: 'credentials.refused', problem: PROBLEM }]
          : []),
        ...(world.wanted ? [] : [{ type: 'stop.requested' }]),
      ],
    }),
    // A session's only obligation: whoever should hold a stream holds or dials one.
    obligations: ({ context, ...snapshot }) => ({
      leading: context.leading,
      ends: snapshot.status === 'done' || snapshot.matches({ connected: 'stopping' }),
      seeksStream: snapshot.status === 'active' && context.leading && context.demandListed &&
        !snapshot.matches({ connected: 'stopping' }),
    }),
    expected: ({ leads, listed, wanted }) => ({
      leading: leads,
      ends: !wanted,
      seeksStream: wanted && leads && listed,
    }),
  },
  forgets: 'demand.listed',
});
