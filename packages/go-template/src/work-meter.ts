/**
 * What one rendering may cost: no template, however made, hangs the process or fills its memory.
 *
 * Promises: every step of evaluation and every byte made is charged here, and the one that goes
 * over the limit throws `WorkExceeded`, which `renderTemplate` turns into a value.
 */

/** The most units of work (steps and bytes built) of one rendering: some milliseconds. */
export const WORK_UNITS_MAX = 2_000_000;
/** What a step costs (a node walked, an iteration made): as much time as so many bytes. */
export const STEP_UNITS = 10;
/** What a call of a function costs beside its steps and bytes. */
export const CALL_UNITS = 200;
/** The most bytes one rendering may give: as many as any cloud takes as user data. */
export const OUTPUT_BYTES_MAX = 256 * 1024;
/** The most bytes one string inside a template may have. */
export const STRING_BYTES_MAX = 1 << 20;
/** How deep evaluation may nest: templates in templates, blocks in blocks, parentheses. */
export const EVALUATION_DEPTH_MAX = 400;
/** How deep a template's own text may nest. */
export const NESTING_DEPTH_MAX = 300;

/** A limit was reached; the message names it. */
export class WorkExceeded extends Error {
  override readonly name = 'WorkExceeded';
}

/** Counts the work of one rendering. */
export interface WorkMeter {
  /** Spends `units`; throws `WorkExceeded` when there are not so many left. */
  readonly charge: (units: number) => void;
}

/** A meter that lets `limit` units pass. */
export const workMeter = (limit: number = WORK_UNITS_MAX): WorkMeter => {
  let left = limit;
  return {
    charge: (units) => {
      left -= units;
      if (left < 0) throw new WorkExceeded(`exceeded maximum work (${limit} units)`);
    },
  };
};

/** Text that grows up to a limit, on a meter. */
export interface BoundedText {
  readonly append: (bytes: string) => void;
  readonly text: () => string;
}

/** An empty text of at most `bytesMax`; `what` names it in the error. */
export const boundedText = (meter: WorkMeter, bytesMax: number, what: string): BoundedText => {
  const parts: string[] = [];
  let length = 0;
  return {
    append: (bytes) => {
      length += bytes.length;
      if (length > bytesMax) throw new WorkExceeded(`exceeded maximum ${what} (${bytesMax} bytes)`);
      meter.charge(bytes.length);
      parts.push(bytes);
    },
    text: () => parts.join(''),
  };
};
