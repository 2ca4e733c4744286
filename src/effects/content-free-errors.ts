/**
 * Errors of files that hold secrets, without any of their content.
 *
 * Promises: parsers quote the text at the error, and that text may be a token or a key; only the
 * place and a constant reason are returned. Errors of the operating system name a path only.
 */

/** A parser's place, from 1. */
export const placeText = (line: number, column: number): string => `line ${line}, column ${column}`;

const SYSTEM_CODE = /^E[A-Z0-9]+$/;
const CRYPTO_CODE = /^ERR_[A-Z0-9_]+$/;

const codeOf = (cause: Error): string =>
  'code' in cause && typeof cause.code === 'string' ? cause.code : '';

/** The words of js-yaml before it quotes anything. */
const yamlReason = (reason: string): string =>
  (/^[A-Za-z ,;-]+/.exec(reason)?.[0] ?? 'syntax error').trim();

const yamlProblem = (cause: Error): string | undefined => {
  if (cause.name !== 'YAMLException' || !('reason' in cause)) return undefined;
  const mark: unknown = 'mark' in cause ? cause.mark : undefined;
  const isPlaced = typeof mark === 'object' && mark !== null && 'line' in mark && 'column' in mark;
  const place = isPlaced ? `${placeText(Number(mark.line) + 1, Number(mark.column) + 1)}: ` : '';
  return `not valid YAML: ${place}${yamlReason(String(cause.reason))}`;
};

/** Why `cause` happened, in words that contain nothing of the files that were read. */
export const contentFreeProblem = (cause: unknown): string => {
  if (!(cause instanceof Error)) return 'unknown error';
  const code = codeOf(cause);
  if (SYSTEM_CODE.test(code)) return cause.message;
  if (CRYPTO_CODE.test(code)) return code;
  return yamlProblem(cause) ?? `unexpected content (${cause.name})`;
};
