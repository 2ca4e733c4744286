/**
 * Says why a shard cannot be reached, or refuses, and what to do about it, from the end of a
 * session.
 *
 * Promises: one sentence for each cause, so that repeats form one Event; total.
 */
import type { EndingCause, SessionEnding } from './session.ts';
import { cutText, quoted } from './text.ts';

/** Why a session ended, and what to do about it. */
export interface OutageCause {
  readonly why: string;
  readonly remedy: string;
}

const SILENT: OutageCause = {
  why: 'no answer to the connection attempt',
  remedy: "Check network policies, firewalls and routes from the operator's pod to the shard",
};

/** By what the transport reports. */
const OF_DETAIL: readonly (readonly [pattern: RegExp, cause: OutageCause])[] = [
  [/ECONNREFUSED/, {
    why: 'no process listens at this address',
    remedy: 'Check that the shard runs, and the port in --shard-addr',
  }],
  [/Name resolution failed|ENOTFOUND|EAI_AGAIN/, {
    why: 'the name does not resolve',
    remedy: 'Check the host in --shard-addr and the DNS of the cluster',
  }],
  [/certificate|\bSSL\b|\bTLS\b|handshake/i, {
    why: 'the TLS handshake fails',
    remedy: 'Run "tidegate doctor", and compare issuer, names and expiry of both certificates',
  }],
  [/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/, SILENT],
];

const OF_ENDING: ReadonlyMap<string, OutageCause> = new Map(Object.entries(
  {
    DialOverdue: SILENT,
    HelloOverdue: {
      why: 'it accepts the connection and does not acknowledge the session',
      remedy: 'Check that --shard-addr names the session port of a shard, and what proxies it',
    },
    EndedByShard: {
      why: 'each session ends before a roll-up is acknowledged',
      remedy: 'Check the logs of the shard, and of the proxies before it',
    },
  } satisfies Partial<Record<EndingCause, OutageCause>>,
));

const UNKNOWN: OutageCause = {
  why: 'the connection fails',
  remedy: 'Check that the shard runs and that the operator can connect to it',
};

/** The maximum length of the transport's own words. */
const DETAIL_MAX = 300;
/** Of a refusal, which names files and certificates. */
const REFUSAL_DETAIL_MAX = 600;

/** Why a leader has no session, as the Events on its Lease report it. */
export interface ShardOutage {
  readonly reason: 'SessionRefused' | 'ShardUnreachable';
  /** One sentence on the outage and one on its remedy. */
  readonly note: string;
}

/** What the end of a session says about the outage that follows it; `why` may be any text. */
export const outageCause = (
  { why, detail }: { readonly why: string; readonly detail: string },
): OutageCause =>
  OF_ENDING.get(why) ?? OF_DETAIL.find(([pattern]) => pattern.test(detail))?.[1] ?? UNKNOWN;

/** One sentence on the outage and one on its remedy. */
export const unreachableNote = (address: string, ending: SessionEnding): string => {
  const { why, remedy } = outageCause(ending);
  return `Cannot reach the shard at ${quoted(address)}: ${why} ` +
    `(${cutText(ending.detail, DETAIL_MAX, '…')}). ${remedy}`;
};

const BAD_KEY_PAIR: OutageCause = {
  why: 'the key pair cannot be used',
  remedy: 'Put a valid key pair into its files: they are read again within seconds',
};

const REFUSED_CLUSTER: OutageCause = {
  why: 'it refuses this cluster',
  remedy: 'Ask the administrators of the fleet whether they accept this cluster and the issuer ' +
    'of its certificate',
};

/** One sentence on the refusal and one on its remedy. */
export const refusedNote = (address: string, ending: SessionEnding): string => {
  const { why, remedy } = ending.why === 'CredentialsRefused' ? BAD_KEY_PAIR : REFUSED_CLUSTER;
  return `Cannot open a session with the shard at ${quoted(address)}: ${why} ` +
    `(${cutText(ending.detail, REFUSAL_DETAIL_MAX, '…')}). ${remedy}`;
};

/** The end of the outage. */
export const reachableNote = (address: string): string =>
  `The shard at ${quoted(address)} acknowledges roll-ups again`;

const UNKNOWN_REMEDY: Readonly<Record<ShardOutage['reason'], string>> = {
  SessionRefused: 'Run "tidegate doctor" with the flags of the operator',
  ShardUnreachable: UNKNOWN.remedy,
};

/** The last word before the remedy. */
const BEFORE_REMEDY = '). ';

/** A note in its two sentences; one of another version may have no remedy. */
export const sentencesOf = (
  { reason, note }: ShardOutage,
): { readonly sentence: string; readonly remedy: string } => {
  const end = note.lastIndexOf(BEFORE_REMEDY);
  if (end < 0) return { sentence: note, remedy: UNKNOWN_REMEDY[reason] };
  return { sentence: note.slice(0, end + 1), remedy: note.slice(end + BEFORE_REMEDY.length) };
};
