/**
 * Kinds of options: how the text of a flag or variable becomes a value.
 *
 * Promises: reading never throws; a text that cannot be read comes back with why, and with what to
 * write instead.
 */
import { goDuration, goDurationMs } from '../domain/go-duration.ts';

/** What became of a text. */
export type Reading<Value> =
  | { readonly _tag: 'Read'; readonly value: Value }
  | { readonly _tag: 'Unreadable'; readonly why: string; readonly remedy: string };

/** How texts of one kind are read, and what one looks like in help. */
export interface Kind<Value> {
  readonly placeholder: string;
  /** The flag alone, without a value, says `true`. */
  readonly isSwitch?: boolean;
  readonly read: (text: string) => Reading<Value>;
}

/** What people are told about an option. */
export interface OptionFacts {
  /** The flag without its dashes; the variable is made from it. */
  readonly name: string;
  readonly help: string;
}

/** An option: its kind, and what holds when nobody sets it. */
export interface Option<Value> extends OptionFacts, Kind<Value> {
  /** The default as people would write it. */
  readonly default?: string;
  /** Why it cannot be left out. */
  readonly requiredBecause?: string;
  /** With what it cannot be left out, such as `the role fleet`; always when there is none. */
  readonly requiredWith?: string;
  readonly absent: () => Reading<Value>;
}

const value = <Value>(read: Value): Reading<Value> => ({ _tag: 'Read', value: read });
const unreadable = (why: string, remedy: string): Reading<never> => ({
  _tag: 'Unreadable',
  why,
  remedy,
});

/** An option that may be left out. */
export const optional = <Value>(
  kind: Kind<Value>,
  facts: OptionFacts,
): Option<Value | undefined> => ({ ...facts, ...kind, absent: () => value(undefined) });

/** An option that stands at its default until somebody sets it. */
export const defaulted = <Value>(
  kind: Kind<Value>,
  facts: OptionFacts & { readonly default: string },
): Option<Value> => ({ ...facts, ...kind, absent: () => kind.read(facts.default) });

/** An option without which the program does not start. */
export const required = <Value>(
  kind: Kind<Value>,
  facts: OptionFacts & { readonly requiredBecause: string; readonly requiredWith?: string },
): Option<Value> => ({
  ...facts,
  ...kind,
  absent: () => unreadable(facts.requiredBecause, `add --${facts.name}=${kind.placeholder}`),
});

/** Where a server listens; port 0 lets the system choose. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Any text but an empty one. */
export const text = (placeholder: string): Kind<string> => ({
  placeholder,
  read: (given) =>
    given.trim() === '' ? unreadable('it is empty', 'give it a value') : value(given),
});

/** A path; whether the file exists is the business of whoever reads it. */
export const file: Kind<string> = text('FILE');

/** A Go duration in milliseconds, at least `leastMs`. */
export const duration = (leastMs: number): Kind<number> => ({
  placeholder: 'DURATION',
  read: (given) => {
    const ms = goDurationMs(given);
    if (ms === undefined) {
      return unreadable('it is no duration', 'write a number with its unit, such as 10s or 1m30s');
    }
    return ms < leastMs
      ? unreadable('it is too short', `write ${goDuration(leastMs)} or longer`)
      : value(ms);
  },
});

/** A whole number between `least` and `most`. */
export const whole = (least: number, most: number): Kind<number> => ({
  placeholder: 'NUMBER',
  read: (given) => {
    const number = /^[+-]?\d+$/.test(given) ? Number(given) : Number.NaN;
    const remedy = `write a whole number from ${least} to ${most}`;
    if (Number.isNaN(number)) return unreadable('it is no whole number', remedy);
    return number < least || number > most
      ? unreadable('it is out of range', remedy)
      : value(number);
  },
});

/** A number above zero, fractions allowed. */
export const rate: Kind<number> = {
  placeholder: 'NUMBER',
  read: (given) => {
    const number = /^\+?(\d+\.?\d*|\.\d+)$/.test(given) ? Number(given) : 0;
    return number > 0 ? value(number) : unreadable('it is no rate', 'write a number above 0');
  },
};

/** One of a few words. */
export const choice = <const Word extends string>(words: readonly Word[]): Kind<Word> => ({
  placeholder: words.join('|'),
  read: (given) => {
    const word = words.find((candidate) => candidate === given);
    return word === undefined
      ? unreadable('it is unknown', `write one of ${words.join(', ')}`)
      : value(word);
  },
});

/** Yes or no; the flag alone says yes. */
export const yesOrNo: Kind<boolean> = {
  placeholder: 'true|false',
  isSwitch: true,
  read: (given) =>
    given === 'true' || given === 'false'
      ? value(given === 'true')
      : unreadable('it is unknown', 'write true or false'),
};

const HOST_AND_PORT = /^(?:\[([0-9A-Fa-f:.%]+)\]|([^:[\]\s]*)):(\d{1,5})$/;

const hostAndPort = (given: string): ListenAddress | undefined => {
  const match = HOST_AND_PORT.exec(given);
  const port = Number(match?.[3]);
  return match === null || port > 65_535 ? undefined : { host: match[1] ?? match[2] ?? '', port };
};

/** Where to listen: `:8770`, `127.0.0.1:8770`, `[::1]:8770`; `0` says nowhere. */
export const listen: Kind<ListenAddress | 'off'> = {
  placeholder: 'HOST:PORT',
  read: (given) => {
    if (given === '0') return value('off' as const);
    const address = hostAndPort(given);
    return address === undefined
      ? unreadable('it is no address', 'write HOST:PORT, :PORT, or 0 to turn it off')
      : value(address);
  },
};

/** Whom to dial: `host:port`, or a gRPC target with its scheme (`dns:///…`, `unix:…`). */
export const target: Kind<string> = {
  placeholder: 'HOST:PORT',
  read: (given) => {
    if (/^(?:dns|ipv4|ipv6|unix):\S/.test(given) && hostAndPort(given) === undefined) {
      return value(given);
    }
    const address = hostAndPort(given);
    return address === undefined || address.host === '' || address.port === 0
      ? unreadable('it is no address', 'write HOST:PORT, such as shard.fleet.svc:7700')
      : value(given);
  },
};
