/**
 * Drains whose operator is killed at a random moment, again and again: crash anywhere, on a real
 * API server.
 *
 * Promises: the same seed kills after the same times; half of the rounds have a standby that takes
 * over, the others start a new process; every round says how it went, and the report says what did
 * not hold, by round.
 */
import { textAt } from '../../src/domain/json.ts';
import { nextSeed, type Seed, unitInterval } from '../../src/domain/random.ts';
import { realTime } from '../../src/effects/real-time.ts';
import type { Testbed } from '../../tools/testbed/testbed.ts';
import { evictionsIn } from '../support/audited-drains.ts';
import { COLLECTIONS, nameOf } from '../support/cluster-connection.ts';
import { eventually, pause } from '../support/eventually.ts';
import { endsOf, reclaimEach, untilShownReady } from '../support/reclaims.ts';
import type { StartTidegate } from '../support/tidegate-child.ts';
import { cutCalls, roundProblems } from './round-checks.ts';
import { giveBack, type SoakSite, soakSite, untilWhole } from './soak-site.ts';

/** What to do. */
export interface Soak {
  readonly bed: Testbed;
  readonly start: StartTidegate;
  readonly rounds: number;
  readonly seed: Seed;
  /** Hears one line for each round. */
  readonly say: (line: string) => void;
}

/** How a round went. */
export interface Round {
  readonly number: number;
  readonly standby: boolean;
  /** Seconds from the reclaim to the kill; null when nobody was killed. */
  readonly killedAfter: number | null;
  /** What had been sent by then. */
  readonly evictionsBefore: number;
  readonly evictions: number;
  readonly refused: number;
  /** Calls that the death of the process cut. */
  readonly cut: number;
  /** Seconds from the reclaim until both nodes were drained. */
  readonly took: number;
  /** A cut call held the slot, and the cluster said so. */
  readonly slotHeld: boolean;
  /** The instruction was lost with the process, and the drain was found again. */
  readonly recovered: boolean;
  readonly problems: readonly string[];
}

/** More than the two minutes for which a cut call can hold a slot, and the drain. */
const GRACE_SECONDS = 600;
const PATIENT_MS = 300_000;
/** A drain that takes longer than this waits for something. */
const SLOW_SECONDS = 60;
const HELD = 'SlotHeldByInterruptedEviction';
const SECOND_MS = 1000;

const ensureOperators = async (site: SoakSite, count: number): Promise<void> => {
  while (site.running().length < count) {
    await (await site.startOperator()).untilReady();
  }
  const leader = await site.leader();
  for (const operator of site.running().filter((one) => one !== leader).slice(count - 1)) {
    await operator.stop();
  }
};

const untilDrained = async (site: SoakSite, machines: readonly string[]): Promise<void> => {
  await eventually(async () => {
    const ends = await endsOf(site.cluster);
    return machines.every((machine) => ends.has(machine));
  }, { what: `${machines.join(' and ')} to be drained`, everyMs: 100, timeoutMs: PATIENT_MS });
};

const reasonsShown = async (
  { cluster }: SoakSite,
  machines: readonly string[],
): Promise<readonly string[]> =>
  (await cluster.list(COLLECTIONS.events))
    .filter((event) => machines.includes(textAt(event, 'regarding', 'name') ?? ''))
    .map((event) => textAt(event, 'reason') ?? '');

const areRecovered = async ({ cluster }: SoakSite, machines: readonly string[]) =>
  (await cluster.list(COLLECTIONS.nodes)).some((node) =>
    machines.includes(nameOf(node)) && JSON.stringify(node).includes(`recovered-${nameOf(node)}`)
  );

const secondsSince = (startMs: number): number => (realTime.now() - startMs) / SECOND_MS;

