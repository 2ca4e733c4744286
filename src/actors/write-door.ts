/** A door that lets writes of a registry out, knows how many are outside, and can be closed. */
import { Effect } from 'effect';
import type { WriteOutcome } from '../domain/object-write.ts';

/** The door of one registry. */
export interface WriteDoor {
  /** The write, unless the door is closed by the time it would start. */
  readonly through: <Shown>(
    act: Effect.Effect<WriteOutcome<Shown>>,
  ) => Effect.Effect<WriteOutcome<Shown>>;
  /** Lets nothing more out; resolves when all that is outside has come back. */
  readonly close: () => Promise<void>;
}

/** An open door. */
export const writeDoor = (): WriteDoor => {
  let outside = 0;
  let closed = false;
  let whenEmpty: (() => void)[] = [];
  const comeBack = Effect.sync(() => {
    outside -= 1;
    if (outside > 0) return;
    for (const resolve of whenEmpty) resolve();
    whenEmpty = [];
  });
  return {
    through: <Shown>(act: Effect.Effect<WriteOutcome<Shown>>) =>
      Effect.suspend((): Effect.Effect<WriteOutcome<Shown>> => {
        if (closed) return Effect.succeed({ _tag: 'Fault', why: 'this process stops writing' });
        outside += 1;
        return Effect.ensuring(act, comeBack);
      }),
    close: () => {
      closed = true;
      return outside === 0 ? Promise.resolve() : new Promise((resolve) => whenEmpty.push(resolve));
    },
  };
};
