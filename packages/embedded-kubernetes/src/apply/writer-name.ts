/** The manager of a request: `fieldManager`, or the beginning of its User-Agent. */
import type { ClusterRequest } from '../api.ts';
import {
  fieldForbidden,
  type FieldProblem,
  invalid,
  invalidObject,
  required,
  tooLong,
} from '../validation/field-problem.ts';

const NAME_BYTES_MAX = 128;
const UNKNOWN = 'unknown';
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

const unprintable = (name: string): FieldProblem | undefined => {
  let at = 0;
  for (const character of name) {
    if (!PRINTABLE.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      return invalid('fieldManager', name, `invalid character U+${code} (at position ${at})`);
    }
    at += new TextEncoder().encode(character).length;
  }
  return undefined;
};

const nameProblems = (name: string): readonly FieldProblem[] => {
  if (new TextEncoder().encode(name).length > NAME_BYTES_MAX) {
    return [tooLong('fieldManager', `may not be more than ${NAME_BYTES_MAX} bytes`)];
  }
  const problem = unprintable(name);
  return problem === undefined ? [] : [problem];
};

const OPTIONS: Readonly<Record<string, string>> = {
  POST: 'CreateOptions',
  PUT: 'UpdateOptions',
  PATCH: 'PatchOptions',
};

/** The User-Agent up to its version. */
const agentName = (agent: string): string => {
  const name = [...agent.split('/')[0] ?? ''].filter((one) => PRINTABLE.test(one)).join('');
  return name.slice(0, NAME_BYTES_MAX) || UNKNOWN;
};

/** The manager's name; throws 422 when the options of the request are invalid. */
export const managerName = (
  { method, headers }: Pick<ClusterRequest, 'method' | 'headers'>,
  query: URLSearchParams,
  isApply: boolean,
): string => {
  const asked = query.get('fieldManager') ?? '';
  const problems = [
    ...nameProblems(asked),
    ...(isApply && asked === '' ? [required('fieldManager', 'is required for apply patch')] : []),
    ...(method === 'PATCH' && !isApply && query.has('force')
      ? [fieldForbidden('force', 'may not be specified for non-apply patch')]
      : []),
  ];
  if (problems.length > 0) {
    throw invalidObject({ group: 'meta.k8s.io', kind: OPTIONS[method] ?? '' }, '', problems);
  }
  return asked === '' ? agentName(headers?.['user-agent'] ?? '') : asked;
};
