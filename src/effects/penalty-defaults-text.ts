/** Reads penalties by PriorityClass from YAML; what the entries mean is judged in the domain. */
import { parse } from 'yaml';
import { judgePenaltyDefaults, type PenaltyDefaults } from '../domain/pod-demand/penalties.ts';
import type { Judged } from '../domain/text-file.ts';

/** The penalties in the text of a defaults file, or why there are none. Never throws. */
export const readPenaltyDefaults = (text: string): Judged<PenaltyDefaults> => {
  try {
    return judgePenaltyDefaults(parse(text));
  } catch (cause) {
    const [first = ''] = String(cause instanceof Error ? cause.message : cause).split('\n');
    return { _tag: 'Bad', problem: `is no YAML: ${first}` };
  }
};
