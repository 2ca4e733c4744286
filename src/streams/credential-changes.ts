/**
 * Readings of the key files → what really changed.
 *
 * Promises: the same files say nothing twice; a reading that is not fit never takes a pair away
 * (WIRE-08), and each problem is told once.
 */
import { concatMap, type OperatorFunction, scan } from 'rxjs';
import type { CredentialsChange, CredentialsReading, KeyPair } from '../domain/credentials.ts';

interface Known {
  readonly pair?: KeyPair;
  readonly problem?: string;
  readonly changes: readonly CredentialsChange[];
}

const NOTHING_KNOWN: Known = { changes: [] };

const nextKnown = (known: Known, reading: CredentialsReading): Known => {
  const { pair, problem } = known;
  if (reading._tag === 'Usable') {
    const same = pair?.fingerprint === reading.pair.fingerprint;
    return {
      pair: reading.pair,
      changes: same ? [] : [{ _tag: 'Accepted', pair: reading.pair }],
    };
  }
  if (reading.problem === problem) return { ...known, changes: [] };
  return pair === undefined
    ? {
      problem: reading.problem,
      changes: [{ _tag: 'Refused', problem: reading.problem }],
    }
    : {
      pair,
      problem: reading.problem,
      changes: [{ _tag: 'Kept', problem: reading.problem }],
    };
};

/** Keeps what is new in readings of the key files. */
export const credentialChanges = (): OperatorFunction<CredentialsReading, CredentialsChange> =>
(
  readings,
) =>
  readings.pipe(
    scan(nextKnown, NOTHING_KNOWN),
    concatMap((known) => known.changes),
  );
