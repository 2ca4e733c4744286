/**
 * Turns CapacityRequests into roll-ups: maintains the demand, offers it to the session on each new
 * stream and every interval after that, and acknowledges requests after the shard did.
 *
 * Promises: while demand is held, roll-ups repeat the demand of the moment at which it was held
 * (WIRE-05); an invalid request affects no other and gets one Event that names the field, and says
 * whether an earlier version of the request counts.
 */
import { concat, EMPTY, filter, interval, of, Subscription, switchMap } from 'rxjs';
import type { EventNote, RecordEvent } from '../../api/event-note.ts';
import { GROUP_VERSION } from '../../domain/api-group.ts';
import { type Demand, makeDemand, type Observed } from '../../domain/demand/demand.ts';
import { problemsText } from '../../domain/demand/reading.ts';
import type { CapacityRequestProjection } from '../../domain/demand/request.ts';
import type { Fact } from '../../domain/facts.ts';
import type { ObjectKey } from '../../domain/ids.ts';
import type { Rollup } from '../../domain/session.ts';
import { cutTextToBytes } from '../../domain/text.ts';
import type { CapacityRequests } from '../../effects/capacity-requests.ts';
import { startAcknowledgements, startPendingPhases } from './acknowledgements.ts';
import type { FleetSession } from '../fleet-session/fleet-session.ts';
import type { Informer } from '../informers/informer.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

export interface RollupsOptions {
  readonly session: Pick<
    FleetSession,
    'shardEvents' | 'acknowledged' | 'offerRollup' | 'leading'
  >;
  readonly requests: Pick<Informer<CapacityRequestProjection>, 'facts' | 'get'>;
  /** `--rollup-interval`. */
  readonly intervalMs: number;
  /** `--ack-concurrency`. */
  readonly ackConcurrency: number;
  readonly record: RecordEvent;
}

export interface Rollups {
  /** The current demand. */
  readonly demand: Demand;
  /** Roll-ups repeat the demand of this moment until `release`. */
  readonly hold: () => void;
  readonly release: () => void;
  readonly stop: () => void;
}

/** An invalid request, and whether an earlier version of it counts. */
interface Invalid {
  readonly request: CapacityRequestProjection;
  readonly keepsLastGood: boolean;
}

/** Leaves room for the sentence about the last valid version in the 1,024 bytes of a note. */
const PROBLEM_BYTES_MAX = 940;

/** Only a request that was acknowledged is known to have had a valid version (WIRE-05). */
const lastValidSentence = ({ request, keepsLastGood }: Invalid): string => {
  if (keepsLastGood) return 'Its last valid version still counts, until this process ends';
  return request.phase === 'Acknowledged'
    ? 'It does not count: this process does not know its last valid version'
    : '';
};

const warningText = (invalid: Invalid): string => {
  const { reading } = invalid.request;
  const problem = reading._tag === 'Unreadable' ? problemsText(reading.problems) : '';
  const sentence = lastValidSentence(invalid);
  if (sentence === '') return problem;
  const cut = cutTextToBytes(problem, PROBLEM_BYTES_MAX);
  return cut === problem ? `${problem}. ${sentence}` : `${cut}… ${sentence}`;
};

const eventAbout = (invalid: Invalid): EventNote => {
  const { key, uid, reading } = invalid.request;
  const slash = key.indexOf('/');
  return {
    regarding: {
      apiVersion: GROUP_VERSION,
      kind: 'CapacityRequest',
      namespace: key.slice(0, slash),
      name: key.slice(slash + 1),
      uid,
    },
    reason: reading._tag === 'Unreadable' && reading.tooLarge
      ? 'CapacityRequestTooLarge'
      : 'InvalidCapacityRequest',
    note: warningText(invalid),
  };
};

/** Unreadable requests; each gets an Event once, when this process leads. */
const unreadableRequests = (environment: ActorEnvironment<never>, options: RollupsOptions) => {
  const unrecorded = new Map<ObjectKey, Invalid>();
  let leading = false;
  const recordAll = (): void => {
    if (!leading) return;
    for (const invalid of unrecorded.values()) {
      const event = eventAbout(invalid);
      environment.telemetry.log('warn', 'Invalid CapacityRequest', {
        request: invalid.request.key,
        problem: event.note,
      });
      options.record(event);
    }
    unrecorded.clear();
  };
  return {
    observe: (request: CapacityRequestProjection, observed: Observed): void => {
      if (observed._tag === 'Counted') unrecorded.delete(request.key);
      else if (observed.isNew) {
        const keepsLastGood = observed._tag === 'KeptLastGood';
        unrecorded.set(request.key, { request, keepsLastGood });
      }
    },
    /** Drops all but these. */
    retain: (unreadable: readonly CapacityRequestProjection[]): void => {
      const still = new Set(unreadable.map(({ key }) => key));
      for (const key of [...unrecorded.keys()]) if (!still.has(key)) unrecorded.delete(key);
    },
    remove: (key: ObjectKey): void => {
      unrecorded.delete(key);
    },
    recordAll,
    setLeading: (now: boolean): void => {
      leading = now;
      recordAll();
    },
  };
};

