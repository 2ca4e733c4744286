/** A running simulated world: its environment, invariants, faults and log. */
import { type SimulatedTime, simulatedTime } from '../support/time/simulated-time.ts';
import { passEveryRequest, type RequestInterceptor, type Weather } from './api-line.ts';
import { embeddedSite, type SiteOptions } from './embedded-site.ts';
import { eventLog } from './event-log.ts';
import type { Bench, Invariant } from './invariant.ts';
import { isDraining } from './node-annotations.ts';
import { drainsGoOn, slotsAreUsedOnce } from './budget-invariants.ts';
import {
  demandEqualsRequests,
  requestsAreAcknowledged,
  rollupsAreComplete,
  rollupsCoverDemand,
  upcomingNodesEqualFleet,
} from './demand-invariants.ts';
import {
  acksFollowCordons,
  cordonsHaveOwners,
  deadlinesStand,
  drainsEnd,
  evictionsFollowCordons,
} from './drain-invariants.ts';
import {
  interceptorsActInTurn,
  oneEvictionAtATime,
  reportsAreKept,
  requestsEndTruly,
  requestsMoveOn,
  requestWritesArePaced,
} from './eviction-request-invariants.ts';
import {
  drainingMachinesAreDrained,
  endsAreTrue,
  onlyThisStayIsDrained,
  phasesFollowDrains,
  replaysAreAwaited,
} from './machine-invariants.ts';
import {
  oneOfAnOrdinalRuns,
  onlyLostPodsAreDeleted,
  podsAreDeletedOnce,
  statefulPodsStay,
  stormsAreFound,
  stormsAreProtected,
} from './node-availability-invariants.ts';
import {
  disabledNodesStayDisabled,
  enabledNodesHaveNoTrace,
  lostPodsAreReplaced,
  returnedNodesAreActive,
  statesAreReported,
  waitingPodsShowIt,
} from './node-availability-state-invariants.ts';
import {
  drainedIsTrue,
  maintainedNodesAreCordoned,
  maintenancesGoOn,
  maintenancesKeepTheirNumber,
  nodesAreGivenBack,
  podsWaitForTheirTurn,
} from './node-maintenance-invariants.ts';
import {
  evictionsNameUids,
  noDefects,
  oneWriterAMachine,
  onlyLeadersWrite,
} from './write-invariants.ts';

const INVARIANTS: readonly ((bench: Bench) => Invariant)[] = [
  onlyLeadersWrite,
  oneWriterAMachine,
  evictionsNameUids,
  noDefects,
  cordonsHaveOwners,
  acksFollowCordons,
  deadlinesStand,
  evictionsFollowCordons,
  drainsEnd,
  slotsAreUsedOnce,
  drainsGoOn,
  rollupsAreComplete,
  rollupsCoverDemand,
  demandEqualsRequests,
  upcomingNodesEqualFleet,
  requestsAreAcknowledged,
  onlyThisStayIsDrained,
  drainingMachinesAreDrained,
  phasesFollowDrains,
  replaysAreAwaited,
  endsAreTrue,
  interceptorsActInTurn,
  requestsMoveOn,
  requestsEndTruly,
  reportsAreKept,
  requestWritesArePaced,
  oneEvictionAtATime,
  maintenancesKeepTheirNumber,
  podsWaitForTheirTurn,
  drainedIsTrue,
  maintainedNodesAreCordoned,
  maintenancesGoOn,
  nodesAreGivenBack,
  onlyLostPodsAreDeleted,
];

/** Of worlds in which Nodes that fail are handled. */
const AVAILABILITY_INVARIANTS: readonly ((bench: Bench) => Invariant)[] = [
  stormsAreProtected,
  stormsAreFound,
  statefulPodsStay,
  oneOfAnOrdinalRuns,
  podsAreDeletedOnce,
  statesAreReported,
  returnedNodesAreActive,
  disabledNodesStayDisabled,
  enabledNodesHaveNoTrace,
  lostPodsAreReplaced,
  waitingPodsShowIt,
];

/** A violation of an invariant. */
export interface Breach {
  readonly invariant: string;
  readonly what: string;
  readonly atMs: number;
}

/** Without faults: the maximum latency of one way. */
const FAIR: Weather = {
  outage: false,
  errorShare: 0,
  latencyMs: 15,
  slowList: '',
  slowListMs: 0,
  frameMs: 0,
};

