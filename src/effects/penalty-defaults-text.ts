/**
 * Parses penalties by PriorityClass from YAML; the domain validates the entries.
 *
 * Promises: never throws; a problem has line, column and a reason, and no content of the file.
 */
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { parsePenaltyDefaults, type PenaltyDefaults } from '../domain/pod-demand/penalties.ts';
import type { Parsed } from '../domain/text-file.ts';
import { placeText } from './content-free-errors.ts';

const bad = (problem: string): Parsed<PenaltyDefaults> => ({ _tag: 'Bad', problem });

const contentOf = (document: Document): { readonly value: unknown } | undefined => {
  try {
    return { value: document.toJS() };
  } catch {
    return undefined;
  }
};

/** The penalties in the text of a defaults file, or the problem. */
export const readPenaltyDefaults = (text: string): Parsed<PenaltyDefaults> => {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const placeAt = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return placeText(line, col);
  };
  const [error] = document.errors;
  // The codes of the parser are constant; its messages quote the text.
  if (error) return bad(`is not valid YAML: ${placeAt(error.pos[0])}: ${error.code}`);
  const content = contentOf(document);
  if (content === undefined) return bad('is not valid YAML: an alias has no anchor');
  const reading = parsePenaltyDefaults(content.value);
  if (reading._tag === 'Good') return reading;
  const node = document.getIn(reading.path, true);
  const offset = isNode(node) ? node.range?.[0] ?? 0 : 0;
  return bad(`${placeAt(offset)}: ${reading.problem}`);
};
