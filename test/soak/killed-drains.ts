/**
 * Drains whose operator is killed at random moments: crash anywhere, on a real API server.
 *
 * Promises: the same seed kills after the same delays; in half of the rounds a standby takes over,
 * in the others a new process starts; every round is reported, and the report lists violations by
 * round.
 */
import { textAt } from '../../src/domain/json.ts';
import { nextSeed, type Seed, unitInterval } from '../../src/domain/random.ts';
import { realTime } from '../../src/effects/real-time.ts';
import type { Testbed } from '../../tools/testbed/testbed.ts';
import { COLLECTIONS, nameOf } from '../support/api/cluster-connection.ts';
import { evictionsIn } from '../support/drains/audited-drains.ts';
import { endsOf, reclaimEach, untilReadyInCluster } from '../support/drains/reclaims.ts';
import { eventually, pause } from '../support/eventually.ts';
import { isUser } from '../support/rights/role-account.ts';
import type { StartTidegate } from '../support/processes/tidegate-child.ts';
import { chargeSlot, namesHeldSlot, SLOT_HELD } from './cut-call.ts';
import { cutCalls, roundProblems } from './round-checks.ts';
import { type Round, roundLine } from './round-report.ts';
import { giveBack, type SoakSite, soakSite, untilWhole } from './soak-site.ts';

/** What to do. */
export interface Soak {
  readonly bed: Testbed;
  readonly start: StartTidegate;
  readonly rounds: number;
  readonly seed: Seed;
  /** Called with one line for each round. */
  readonly print: (line: string) => void;
}

/** More than the two minutes for which a cut call can hold a slot, and the drain. */
const GRACE_SECONDS = 600;
const PATIENT_MS = 300_000;
/** From then on the status is asked what a drain waits for. */
const ASKED_SECONDS = 60;
/** A drain that takes longer than this waits for something. */
const SLOW_SECONDS = 120;
const SECOND_MS = 1000;
/** Of so many rounds one leaves a slot charged: with a standby and without, by turns. */
const CHARGED_EVERY = 20;
/** The latest part of a drain's duration at which a slot may be left charged. */
const EARLY = 0.25;

/** The set-up of the rounds. */
interface SoakRun {
  readonly site: SoakSite;
  /** How to start processes that query the status. */
  readonly start: StartTidegate;
}

const ensureOperators = async (site: SoakSite, count: number): Promise<void> => {
  while (site.running().length < count) {
    await (await site.startOperator()).untilReady();
  }
  const leader = await site.leader();
  for (const operator of site.running().filter((one) => one !== leader).slice(count - 1)) {
    await operator.stop();
  }
};

/** Whether `drain status`, polled from `asksFromMs` on, reported a held slot. */
const untilDrained = async (
  { site, start }: SoakRun,
  machines: readonly string[],
  asksFromMs: number,
): Promise<boolean> => {
  let named = false;
  await eventually(async () => {
    if (!named && realTime.now() >= asksFromMs) named = await namesHeldSlot(start, site);
    const ends = await endsOf(site.cluster);
    return machines.every((machine) => ends.has(machine));
  }, { what: `${machines.join(' and ')} to be drained`, everyMs: 100, timeoutMs: PATIENT_MS });
  return named;
};

const reportedReasons = async (
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

/** Kills the leader and starts a successor; returns when, and whether a slot was left charged. */
const killLeader = async (
  site: SoakSite,
  machines: readonly string[],
  { standby, charges }: Pick<RoundPlan, 'standby' | 'charges'>,
): Promise<{ readonly killedMs: number; readonly charged: boolean }> => {
  const leader = await site.leader();
  leader.signal('KILL');
  await leader.exited;
  const killedMs = realTime.now();
  const charged = charges && await chargeSlot(site, machines);
  if (!standby) await site.startOperator();
  return { killedMs, charged };
};

/** The plan of a round. */
interface RoundPlan {
  readonly number: number;
  readonly standby: boolean;
  /** A slot is left charged, as by a call that the kill interrupted. */
  readonly charges: boolean;
  readonly killAfterMs: number | null;
}

/** A blocked drain must report the held slot in an Event and in the status. */
const unsaid = (
  { took, charged, named, noted }: {
    readonly took: number;
    readonly charged: boolean;
    readonly named: boolean;
    readonly noted: boolean;
  },
): readonly string[] =>
  charged || took > SLOW_SECONDS
    ? [
      ...(named ? [] : [`took ${took.toFixed(0)} s, and the status named no slot that is held`]),
      ...(noted ? [] : [`took ${took.toFixed(0)} s, and no Event named a slot that is held`]),
    ]
    : [];

/** One round: machines are taken back, the leader is killed after a while, and all ends well. */
const runRound = async (run: SoakRun, plan: RoundPlan): Promise<Round> => {
  const { site } = run;
  const { number, standby, killAfterMs } = plan;
  await ensureOperators(site, standby ? 2 : 1);
  await untilReadyInCluster(site.cluster, site.machines());
  const machines = await site.moveOn();
  await site.audit();
  const startMs = realTime.now();
  await reclaimEach(site.fleet, machines, GRACE_SECONDS);
  if (killAfterMs !== null) await pause(Math.max(0, killAfterMs - (realTime.now() - startMs)));
  const { killedMs, charged } = killAfterMs === null
    ? { killedMs: null, charged: false }
    : await killLeader(site, machines, plan);
  const named = await untilDrained(
    run,
    machines,
    charged ? realTime.now() : startMs + ASKED_SECONDS * SECOND_MS,
  );
  const took = secondsSince(startMs);
  await untilWhole(site);

  const requests = await site.audit();
  const evictions = evictionsIn(requests.filter(({ user }) => isUser(user, 'tidegate')));
  const problems = await roundProblems(site, { machines, requests, killedMs });
  const noted = (await reportedReasons(site, machines)).includes(SLOT_HELD);
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
    charged,
    slotHeld: named && noted,
    recovered,
    problems: [...problems, ...unsaid({ took, charged, named, noted })],
  };
};

const leavesCharged = (number: number): boolean =>
  number % CHARGED_EVERY === CHARGED_EVERY - 2 + Math.floor(number / CHARGED_EVERY) % 2;

/** Runs all rounds. The first has no kill: it measures the duration of a drain. */
export const soakDrains = async (soak: Soak): Promise<readonly Round[]> => {
  const site = await soakSite(soak.bed, soak.start);
  const rounds: Round[] = [];
  let seed = soak.seed;
  try {
    for (let number = 0; number <= soak.rounds; number += 1) {
      seed = nextSeed(seed);
      const charges = leavesCharged(number);
      // Early, so that there is a pod whose slot can be charged.
      const span = (rounds[0]?.took ?? 0) * SECOND_MS * (charges ? EARLY : 1);
      const round = await runRound({ site, start: soak.start }, {
        number,
        standby: number % 2 === 0 && number > 0,
        charges,
        killAfterMs: number === 0 ? null : span * unitInterval(seed),
      });
      rounds.push(round);
      soak.print(roundLine(round));
    }
  } finally {
    await site.close();
  }
  return rounds;
};
