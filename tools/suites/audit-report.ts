/**
 * What `npm audit --json` reports about the packages that ship.
 *
 * Promises: a report is told from an answer that is none, such as that of a registry without
 * advisories; only packages that ship count, by their folder in the lock file.
 */
import { asRecord, type JsonRecord, listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import type { ShippedPackage } from '../shipped-packages.ts';

/** An advisory about a package that ships. */
export interface Advisory {
  readonly name: string;
  readonly severity: string;
  readonly title: string;
  /** Empty when the package is affected by one that it uses. */
  readonly url: string;
  /** Whether it must be dealt with before anything ships. */
  readonly isSevere: boolean;
}

/** What the registry said. */
export type AuditReport =
  | { readonly _tag: 'Audited'; readonly advisories: readonly Advisory[] }
  | { readonly _tag: 'NotRun'; readonly why: string };

const SEVERE: ReadonlySet<string> = new Set(['high', 'critical']);

const advisoriesOf = (vulnerability: JsonRecord): readonly Advisory[] => {
  const name = textAt(vulnerability, 'name') ?? '';
  return listOrEmptyAt(vulnerability, 'via').map((via) => {
    const severity = textAt(via, 'severity') ?? textAt(vulnerability, 'severity') ?? '';
    return {
      name,
      severity,
      title: textAt(via, 'title') ?? `through ${String(via)}`,
      url: textAt(via, 'url') ?? '',
      isSevere: SEVERE.has(severity),
    };
  });
};

/** Reads the output of `npm audit --json`, parsed. */
export const auditReport = (
  output: unknown,
  shipped: readonly Pick<ShippedPackage, 'path'>[],
): AuditReport => {
  const vulnerabilities = asRecord(asRecord(output)?.['vulnerabilities']);
  if (vulnerabilities === undefined) {
    const why = textAt(output, 'message') ?? textAt(output, 'error', 'summary') ?? 'no report';
    return { _tag: 'NotRun', why };
  }
  const paths = new Set(shipped.map(({ path }) => path));
  const advisories = Object.values(vulnerabilities).flatMap((one) => {
    const vulnerability = asRecord(one) ?? {};
    const isShipped = listOrEmptyAt(vulnerability, 'nodes').some((node) => paths.has(String(node)));
    return isShipped ? advisoriesOf(vulnerability) : [];
  });
  return { _tag: 'Audited', advisories };
};
