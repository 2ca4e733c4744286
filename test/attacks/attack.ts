/**
 * An attack as data: who plays it, which bound it meets, what it sends, and what the operator must
 * report about it.
 *
 * Promises: the table in docs/security.md and `npm run attack` read the same entries.
 */
import type { MetricName } from '../../src/api/metrics.ts';
import type { ReasonName } from '../../src/api/reasons.ts';
import type { AttackSite } from './site.ts';

/** Who attacks. */
export type Attacker = 'tenant' | 'shard' | 'kubelet' | 'visitor' | 'network';

/** A counter that increased. */
export interface CounterReport {
  readonly _tag: 'Counter';
  readonly name: MetricName;
  readonly labels: Readonly<Record<string, string>>;
}

/** A gauge that is higher than before the attack, by `least` or more. */
export interface GaugeReport {
  readonly _tag: 'Gauge';
  readonly name: MetricName;
  readonly least: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** What must be reported. */
export type Report =
  /** A log line since the attack began, with `containing` somewhere in its fields. */
  | { readonly _tag: 'Log'; readonly message: string; readonly containing: string }
  /** A new or changed Kubernetes Event of Tidegate, with `containing` in its note. */
  | { readonly _tag: 'Event'; readonly reason: ReasonName; readonly containing: string }
  | CounterReport
  | GaugeReport
  /** The status of every answer that the attacker got, or of some of them. */
  | { readonly _tag: 'Status'; readonly code: number; readonly of: 'every' | 'some' }
  /** Every connection of the attacker was closed without an answer. */
  | { readonly _tag: 'Closed' }
  /** A frame to the shard with this in its JSON. */
  | { readonly _tag: 'Reply'; readonly containing: string };

/** The statuses of the attacker's requests; 0 for a connection that was closed without one. */
export type Statuses = readonly number[];

/** One attack. */
export interface Attack {
  /** What is done, in a few words that are unique. */
  readonly name: string;
  readonly who: Attacker;
  /** The bound or rule that it meets, as Markdown. */
  readonly bound: string;
  readonly reports: readonly Report[];
  readonly play: (site: AttackSite) => Promise<Statuses | void>;
  /** What got through, after the attack; `undefined` when nothing did. */
  readonly breach?: (site: AttackSite) => string | undefined | Promise<string | undefined>;
}

/** An attack of the file's attacker. */
export type OwnAttack = Omit<Attack, 'who'>;

export const log = (message: string, containing = ''): Report => ({
  _tag: 'Log',
  message,
  containing,
});

export const event = (reason: ReasonName, containing = ''): Report => ({
  _tag: 'Event',
  reason,
  containing,
});

export const counter = (
  name: MetricName,
  labels: Readonly<Record<string, string>> = {},
): CounterReport => ({ _tag: 'Counter', name, labels });

export const gauge = (
  name: MetricName,
  least: number,
  labels: Readonly<Record<string, string>> = {},
): GaugeReport => ({ _tag: 'Gauge', name, least, labels });

export const status = (code: number): Report => ({ _tag: 'Status', code, of: 'every' });

export const someStatus = (code: number): Report => ({ _tag: 'Status', code, of: 'some' });

export const closed: Report = { _tag: 'Closed' };

export const reply = (containing: string): Report => ({ _tag: 'Reply', containing });

const labelsText = (labels: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
};

/** One report as Markdown. */
export const reportText = (report: Report): string => {
  switch (report._tag) {
    case 'Log':
      return `log “${report.message}”`;
    case 'Event':
      return `Event \`${report.reason}\``;
    case 'Counter':
    case 'Gauge':
      return `\`${report.name}${labelsText(report.labels)}\``;
    case 'Status':
      return `${report.code}${report.of === 'some' ? ' for some' : ''}`;
    case 'Closed':
      return 'connection closed';
    case 'Reply':
      return `reply to the shard: “${report.containing}”`;
  }
};