/** One round: machines are taken back, the leader is killed after a while, and all ends well. */
const runRound = async (
  site: SoakSite,
  { number, standby, killAfterMs }: {
    readonly number: number;
    readonly standby: boolean;
    readonly killAfterMs: number | null;
  },
): Promise<Round> => {
  await ensureOperators(site, standby ? 2 : 1);
  await untilShownReady(site.cluster, site.machines());
  const machines = await site.moveOn();
  await site.audit();
  const startMs = realTime.now();
  await reclaimEach(site.fleet, machines, GRACE_SECONDS);
  let killedMs: number | null = null;
  if (killAfterMs !== null) {
    await pause(Math.max(0, killAfterMs - (realTime.now() - startMs)));
    const leader = await site.leader();
    leader.signal('KILL');
    killedMs = realTime.now();
    await leader.exited;
    if (!standby) await site.startOperator();
  }
  await untilDrained(site, machines);
  const took = secondsSince(startMs);
  await untilWhole(site);

  const requests = await site.audit();
  const evictions = evictionsIn(requests.filter(({ user }) => user === 'tidegate'));
  const problems = await roundProblems(site, { machines, requests, killedMs });
  const slotHeld = (await reasonsShown(site, machines)).includes(HELD);
  const unsaid = took > SLOW_SECONDS && !slotHeld
    ? [`took ${took.toFixed(0)} s, and nothing said that a slot was held`]
    : [];
  const recovered = await areRecovered(site, machines);
  await giveBack(site, machines);
  return {
    number,
    standby,
    killedAfter: killedMs === null ? null : (killedMs - startMs) / SECOND_MS,
    evictionsBefore: evictions.filter(({ receivedMs }) => receivedMs < (killedMs ?? 0)).length,
    evictions: evictions.length,
    refused: evictions.filter(({ code }) => code === 429).length,
    cut: cutCalls(evictions).length,
    took,
    slotHeld,
    recovered,
    problems: [...problems, ...unsaid],
  };
};

/** A line about a round. */
export const roundLine = (round: Round): string => {
  const { number, standby, killedAfter, took, evictions, evictionsBefore } = round;
  const killed = killedAfter === null
    ? 'not killed'
    : `killed after ${killedAfter.toFixed(1)} s, ${evictionsBefore} of ${evictions} evictions sent`;
  return [
    `round ${String(number).padStart(3)}: ${killed}; drained after ${took.toFixed(1)} s`,
    ...(standby ? ['standby took over'] : []),
    ...(round.recovered ? ['instruction was lost, drain was found again'] : []),
    ...(round.cut > 0 ? [`${round.cut} call cut`] : []),
    ...(round.slotHeld ? ['slot was held, and it was said'] : []),
    ...(round.refused > 0 ? [`${round.refused} refused`] : []),
    ...round.problems.map((problem) => `PROBLEM: ${problem}`),
  ].join('; ');
};

/** Does all rounds. The first is not killed: it says how long a drain takes. */
export const soakDrains = async (soak: Soak): Promise<readonly Round[]> => {
  const site = await soakSite(soak.bed, soak.start);
  const rounds: Round[] = [];
  let seed = soak.seed;
  try {
    for (let number = 0; number <= soak.rounds; number += 1) {
      seed = nextSeed(seed);
      const killAfterMs = (rounds[0]?.took ?? 0) * SECOND_MS * unitInterval(seed);
      const round = await runRound(site, {
        number,
        standby: number % 2 === 0 && number > 0,
        killAfterMs: number === 0 ? null : killAfterMs,
      });
      rounds.push(round);
      soak.say(roundLine(round));
    }
  } finally {
    await site.close();
  }
  return rounds;
};

const count = (rounds: readonly Round[], holds: (round: Round) => boolean): number =>
  rounds.filter(holds).length;

const sum = (rounds: readonly Round[], figure: (round: Round) => number): number =>
  rounds.reduce((total, round) => total + figure(round), 0);

/** What all rounds come to. */
export const soakSummary = (all: readonly Round[], seed: Seed): readonly string[] => {
  const rounds = all.filter(({ killedAfter }) => killedAfter !== null);
  const middle = count(
    rounds,
    (one) => one.evictionsBefore > 0 && one.evictionsBefore < one.evictions,
  );
  const evictions = sum(rounds, (one) => one.evictions);
  const refused = sum(rounds, (one) => one.refused);
  return [
    `${rounds.length} kills with seed ${seed}, ${count(rounds, (one) => one.standby)} of them ` +
    'with a standby that took over',
    `${count(rounds, (one) => one.evictionsBefore === 0)} before the first eviction, ${middle} ` +
    `among evictions, ${
      rounds.length - middle - count(rounds, (one) => one.evictionsBefore === 0)
    } ` +
    'after the last',
    `${count(rounds, (one) => one.recovered)} with an instruction that was lost with the process`,
    `${sum(rounds, (one) => one.cut)} calls cut by the death of a process; ` +
    `${count(rounds, (one) => one.slotHeld)} slots held by one, each said`,
    `${evictions} evictions, ${refused} of them refused`,
    `${count(rounds, (one) => one.problems.length > 0)} rounds in which something did not hold`,
  ];
};
