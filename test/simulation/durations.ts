/** How long what an invariant looks at has lasted. */
import type { Bench } from './invariant.ts';

/** How long each key has had its text. */
export const sinceWhen = ({ time }: Pick<Bench, 'time'>) => {
  const known = new Map<string, { readonly text: string; readonly sinceMs: number }>();
  return {
    /** How long the key has had this text. */
    forMs: (key: string, text: string): number => {
      const entry = known.get(key);
      if (entry?.text === text) return time.monotonic() - entry.sinceMs;
      known.set(key, { text, sinceMs: time.monotonic() });
      return 0;
    },
    clear: (): void => known.clear(),
  };
};

/** How long something has been so, and of the same kind. */
export const since = (bench: Pick<Bench, 'time'>) => {
  const states = sinceWhen(bench);
  return (key: string, isSo: boolean, kind = ''): number => {
    const lastsMs = states.forMs(key, isSo ? `so ${kind}` : 'not so');
    return isSo ? lastsMs : 0;
  };
};

/** The same, without what was before the calm. */
export const sinceInCalm = (bench: Pick<Bench, 'time' | 'calmMs'>) => {
  const lastsMs = since(bench);
  return (key: string, isSo: boolean, kind = ''): number =>
    Math.min(lastsMs(key, isSo, kind), bench.calmMs());
};

/** Which of several things have lasted without a break, in calm, for more than `mostMs`. */
export const lasting = ({ time, calmMs }: Pick<Bench, 'time' | 'calmMs'>) => {
  let fromMs = new Map<string, number>();
  return (current: Iterable<string>, mostMs: number): readonly string[] => {
    const nowMs = time.monotonic();
    fromMs = new Map([...current].map((key) => [key, fromMs.get(key) ?? nowMs]));
    return [...fromMs].filter(([, beganMs]) => Math.min(nowMs - beganMs, calmMs()) > mostMs)
      .map(([key]) => key);
  };
};
