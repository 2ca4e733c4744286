/** What stages of statecharts that write one object in turns have in common. */
import type { WriteOutcome } from '../../../src/domain/object-write.ts';
import type { Step } from '../harness/interpreter.ts';
import type { PathStep, RunEnvironment, StepSource } from './cluster-harness.ts';
import { loseAnswer, loseRequest, mayBeDone, refuseRequest } from './troubles.ts';

/** What the write under way was made from. */
export interface WriteUnderWay<Asked> {
  readonly asked: Asked | null;
  /** The object of the request is gone. */
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

/** Arranges the failure of a write; `undefined` when none is needed. */
export const hinderWrite = async (
  environment: RunEnvironment,
  pathStep: PathStep,
  outcome: WriteOutcome<unknown> | undefined,
): Promise<StepSource | undefined> => {
  if (outcome?._tag === 'Fault') {
    return mayBeDone(pathStep) ? loseAnswer(environment) : await loseRequest(environment);
  }
  return outcome?._tag === 'Refused' ? refuseRequest(environment) : undefined;
};
