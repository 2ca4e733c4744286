/** Reports the rounds of a soak: each one, and all together. */
import type { Seed } from '../../src/domain/random.ts';

/** How a round went. */
export interface Round {
  readonly number: number;
  readonly standby: boolean;
  /** Seconds from the reclaim to the kill; null without a kill. */
  readonly killedAfter: number | null;
  /** What had been sent by then. */
  readonly evictionsBefore: number;
  readonly evictions: number;
  readonly refused: number;
  /** Calls that the death of the process cut. */
  readonly cut: number;
  /** Seconds from the reclaim until both nodes were drained. */
  readonly took: number;
  /** The slot was charged as by an interrupted call. */
  readonly charged: boolean;
  /** An interrupted call held the slot, and an Event and `drain status` reported it. */
  readonly slotHeld: boolean;
  /** The instruction was lost with the process, and the drain was found again. */
  readonly recovered: boolean;
  readonly problems: readonly string[];
}

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
    ...(round.charged ? ['slot was left charged'] : []),
    ...(round.slotHeld ? ['an interrupted call held the slot, which was reported'] : []),
    ...(round.refused > 0 ? [`${round.refused} refused`] : []),
    ...round.problems.map((problem) => `PROBLEM: ${problem}`),
  ].join('; ');
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
    `${sum(rounds, (one) => one.cut)} calls cut by the death of a process, ` +
    `${count(rounds, (one) => one.charged)} slots left charged as by one; ` +
    `${count(rounds, (one) => one.slotHeld)} drains waited for such a slot, each reported it`,
    `${evictions} evictions, ${refused} of them refused`,
    `${count(rounds, (one) => one.problems.length > 0)} rounds in which something did not hold`,
  ];
};
