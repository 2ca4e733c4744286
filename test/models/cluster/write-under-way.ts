/** What stages of statecharts that write one object in turns have in common. */
import type { WriteOutcome } from '../../../src/domain/object-write.ts';
import type { Step } from '../harness/interpreter.ts';
import type { Cue, Mover, Place } from './stage.ts';
import { loseAnswer, loseRequest, mayBeDone, refuseRequest } from './troubles.ts';

/** What the write under way was made from. */
export interface WriteUnderWay<Asked> {
  readonly asked: Asked | null;
  /** The object that was asked about is gone. */
  readonly stale: boolean;
}

/** The write under way after a step; `askedIn` reads what an act was begun with. */
export const writeUnderWay = <Asked>(
  { asked, stale }: WriteUnderWay<Asked>,
  { invokes, after }: Step,
  askedIn: (input: unknown) => Asked,
): WriteUnderWay<Asked> => {
  const begun = invokes.at(-1)?.input;
  if (begun !== undefined) return { asked: askedIn(begun), stale: false };
  return after.hasTag('acting') ? { asked, stale } : { asked: null, stale: false };
};

/** Brings about what keeps a write from landing; `undefined` when nothing is to. */
export const hinderWrite = async (
  place: Place,
  cue: Cue,
  outcome: WriteOutcome<unknown> | undefined,
): Promise<Mover | undefined> => {
  if (outcome?._tag === 'Fault') {
    return mayBeDone(cue) ? loseAnswer(place) : await loseRequest(place);
  }
  return outcome?._tag === 'Refused' ? refuseRequest(place) : undefined;
};