/** Longer than any invariant waits in calm. */
export const CALM_MS = 130_000;
/** The maximum time to come to rest. */
export const REST_MS_MAX = 1_800_000;

/** How often invariants check on their own. */
const TICK_MS = 1000;

/** More simultaneous timers than any correct world sets. */
const TIMERS_AT_ONCE_MAX = 50_000;

/** Time that detects a livelock, and then sets no more timers. */
const watchedTime = (stuck: () => void): SimulatedTime => {
  const time = simulatedTime();
  let atMs = 0;
  let armed = 0;
  return {
    ...time,
    schedule: (delayMs, run) => {
      armed = time.monotonic() === atMs ? armed + 1 : 0;
      atMs = time.monotonic();
      if (armed <= TIMERS_AT_ONCE_MAX) return time.schedule(delayMs, run);
      stuck();
      return () => {};
    },
  };
};

/** A world at its start; `door` intercepts requests of processes before the server. */
export const worldState = (
  siteOptions: SiteOptions,
  interceptor: RequestInterceptor = passEveryRequest,
) => {
  const time = watchedTime(() =>
    bench.broken('time goes on', `more than ${TIMERS_AT_ONCE_MAX} timers at one moment`)
  );
  const log = eventLog(time);
  const site = embeddedSite(siteOptions, time);
  const invariants: Invariant[] = [log.invariant];
  const cordonedByPerson = new Set<string>();
  const starts = new Map<string, number>();
  const fair: Weather = { ...FAIR, latencyMs: siteOptions.latencyMs ?? FAIR.latencyMs };
  const weather: Weather = { ...fair };
  let breach: Breach | undefined;
  let troubledUntilMs = 0;
  let tickedMs = -Infinity;
  const startedMs = time.now();
  const bench: Bench = {
    site,
    // Deadlines hold when the clock is changed (DR-16), so invariants use one that is not.
    time: { ...time, now: () => startedMs + time.monotonic() },
    cordonedByPerson,
    broken: (invariant, what) => {
      if (breach !== undefined) return;
      breach = { invariant, what, atMs: time.monotonic() };
      log.note(`BROKEN ${invariant}: ${what}`);
    },
    calmMs: () => time.monotonic() - troubledUntilMs,
    startedMs: (process) => starts.get(process) ?? 0,
  };
  const more = siteOptions.withAvailability === true ? AVAILABILITY_INVARIANTS : [];
  invariants.push(...[...INVARIANTS, ...more].map((make) => make(bench)));
  site.cluster.store.subscribe((change) =>
    invariants.forEach((invariant) => invariant.change?.(change))
  );
  /** Runs the checks of the invariants, once a second. */
  const tick = (): void => {
    if (time.monotonic() - tickedMs < TICK_MS) return;
    tickedMs = time.monotonic();
    for (const invariant of invariants) invariant.tick?.();
  };
  /** Advances time until `holds`, checked every `stepMs`; false on a timeout. */
  const pass = async (
    mostMs: number,
    holds: () => boolean = () => false,
    stepMs: number = TICK_MS,
  ): Promise<boolean> => {
    const untilMs = time.monotonic() + mostMs;
    while (breach === undefined && time.monotonic() < untilMs) {
      if (holds()) return true;
      await time.advance(stepMs);
      tick();
    }
    return breach === undefined && holds();
  };
  const drains = (): boolean =>
    [...site.cluster.store.collection('nodes').objects()].some(isDraining);
  return {
    siteOptions,
    interceptor,
    time,
    log,
    site,
    invariants,
    weather,
    /** The conditions without a fault. */
    fair,
    starts,
    cordonedByPerson,
    /** A fault lasts so long from now. */
    trouble: (forMs: number): void => {
      troubledUntilMs = Math.max(troubledUntilMs, time.monotonic() + forMs);
    },
    calmMs: bench.calmMs,
    broken: bench.broken,
    pass,
    breach: () => breach,
    /** Waits for rest: a long calm without drains. */
    rest: async (): Promise<void> => {
      await pass(CALM_MS);
      await pass(REST_MS_MAX, () => bench.calmMs() > CALM_MS && !drains());
    },
    /** Runs the final checks of the invariants, unless one is violated. */
    check: (): void => {
      if (breach === undefined) { for (const invariant of invariants) invariant.end?.(); }
    },
  };
};

/** The world for plans and scenarios. */
export type WorldState = ReturnType<typeof worldState>;
