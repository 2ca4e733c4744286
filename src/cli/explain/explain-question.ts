/** Validates the request of `tidegate explain`. */
import { machineId } from '../../domain/ids.ts';
import { upcomingNodeName } from '../../domain/names.ts';
import {
  EXPLAINED_KINDS,
  type ExplainedKind,
  type ExplainRequest,
  type Format,
  FORMATS,
} from './explain-request.ts';
import { unknownWord } from '../failures.ts';

/** A valid request. */
export interface ExplainQuestion {
  readonly kind: ExplainedKind;
  readonly namespace: string;
  /** The namespace of the object, not of the machine. */
  readonly name: string;
  /** The name as given. */
  readonly asked: string;
  readonly format: Format;
}

const kindOf = (text: string): ExplainedKind | undefined => {
  const named = text.toLowerCase();
  const kinds: readonly (readonly [string, readonly string[]])[] = Object.entries(EXPLAINED_KINDS);
  const found = kinds.find(([, names]) => names.includes(named))?.[0];
  return Object.keys(EXPLAINED_KINDS).find((kind) => kind === found) as ExplainedKind | undefined;
};

const subjectOf = (
  { kind, name }: ExplainRequest,
): { readonly kind: ExplainedKind; readonly name: string } | string => {
  const known = kindOf(kind);
  if (name === undefined) {
    return known === undefined
      ? { kind: 'node', name: kind }
      : 'Cannot start without <name>: it is required; see "tidegate explain --help"';
  }
  return known === undefined
    ? `Cannot explain "${kind}": unknown kind; write one of ${
      Object.keys(EXPLAINED_KINDS).join(', ')
    }`
    : { kind: known, name };
};

const NAMESPACED: ReadonlySet<ExplainedKind> = new Set([
  'capacityrequest',
  'evictionrequest',
  'pod',
  'poddisruptionbudget',
]);

/** The request, or one line about its problem. */
export const questionOf = (request: ExplainRequest): ExplainQuestion | string => {
  const subject = subjectOf(request);
  if (typeof subject === 'string') return subject;
  const { kind, name: asked } = subject;
  const format = FORMATS.find((candidate) => candidate === request.format);
  if (format === undefined) return unknownWord('--output', request.format, FORMATS);
  const common = { kind, format, asked };
  if (kind === 'machine') {
    return { ...common, namespace: '', name: upcomingNodeName(machineId(asked)) };
  }
  const [first = '', second, ...more] = asked.split('/');
  const name = second ?? first;
  const hasNamespace = NAMESPACED.has(kind);
  if (name === '' || more.length > 0 || (!hasNamespace && second !== undefined)) {
    const form = hasNamespace ? 'NAMESPACE/NAME' : 'NAME';
    return `Cannot explain "${asked}": it is not an object name; write ${form}`;
  }
  const namespace = second === undefined ? request.namespace ?? 'default' : first;
  return { ...common, namespace, name };
};
