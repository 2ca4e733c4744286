/**
 * Aggregates warnings: when the API server is away, ten thousand machines have the same problem.
 *
 * Promises: the first problem of a reason is logged within a second, with the number of further
 * ones and the text of the first; only the other names are lost.
 */
import type { Telemetry } from '../api/telemetry.ts';
import type { Time } from '../domain/time.ts';

const GATHER_MS = 1000;

/** The problem of one object. */
export interface Trouble {
  readonly name: string;
  readonly reason: string;
  readonly problem: string;
}

/** Aggregates problems and logs them as `message`. */
export const warningAggregator = (
  telemetry: Telemetry,
  time: Time,
  message: string,
): (trouble: Trouble) => void => {
  const gathered = new Map<string, { readonly first: Trouble; count: number }>();
  return (trouble) => {
    const { reason } = trouble;
    const known = gathered.get(reason);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    gathered.set(reason, { first: trouble, count: 1 });
    time.schedule(GATHER_MS, () => {
      const { first, count } = gathered.get(reason) ?? { first: trouble, count: 1 };
      gathered.delete(reason);
      const { name, problem } = first;
      telemetry.log('warn', message, { reason, objects: count, first: name, problem });
    });
  };
};
