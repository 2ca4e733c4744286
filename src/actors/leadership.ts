/**
 * This process as a candidate: the `leadership` statechart over the API server, with a watch on the
 * Lease and the gate of all writes in its hand.
 *
 * Promises: the gate is opened and closed here alone; a standby hears of a release from the watch
 * and starts at once; without the watch it still finds out by its own clock.
 */
import type { ManagedRuntime } from 'effect';
import { type Observable, ReplaySubject } from 'rxjs';
import type { ActorRefFrom } from 'xstate';
import { defectText } from '../api/telemetry.ts';
import type { Fact, Identity } from '../domain/facts.ts';
import { type LeaseRecord, leaseRecordOf, type LeaseTimes } from '../domain/lease.ts';
import { identityOf } from '../domain/object-meta.ts';
import type { KubeApi } from '../effects/kube-api.ts';
import {
  acquireLease,
  type LeaseClaim,
  leasesPath,
  releaseLease,
  renewLease,
} from '../effects/leases.ts';
import { WriteGate } from '../effects/write-gate.ts';
import { leadership } from '../machines/leadership.ts';
import { startInformer } from './informers/informer.ts';
import { fromEffect } from './actor-logic.ts';
import type { ActorEnvironment } from './actor-environment.ts';

/** Who wants which lease. `identity` is of this process alone, never of a pod that may restart. */
export interface LeadershipOptions extends LeaseTimes {
  readonly identity: string;
  readonly namespace: string;
  readonly name: string;
}

/** The Lease as Events refer to it. */
export interface LeaseRef {
  readonly apiVersion: 'coordination.k8s.io/v1';
  readonly kind: 'Lease';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** A candidacy under way. */
export interface Leadership {
  /** The running statechart; another one after a defect. */
  readonly actor: ActorRefFrom<typeof leadership>;
  /** Says at once how it is, then every change. Completes with the release. */
  readonly leading: Observable<boolean>;
  /** May this process write now? Asks the monotonic clock, not only the state. */
  readonly leads: () => boolean;
  /** Lets go of the lease and wants it no more; resolves when that is done or given up. */
  readonly release: () => Promise<void>;
  /** The Lease, once it was seen. */
  readonly leaseSeen: Promise<LeaseRef>;
}

interface ObservedLease extends Identity {
  readonly lease: LeaseRecord;
}

const project = (raw: unknown): ObservedLease | undefined => {
  const identity = identityOf(raw);
  return identity === undefined ? undefined : { ...identity, lease: leaseRecordOf(raw) };
};

/** The lease that a fact is about; null when it says that there is none. */
const leaseIn = (fact: Fact<ObservedLease>): LeaseRecord | null => {
  switch (fact._tag) {
    case 'Listed':
      return fact.objects[0]?.lease ?? null;
    case 'Present':
      return fact.object.lease;
    case 'Absent':
      return null;
  }
};

/** After a defect of ours: long enough not to be a hot loop. */
const RESTART_MS = 1000;

/** The acts of the statechart on the API server. */
export const leadershipActs = (
  runtime: ManagedRuntime.ManagedRuntime<KubeApi, never>,
  claim: LeaseClaim,
) => ({
  acquireLease: fromEffect(
    runtime,
    ({ expiredRevision }: { readonly expiredRevision: string | null }) =>
      acquireLease(claim, expiredRevision),
  ),
  renewLease: fromEffect(
    runtime,
    ({ lease }: { readonly lease: LeaseRecord | null }) => renewLease(claim, lease),
  ),
  releaseLease: fromEffect(runtime, (_: undefined) => releaseLease(claim)),
});

/** What the statechart's actions do to the gate. */
const gateActions = (gate: () => WriteGate['Service']) => ({
  openGate: ({ context }: { readonly context: { readonly deadlineMs: number } }) =>
    gate().openUntil(context.deadlineMs),
  closeGate: () => gate().close('this process does not hold the lease any more'),
});

/** Starts to want the lease at once. */
export const startLeadership = (
  environment: ActorEnvironment<KubeApi | WriteGate>,
  options: LeadershipOptions,
): Leadership => {
  const { telemetry } = environment;
  const { identity, namespace, name, leaseMs, renewMs, retryMs } = options;
  // The gate is there by the time anything leads: the act that took the lease ran in this runtime.
  const gate = () => environment.runtime.runSync(WriteGate);
  const claim = { identity, namespace, name, leaseMs, timeoutMs: renewMs / 2 };
  const machine = leadership.provide({
    actors: leadershipActs(environment.runtime, claim),
    actions: gateActions(gate),
  });
  const states = new ReplaySubject<boolean>(1);
  const ended = Promise.withResolvers<void>();
  let wanted = true;
  let shown: boolean | undefined;
  const show = (leads: boolean, why = ''): void => {
    if (leads === shown) return;
    if (leads) telemetry.log('info', 'This process leads', { lease: name, identity });
    else if (shown && wanted) {
      telemetry.log('warn', 'This process leads no more', { lease: name, why });
    } else if (shown) telemetry.log('info', 'This process gives its lease back', { lease: name });
    shown = leads;
    telemetry.gauge('leader_election_master_status', leads ? 1 : 0, { name });
    states.next(leads);
  };
  const finish = (): void => {
    reflector.stop();
    show(false);
    states.complete();
    ended.resolve();
  };
  const start = (): ActorRefFrom<typeof leadership> => {
    const next = environment.actor(machine, `leadership/${namespace}/${name}`, {
      identity,
      leaseMs,
      renewMs,
      retryMs,
      seed: environment.seed(),
    });
    next.subscribe({
      next: (snapshot) => show(snapshot.matches('leading'), snapshot.context.problem),
      error: (cause) => {
        telemetry.log('error', 'The candidacy failed by a defect and starts again', {
          problem: defectText(cause),
        });
        gate().close('the candidacy failed by a defect');
        show(false);
        if (!wanted) return finish();
        environment.time.schedule(RESTART_MS, () => {
          if (wanted) actor = start();
          else finish();
        });
      },
      complete: finish,
    });
    next.start();
    return next;
  };
  const reflector = startInformer(environment, {
    id: 'leases',
    path: leasesPath(namespace),
    query: { fieldSelector: `metadata.name=${name}` },
    project,
  });
  let actor = start();
  const leaseSeen = Promise.withResolvers<LeaseRef>();
  reflector.facts.subscribe((fact) => {
    actor.send({ type: 'lease.observed', lease: leaseIn(fact) });
    const [seen] = [...reflector.values()];
    if (seen === undefined) return;
    const { uid } = seen;
    leaseSeen.resolve({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      namespace,
      name,
      uid,
    });
  });

  return {
    get actor() {
      return actor;
    },
    leading: states.asObservable(),
    leads: () => actor.getSnapshot().matches('leading') && gate().permit()._tag === 'Open',
    release: () => {
      wanted = false;
      actor.send({ type: 'release.requested' });
      return ended.promise;
    },
    leaseSeen: leaseSeen.promise,
  };
};
