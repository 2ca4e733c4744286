/** Reads the fields of a script's JSON request, with an error message for each malformed one. */

/** A script's request failed; `status` is HTTP's. */
export class ScriptError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ScriptError';
    this.status = status;
  }
}

const bad = (field: string, wanted: string): ScriptError =>
  new ScriptError(400, `Field "${field}" must be ${wanted}`);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: unknown): value is string => typeof value === 'string';

/** The fields of a request. */
export interface RequestFields {
  readonly has: (field: string) => boolean;
  readonly text: (field: string, absent?: string) => string;
  readonly number: (field: string, absent?: number) => number;
  readonly flag: (field: string, absent?: boolean) => boolean;
  readonly texts: (field: string, absent?: readonly string[]) => readonly string[];
  /** A map of text to text. */
  readonly map: (field: string) => Readonly<Record<string, string>> | undefined;
  readonly oneOf: <Word extends string>(
    field: string,
    words: readonly Word[],
    absent?: Word,
  ) => Word;
  /** Any JSON. */
  readonly json: (field: string) => unknown;
}

/** Parses a body; an empty one has no fields. */
export const requestFields = (body: unknown): RequestFields => {
  if (body !== undefined && !isRecord(body)) {
    throw new ScriptError(400, 'The body must be a JSON object');
  }
  const fields = body ?? {};

  const read = <T>(
    field: string,
    absent: T | undefined,
    { wanted, is }: { readonly wanted: string; readonly is: (value: unknown) => value is T },
  ): T => {
    const value = fields[field] ?? absent;
    if (!is(value)) throw bad(field, wanted);
    return value;
  };
  const isNumber = (value: unknown): value is number =>
    typeof value === 'number' && Number.isFinite(value);
  const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
  const isTexts = (value: unknown): value is readonly string[] =>
    Array.isArray(value) && value.every(isText);

  return {
    has: (field) => fields[field] !== undefined,
    text: (field, absent) => read(field, absent, { wanted: 'text', is: isText }),
    number: (field, absent) => read(field, absent, { wanted: 'a number', is: isNumber }),
    flag: (field, absent) => read(field, absent, { wanted: 'true or false', is: isFlag }),
    texts: (field, absent) => read(field, absent, { wanted: 'a list of texts', is: isTexts }),
    map: (field) => {
      const value = fields[field];
      if (value === undefined) return undefined;
      if (!isRecord(value)) throw bad(field, 'an object of texts');
      return Object.fromEntries(
        Object.entries(value).map(([key, text]) => {
          if (!isText(text)) throw bad(field, 'an object of texts');
          return [key, text];
        }),
      );
    },
    oneOf: <Word extends string>(field: string, words: readonly Word[], absent?: Word): Word => {
      const value = fields[field] ?? absent;
      const word = words.find((candidate) => candidate === value);
      if (word === undefined) throw bad(field, `one of ${words.join(', ')}`);
      return word;
    },
    json: (field) => fields[field],
  };
};
