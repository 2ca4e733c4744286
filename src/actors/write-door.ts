/** A door that lets writes of a registry out, knows how many are outside, and can be closed. */
import { Effect } from 'effect';

/** What a write comes to when the door is closed. */
export interface Closed {
  readonly _tag: 'Fault';
  readonly why: string;
}

/** The door of one registry. */
export interface WriteDoor {
  /** The write, unless the door is closed by the time it would start. */
  readonly through: <Outcome, Services = never>(
    act: Effect.Effect<Outcome, never, Services>,
  ) => Effect.Effect<Outcome | Closed, never, Services>;
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
    through: <Outcome, Services = never>(act: Effect.Effect<Outcome, never, Services>) =>
      Effect.suspend((): Effect.Effect<Outcome | Closed, never, Services> => {
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
