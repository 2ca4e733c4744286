/** The actors of the playground and the events that a reader can fire at them, as plain data. */

/** When an event is fired. */
export interface Moment {
  readonly nowMs: number;
  /** How many events were fired before: newer facts get newer resourceVersions. */
  readonly turn: number;
}

/** One choice of what happens. */
export interface EventCase {
  readonly type: string;
  readonly label: string;
  /** It does not happen when all goes well. */
  readonly isFault?: true;
  readonly payload?: (moment: Moment) => object;
}

/** An event without a payload. */
export const happens = (type: string, label: string): EventCase => ({ type, label });

/** An event with the same payload at any time. */
export const carries = (type: string, label: string, payload: object): EventCase => ({
  type,
  label,
  payload: () => payload,
});

/** An answer to what the statechart does. */
export const answers = <Output extends object>(
  actor: string,
  label: string,
  output: Output,
): EventCase => carries(`xstate.done.actor.${actor}`, label, { output });

/** The same as a fault. */
export const fault = (one: EventCase): EventCase => ({ ...one, isFault: true });
