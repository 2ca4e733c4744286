/**
 * Maps readings of the key files to changes.
 *
 * Promises: unchanged files emit nothing; an invalid reading never replaces a pair (WIRE-08), and
 * each problem is emitted once.
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

/** Emits the changes among readings of the key files. */
export const credentialChanges = (): OperatorFunction<CredentialsReading, CredentialsChange> =>
(
  readings,
) =>
  readings.pipe(
    scan(nextKnown, NOTHING_KNOWN),
    concatMap((known) => known.changes),
  );
