/**
 * Troubles of many alike, told together: when the API server is away, ten thousand machines have
 * the same to say.
 *
 * Promises: the first trouble of a reason is told within a second, with how many more there were by
 * then and the words of the first; nothing is lost but their names.
 */
import type { Telemetry } from '../api/telemetry.ts';
import type { Time } from '../domain/time.ts';

const GATHER_MS = 1000;

/** What troubles one object. */
export interface Trouble {
  readonly name: string;
  readonly reason: string;
  readonly problem: string;
}

/** Gathers troubles and warns of them by `message`. */
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