/** What a roll-up is made of. */
type RollupSource = Pick<Demand, 'needs' | 'unacknowledged'>;

/** The demand, or the demand of the moment at which it was held. */
const holdableDemand = (demand: Demand) => {
  let held: RollupSource | undefined;
  return {
    source: (): RollupSource => held ?? demand,
    hold: (): void => {
      if (held !== undefined) return;
      const needs = demand.needs();
      const unacknowledged = demand.unacknowledged();
      held = { needs: () => needs, unacknowledged: () => unacknowledged };
    },
    release: (): void => {
      held = undefined;
    },
  };
};

/** The gauges of the demand: 0 while another process leads, which has its own. */
const demandGauges = ({ telemetry }: ActorEnvironment<never>, demand: Demand) => {
  let leading = false;
  const measure = (): void => {
    telemetry.gauge('tidegate_capacity_requests', leading ? demand.size : 0);
    telemetry.gauge('tidegate_capacity_requests_unreadable', leading ? demand.unreadableSize : 0);
  };
  return {
    measure,
    setLeading: (now: boolean): void => {
      leading = now;
      measure();
      if (!now) telemetry.gauge('tidegate_rollup_needs', 0);
    },
  };
};

/** Builds roll-ups of `source` and measures the time. */
const rollupBuilder = (
  { telemetry, time }: ActorEnvironment<never>,
  source: () => RollupSource,
) => {
  let built = 0;
  return (offer: (rollup: Rollup) => void): void => {
    const startMs = time.monotonic();
    const unacknowledged = source().unacknowledged();
    const listedMs = time.monotonic();
    const needs = source().needs();
    const builtMs = time.monotonic();
    built += 1;
    offer({ number: built, builtAtMs: time.now(), needs, unacknowledged });
    const endMs = time.monotonic();
    const phases = [
      ['list', listedMs - startMs],
      ['build', builtMs - listedMs],
      ['enqueue', endMs - builtMs],
    ] as const;
    for (const [phase, ms] of phases) {
      telemetry.observe('bigfleet_operator_rollup_phase_duration_seconds', ms / 1000, { phase });
    }
    telemetry.observe('bigfleet_operator_rollup_duration_seconds', (endMs - startMs) / 1000);
    telemetry.gauge('tidegate_rollup_needs', needs.length);
  };
};

/** Starts to follow the requests and to feed the session. */
export const startRollups = (
  environment: ActorEnvironment<CapacityRequests>,
  options: RollupsOptions,
): Rollups => {
  const { session, requests } = options;
  const demand = makeDemand();
  const acknowledgements = startAcknowledgements(environment, {
    requests,
    concurrency: options.ackConcurrency,
  });
  const pendingPhases = startPendingPhases(environment, {
    requests,
    intervalMs: options.intervalMs,
    leading: session.leading,
  });
  const unreadable = unreadableRequests(environment, options);
  const { source, hold, release } = holdableDemand(demand);
  const build = rollupBuilder(environment, source);
  const gauges = demandGauges(environment, demand);

  const take = (fact: Fact<CapacityRequestProjection>): void => {
    if (fact._tag === 'Present') unreadable.observe(fact.object, demand.observe(fact.object));
    else if (fact._tag === 'Absent') {
      demand.forget(fact.key);
      unreadable.remove(fact.key);
    } else {
      for (const { request, observed } of demand.observeAll(fact.objects)) {
        unreadable.observe(request, observed);
      }
      unreadable.retain(demand.unreadable());
    }
    acknowledgements.observe(fact);
    pendingPhases.observe(fact);
    unreadable.recordAll();
    gauges.measure();
  };

  const subscription = new Subscription();
  const setLeading = (leading: boolean): void => {
    unreadable.setLeading(leading);
    acknowledgements.setLeading(leading);
    gauges.setLeading(leading);
  };
  subscription.add(
    session.leading.subscribe({ next: setLeading, complete: () => setLeading(false) }),
  );
  // Before the facts: the first list may open a stream at once.
  subscription.add(
    session.shardEvents.pipe(
      filter(({ _tag }) => _tag === 'StreamOpened' || _tag === 'StreamEnded'),
      switchMap(({ _tag }) =>
        _tag === 'StreamEnded'
          ? EMPTY
          : concat(of(0), interval(options.intervalMs, environment.scheduler))
      ),
    ).subscribe(() => build(session.offerRollup)),
  );
  subscription.add(
    session.acknowledged.subscribe((rollup) => acknowledgements.acknowledge(rollup.unacknowledged)),
  );
  subscription.add(requests.facts.subscribe(take));
  subscription.add(acknowledgements.stop);
  subscription.add(pendingPhases.stop);
  return { demand, hold, release, stop: () => subscription.unsubscribe() };
};
