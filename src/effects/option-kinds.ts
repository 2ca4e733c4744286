/**
 * Kinds of options: parse the text of a flag or variable.
 *
 * Promises: parsing never throws; an invalid text yields the problem and the remedy.
 */
import { goDuration, goDurationMs } from '../domain/go-duration.ts';

/** The result of parsing a text. */
export type Reading<Value> =
  | { readonly _tag: 'Read'; readonly value: Value }
  | { readonly _tag: 'Unreadable'; readonly why: string; readonly remedy: string };

/** How to parse texts of one kind, and its placeholder in help. */
export interface Kind<Value> {
  readonly placeholder: string;
  /** The flag alone, without a value, means `true`. */
  readonly isSwitch?: boolean;
  /** Of whole numbers: the least and the most. */
  readonly range?: readonly [least: number, most: number];
  readonly read: (text: string) => Reading<Value>;
}

/** The documentation of an option. */
export interface OptionFacts {
  /** The flag without its dashes; the variable derives from it. */
  readonly name: string;
  readonly help: string;
}

/** An option: its kind and its default. */
export interface Option<Value> extends OptionFacts, Kind<Value> {
  /** The default in its textual form. */
  readonly default?: string;
  /** Why it is required. */
  readonly requiredBecause?: string;
  /** When it is required, such as with `the role fleet`; always when undefined. */
  readonly requiredWith?: string;
  readonly absent: () => Reading<Value>;
}

const value = <Value>(read: Value): Reading<Value> => ({ _tag: 'Read', value: read });
const unreadable = (why: string, remedy: string): Reading<never> => ({
  _tag: 'Unreadable',
  why,
  remedy,
});

/** An optional option. */
export const optional = <Value>(
  kind: Kind<Value>,
  facts: OptionFacts,
): Option<Value | undefined> => ({ ...facts, ...kind, absent: () => value(undefined) });

/** An option with a default. */
export const defaulted = <Value>(
  kind: Kind<Value>,
  facts: OptionFacts & { readonly default: string },
): Option<Value> => ({ ...facts, ...kind, absent: () => kind.read(facts.default) });

/** A required option. */
export const required = <Value>(
  kind: Kind<Value>,
  facts: OptionFacts & { readonly requiredBecause: string; readonly requiredWith?: string },
): Option<Value> => ({
  ...facts,
  ...kind,
  absent: () => unreadable(facts.requiredBecause, `add --${facts.name}=${kind.placeholder}`),
});

/** The address of a server; port 0 lets the system choose. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Any non-empty text. */
export const text = (placeholder: string): Kind<string> => ({
  placeholder,
  read: (given) =>
    given.trim() === '' ? unreadable('it is empty', 'give it a value') : value(given),
});

/** A path; its users check whether the file exists. */
export const file: Kind<string> = text('FILE');

/** A Go duration in milliseconds, at least `leastMs`. */
export const duration = (leastMs: number): Kind<number> => ({
  placeholder: 'DURATION',
  read: (given) => {
    const ms = goDurationMs(given);
    if (ms === undefined) {
      return unreadable(
        'it is not a duration',
        'write a number with its unit, such as 10s or 1m30s',
      );
    }
    return ms < leastMs
      ? unreadable('it is too short', `write ${goDuration(leastMs)} or longer`)
      : value(ms);
  },
});

/** A whole number between `least` and `most`. */
export const whole = (least: number, most: number): Kind<number> => ({
  placeholder: 'NUMBER',
  range: [least, most],
  read: (given) => {
    const number = /^[+-]?\d+$/.test(given) ? Number(given) : Number.NaN;
    const remedy = `write a whole number from ${least} to ${most}`;
    if (Number.isNaN(number)) return unreadable('it is not a whole number', remedy);
    return number < least || number > most
      ? unreadable('it is out of range', remedy)
      : value(number);
  },
});

/** Zero, as a number or a duration; without a fraction, which may be rounded to it. */
const isZero = (given: string): boolean =>
  /^[+-]?0+$/.test(given) || (!/[1-9.]/.test(given) && goDurationMs(given) === 0);

/** `kind`, of which 0 means `usual`, as for the Go operator. */
export const zeroMeans = <Value>(kind: Kind<Value>, usual: string): Kind<Value> => ({
  ...kind,
  ...(kind.range && { range: [0, kind.range[1]] }),
  read: (given) => kind.read(isZero(given) ? usual : given),
});

/** A positive number, fractions allowed. */
export const rate: Kind<number> = {
  placeholder: 'NUMBER',
  read: (given) => {
    const number = /^\+?(\d+\.?\d*|\.\d+)$/.test(given) ? Number(given) : 0;
    return number > 0 ? value(number) : unreadable('it is not a rate', 'write a number above 0');
  },
};

/** One of a few words. */
export const choice = <const Word extends string>(words: readonly Word[]): Kind<Word> => ({
  placeholder: words.join('|'),
  read: (given) => {
    const word = words.find((candidate) => candidate === given);
    return word === undefined
      ? unreadable('unknown value', `write one of ${words.join(', ')}`)
      : value(word);
  },
});

/** A boolean; the flag alone means true. */
export const yesOrNo: Kind<boolean> = {
  placeholder: 'true|false',
  isSwitch: true,
  read: (given) =>
    given === 'true' || given === 'false'
      ? value(given === 'true')
      : unreadable('unknown value', 'write true or false'),
};

const HOST_AND_PORT = /^(?:\[([0-9A-Fa-f:.%]+)\]|([^:[\]\s]*)):(\d{1,5})$/;

const hostAndPort = (given: string): ListenAddress | undefined => {
  const match = HOST_AND_PORT.exec(given);
  const port = Number(match?.[3]);
  return match === null || port > 65_535 ? undefined : { host: match[1] ?? match[2] ?? '', port };
};

/** A listen address: `:8770`, `127.0.0.1:8770`, `[::1]:8770`; `0` disables it. */
export const listen: Kind<ListenAddress | 'off'> = {
  placeholder: 'HOST:PORT',
  read: (given) => {
    if (given === '0') return value('off' as const);
    const address = hostAndPort(given);
    return address === undefined
      ? unreadable('it is not an address', 'write HOST:PORT, :PORT, or 0 to disable it')
      : value(address);
  },
};

/** A dial address: `host:port`, or a gRPC target with its scheme (`dns:///…`, `unix:…`). */
export const target: Kind<string> = {
  placeholder: 'HOST:PORT',
  read: (given) => {
    if (/^(?:dns|ipv4|ipv6|unix):\S/.test(given) && hostAndPort(given) === undefined) {
      return value(given);
    }
    const address = hostAndPort(given);
    return address === undefined || address.host === '' || address.port === 0
      ? unreadable('it is not an address', 'write HOST:PORT, such as shard.fleet.svc:7700')
      : value(given);
  },
};
