/** Parses penalties by PriorityClass from YAML; the domain validates the entries. */
import { parse } from 'yaml';
import { judgePenaltyDefaults, type PenaltyDefaults } from '../domain/pod-demand/penalties.ts';
import type { Judged } from '../domain/text-file.ts';

/** The penalties in the text of a defaults file, or the problem. Never throws. */
export const readPenaltyDefaults = (text: string): Judged<PenaltyDefaults> => {
  try {
    return judgePenaltyDefaults(parse(text));
  } catch (cause) {
    const [first = ''] = String(cause instanceof Error ? cause.message : cause).split('\n');
    return { _tag: 'Bad', problem: `is not valid YAML: ${first}` };
  }
};
