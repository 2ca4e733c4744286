/** Parses penalties by PriorityClass from YAML; the domain validates the entries. */
import { parse } from 'yaml';
import { parsePenaltyDefaults, type PenaltyDefaults } from '../domain/pod-demand/penalties.ts';
import type { Parsed } from '../domain/text-file.ts';

/** The penalties in the text of a defaults file, or the problem. Never throws. */
export const readPenaltyDefaults = (text: string): Parsed<PenaltyDefaults> => {
  try {
    return parsePenaltyDefaults(parse(text));
  } catch (cause) {
    const [first = ''] = String(cause instanceof Error ? cause.message : cause).split('\n');
    return { _tag: 'Bad', problem: `is not valid YAML: ${first}` };
  }
};
