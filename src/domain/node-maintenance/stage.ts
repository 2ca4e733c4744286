/**
 * The stages of a NodeMaintenance and their order (KEP-4212, *Supported Stage Transitions*).
 *
 * Promises: a stage is never left backwards; a stage whose work has started is recorded once, with
 * the time of its start.
 */

/** In their order; the first is the default (NM-01). */
export const STAGES = ['Idle', 'Cordon', 'Drain', 'Complete'] as const;
export type Stage = (typeof STAGES)[number];

/** A stage whose work has started. */
export interface StageStatus {
  readonly name: Stage;
  readonly startMs: number;
}

/** The stage of this name; the default for another text. */
export const stageOf = (name: string | undefined): Stage =>
  STAGES.find((stage) => stage === name) ?? 'Idle';

/** When the work of a stage started; undefined before. */
export const startOf = (started: readonly StageStatus[], stage: Stage): number | undefined =>
  started.find(({ name }) => name === stage)?.startMs;

const orderOf = (stage: Stage): number => STAGES.indexOf(stage);

/** True when a maintenance may go from one stage to the other, or stay (NM-03). */
export const mayFollow = (from: Stage, to: Stage): boolean => orderOf(to) >= orderOf(from);

/** The nodes must be unschedulable (NM-13). */
export const cordons = (stage: Stage): boolean => stage === 'Cordon' || stage === 'Drain';

/** The stage that a maintenance works on: its deletion completes it, unless it is idle (NM-09). */
export const workedStage = (
  { spec: { stage }, deleting }: {
    readonly spec: { readonly stage: Stage };
    readonly deleting: boolean;
  },
): Stage => deleting && stage !== 'Idle' ? 'Complete' : stage;

/** The stages whose work starts with this one: Drain cordons, too (NM-04). */
const worksOn = (stage: Stage): readonly Stage[] =>
  stage === 'Drain' ? ['Cordon', 'Drain'] : [stage];

/** The recorded stages after this one has started (NM-07); the same list when it had. */
export const withStartedStage = (
  started: readonly StageStatus[],
  stage: Stage,
  nowMs: number,
): readonly StageStatus[] => {
  const added = worksOn(stage).filter((name) => !started.some((status) => status.name === name));
  if (added.length === 0) return started;
  return [...started, ...added.map((name) => ({ name, startMs: nowMs }))];
};
