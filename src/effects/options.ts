/**
 * Decodes a table of options into values, or the first problem.
 *
 * Promises: a flag beats the environment, the environment beats the default; an empty variable
 * counts as not set, and so does an empty flag of an optional option (manifests of the Go operator
 * have `--tls-cert=`); a problem is one line that names the option, the text and the remedy.
 */
import { quoted } from '../domain/text.ts';
import type { Option } from './option-kinds.ts';

/** A table of options by the name of their setting. */
export type OptionTable = Readonly<Record<string, Option<unknown>>>;

/** Raw texts: flags by name (`cluster-id`), and the environment. */
export interface Given {
  readonly flags: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The prefix of this table's variables: `TIDEGATE`, `TIDEGATE_FLEET`. */
  readonly prefix: string;
}

/** The values of a table. */
export type Decoded<Table extends OptionTable> = {
  readonly [Key in keyof Table]: Table[Key] extends Option<infer Value> ? Value : never;
};

/** Why the program does not start, in one line for the user. */
export interface SettingsProblem {
  readonly _tag: 'SettingsProblem';
  readonly message: string;
}

/** Settings, or the problem. */
export type Settled<Settings> =
  | { readonly _tag: 'Settled'; readonly settings: Settings }
  | SettingsProblem;

/** A problem; line breaks in the text are replaced. */
export const settingsProblem = (message: string): SettingsProblem => ({
  _tag: 'SettingsProblem',
  message: message.replaceAll(/\s*[\r\n]+\s*/g, ' '),
});

/** The variable of an option: `TIDEGATE` and `rollup-interval` → `TIDEGATE_ROLLUP_INTERVAL`. */
export const variableOf = (prefix: string, name: string): string =>
  `${prefix}_${name.toUpperCase().replaceAll('-', '_')}`;

const decodeOne = (option: Option<unknown>, given: Given): Settled<unknown> => {
  const isOptional = option.default === undefined && option.requiredBecause === undefined;
  const flag = given.flags[option.name] || (isOptional ? undefined : given.flags[option.name]);
  const variable = variableOf(given.prefix, option.name);
  const text = flag ?? (given.environment[variable] || undefined);
  const reading = text === undefined ? option.absent() : option.read(text);
  if (reading._tag === 'Read') return { _tag: 'Settled', settings: reading.value };
  if (text === undefined) {
    return settingsProblem(
      `Cannot start without --${option.name}: ${reading.why}; ${reading.remedy} or set ${variable}`,
    );
  }
  const name = flag === undefined ? variable : `--${option.name}`;
  return settingsProblem(`Cannot use ${name} ${quoted(text)}: ${reading.why}; ${reading.remedy}`);
};

/** Decodes a whole table; stops at the first problem in table order. */
export const decodeOptions = <Table extends OptionTable>(
  table: Table,
  given: Given,
): Settled<Decoded<Table>> => {
  const values: Record<string, unknown> = {};
  for (const [key, option] of Object.entries(table)) {
    const decoded = decodeOne(option, given);
    if (decoded._tag === 'SettingsProblem') return decoded;
    values[key] = decoded.settings;
  }
  // Each value was parsed by the option of its own key, which the loop cannot prove to the checker.
  return { _tag: 'Settled', settings: values as Decoded<Table> };
};

/** The three files of mTLS. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
}

/** mTLS requires all three files or none (WIRE-08); anything between is a problem. */
export const decodeTls = (
  files: Readonly<Record<'tlsCert' | 'tlsKey' | 'tlsCa', string | undefined>>,
  withoutFiles = 'give none for plaintext',
): Settled<TlsFiles | undefined> => {
  const { tlsCert, tlsKey, tlsCa } = files;
  if (tlsCert !== undefined && tlsKey !== undefined && tlsCa !== undefined) {
    return {
      _tag: 'Settled',
      settings: { certFile: tlsCert, keyFile: tlsKey, caFile: tlsCa },
    };
  }
  const set = { '--tls-cert': tlsCert, '--tls-key': tlsKey, '--tls-ca': tlsCa };
  const missing = Object.entries(set).filter(([, path]) => path === undefined);
  if (missing.length === 3) return { _tag: 'Settled', settings: undefined };
  const present = Object.entries(set).filter(([, path]) => path !== undefined);
  const given = present.map(([flag, path]) => `${flag} ${quoted(path ?? '')}`).join(' and ');
  const names = missing.map(([flag]) => flag).join(' and ');
  return settingsProblem(
    `Cannot use ${given} alone: mTLS needs all three files; add ${names}, ` +
      `or ${withoutFiles}`,
  );
};
