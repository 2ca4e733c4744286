/**
 * The findings of `tidegate doctor`: pure functions from what was read to what it means and what to
 * do about it.
 */
import { LIFECYCLE_GROUP } from '../domain/api-group.ts';
import type { EvictionsApi } from '../domain/native-evictions/evictions-api.ts';
import { NATIVE_GROUP } from '../domain/native-evictions/objects.ts';
import { pageUrl } from '../domain/documentation.ts';
import { isConditionTrue } from '../domain/condition.ts';
import { listOrEmptyAt, textAt, valueAt } from '../domain/json.ts';
import { sameJson } from '../domain/json-equality.ts';
import { leaseRecordOf } from '../domain/lease.ts';
import {
  DRAIN_ANNOTATIONS_POLICY,
  type NeededRight,
  rightName,
} from '../domain/operator-rights.ts';
import { quoted } from '../domain/text.ts';
import { duration } from './duration.ts';
import { oneLine } from './table.ts';
import { wrappedLines } from './wrapped-text.ts';

/** The pages about problems, by their paths. */
export const PAGES = {
  cluster: 'docs/tasks/install.md#6-verify',
  evictionsApi: 'docs/native-evictions.md#which-api',
  upgrade: 'docs/tasks/upgrade.md',
  definitions: 'docs/tasks/install.md#2-custom-resources-and-policies',
  rights: 'docs/tasks/rbac.md',
  start: 'docs/tasks/install.md#5-start',
  lease: 'docs/runbooks.md#lease-not-renewed',
  certificate: 'docs/tasks/mtls.md',
  rotation: 'docs/tasks/mtls.md#5-rotate',
  shard: 'docs/runbooks.md#shard-unreachable',
} as const;

/** How a check ended. */
export type FindingState = 'ok' | 'warning' | 'failed' | 'skipped';

/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly state: FindingState;
  /** One sentence. */
  readonly finding: string;
  /** What to do; null when there is nothing to do. */
  readonly remedy: string | null;
  /** The address of the page about it; null when there is nothing to do. */
  readonly page: string | null;
}

/** What was found, what to do about it, and the page with more, by its path. */
type FoundProblem = readonly [finding: string, remedy: string, page: string];

/** A finding, with its remedy and its page when there is something to do. */
export const finding = (
  check: string,
  state: FindingState,
  found: string | FoundProblem,
): Finding => {
  if (typeof found === 'string') return { check, state, finding: found, remedy: null, page: null };
  const [text, remedy, page] = found;
  return { check, state, finding: text, remedy, page: pageUrl(page) };
};

/** A verb that is denied, or could not be asked about. */
export interface DeniedRight {
  readonly right: NeededRight;
  readonly verb: string;
  readonly namespace: string | undefined;
}

/** The rights of the user. */
export const rightsFinding = (
  asked: number,
  denied: readonly DeniedRight[],
  user = 'The user of the kubeconfig',
): Finding => {
  const check = 'rights';
  const missing = [...Map.groupBy(denied, ({ right }) => rightName(right))].map(([name, list]) =>
    `${list.map(({ verb }) => verb).join(', ')} ${name}`
  );
  if (missing.length === 0) {
    return finding(check, 'ok', `${user} has all ${asked} rights that the operator needs`);
  }
  const isOptional = denied.every(({ right }) => right.isOptional);
  return finding(check, isOptional ? 'warning' : 'failed', [
    `${user} may not ${missing.join('; ')}`,
    'Grant these verbs in the ClusterRole of the operator. To check its own rights, run this ' +
    'command in its pod, or with a kubeconfig of its service account',
    PAGES.rights,
  ]);
};

const CRD_REMEDY = 'kubectl apply --server-side -f charts/tidegate/files/crds';

const isEstablished = (definition: unknown): boolean => isConditionTrue(definition, 'Established');

const schemaOf = (definition: unknown): unknown =>
  valueAt(listOrEmptyAt(definition, 'spec', 'versions')[0], 'schema', 'openAPIV3Schema');

/** One CRD; `found` is undefined when it is not installed. */
export const definitionFinding = (wanted: unknown, found: unknown): Finding => {
  const check = `crd ${textAt(wanted, 'spec', 'names', 'plural') ?? ''}`;
  const name = textAt(wanted, 'metadata', 'name') ?? '';
  if (found === undefined) {
    return finding(check, 'failed', [`${name} is not installed`, CRD_REMEDY, PAGES.definitions]);
  }
  if (!isEstablished(found)) {
    return finding(check, 'failed', [
      `${name} is not established`,
      `kubectl describe crd ${name}`,
      PAGES.definitions,
    ]);
  }
  return sameJson(schemaOf(wanted), schemaOf(found))
    ? finding(check, 'ok', `${name} is installed as this version has it`)
    : finding(check, 'warning', [
      `${name} has the schema of another version`,
      CRD_REMEDY,
      PAGES.upgrade,
    ]);
};

/** Which API the operator takes for its requests. */
export const evictionsApiFinding = (
  api: EvictionsApi,
  served: Readonly<Record<EvictionsApi, boolean>>,
): Finding => {
  const check = 'eviction api';
  const group = { tidegate: LIFECYCLE_GROUP, native: NATIVE_GROUP }[api];
  if (!served[api]) {
    return finding(check, 'failed', [
      `Requests are to be in ${group}, which is not served`,
      'Install the CRD, or set --eviction-request-api',
      PAGES.evictionsApi,
    ]);
  }
  const isOther = api === 'tidegate' && served.native;
  return finding(
    check,
    'ok',
    `Requests are in ${group}` +
      (isOther ? `; ${NATIVE_GROUP} is served, too: --eviction-request-api=native takes it` : ''),
  );
};

/** What the policies keep from users without rights. */
const WITHOUT_POLICIES = {
  requests: 'whoever may write EvictionRequests or NodeMaintenances may have any pod evicted and ' +
    'write the status of any controller',
  annotations: 'whoever may change Nodes, as every kubelet may its own, may stop a drain and ' +
    'pretend one',
};

/** The admission policies of the selected roles; drains also work without theirs. */
export const policiesFinding = (
  missing: readonly { readonly kind: string; readonly name: string }[],
): Finding => {
  const check = 'policies';
  if (missing.length === 0) {
    return finding(check, 'ok', 'The policies of the selected roles are installed');
  }
  const names = missing.map(({ kind, name }) => `${kind} ${name}`).join(', ');
  const isOfRequests = missing.some(({ name }) => name !== DRAIN_ANNOTATIONS_POLICY);
  return finding(check, isOfRequests ? 'failed' : 'warning', [
    `Not installed: ${names}. Without them, ${
      WITHOUT_POLICIES[isOfRequests ? 'requests' : 'annotations']
    }`,
    'kubectl apply --server-side -f charts/tidegate/files/policies',
    PAGES.definitions,
  ]);
};

/** The Lease of the operator; `found` is undefined when there is none. */
export const leaseFinding = (
  found: unknown,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  nowMs: number,
): Finding => {
  const check = 'lease';
  const lease = `Lease ${namespace}/${name}`;
  if (found === undefined) {
    return finding(check, 'warning', [
      `${lease} does not exist: no operator has run with it`,
      'Start the operator, or name its Lease with --lease-namespace and --lease-name',
      PAGES.start,
    ]);
  }
  const { holder, durationSeconds } = leaseRecordOf(found);
  if (holder === '') {
    return finding(check, 'warning', [
      `${lease} was released: no operator runs`,
      'Start the operator',
      PAGES.start,
    ]);
  }
  const renewedMs = Date.parse(textAt(found, 'spec', 'renewTime') ?? '');
  const ago = Number.isNaN(renewedMs) ? undefined : nowMs - renewedMs;
  if (ago === undefined || ago > durationSeconds * 1000) {
    const since = ago === undefined ? 'never' : `${duration(ago)} ago`;
    return finding(check, 'failed', [
      `${lease} is held by ${quoted(holder)}, which renewed it last ${since}`,
      'Look at the logs of the operator, and whether its pod runs',
      PAGES.lease,
    ]);
  }
  return finding(
    check,
    'ok',
    `${lease} is held by ${quoted(holder)}, renewed ${duration(ago)} ago`,
  );
};

const SKEW_MS_MAX = 5_000;

/** The clock of this machine beside that of the API server. */
export const clockFinding = (skewMs: number | undefined): Finding => {
  const check = 'clock';
  if (skewMs === undefined) {
    return finding(check, 'skipped', 'The answers of the API server have no date');
  }
  if (Math.abs(skewMs) <= SKEW_MS_MAX) {
    return finding(check, 'ok', 'The clock of this machine agrees with that of the API server');
  }
  const direction = skewMs > 0 ? 'behind' : 'ahead of';
  return finding(check, 'warning', [
    `The clock of this machine is ${
      duration(Math.abs(skewMs))
    } ${direction} that of the API server`,
    'Synchronize the clock (NTP): certificates are checked with it',
    PAGES.certificate,
  ]);
};

const EXPIRES_SOON_MS = 14 * 86_400_000;

/** A key pair that can be used. */
export const certificateFinding = (
  { file, identity, expiresMs }: {
    readonly file: string;
    readonly identity: string;
    readonly expiresMs: number;
  },
  nowMs: number,
): Finding => {
  const left = expiresMs - nowMs;
  const text = `${file} is for ${identity} and expires in ${duration(left)}`;
  return left > EXPIRES_SOON_MS
    ? finding('certificate', 'ok', text)
    : finding('certificate', 'warning', [
      text,
      'Renew it; the operator reads the files again',
      PAGES.rotation,
    ]);
};

/** The worst state of all findings. */
export const hasFailed = (findings: readonly Finding[]): boolean =>
  findings.some(({ state }) => state === 'failed');

const MARKS: Readonly<Record<FindingState, readonly [mark: string, code: string]>> = {
  ok: ['ok', '\u001b[32m'],
  warning: ['warning', '\u001b[33m'],
  failed: ['FAILED', '\u001b[31m'],
  skipped: ['skipped', '\u001b[2m'],
};
const PLAIN = '\u001b[0m';
const MARK_COLUMNS = 7;
const GAP = 2;

/** The findings as text, each line within the width. */
export const diagnosisText = (
  findings: readonly Finding[],
  { columns, colors }: { readonly columns: number; readonly colors: boolean },
): string => {
  const left = MARK_COLUMNS + GAP;
  const indented = (text: string): readonly string[] =>
    wrappedLines(oneLine(text), columns - left).map((line) => ' '.repeat(left) + line);
  /** A command is never broken: a part of it could be pasted. */
  const remedyLines = (remedy: string): readonly string[] =>
    remedy.startsWith('kubectl ') ? [`${' '.repeat(left)}→ ${remedy}`] : indented(`→ ${remedy}`);
  const lines = findings.flatMap(({ check, state, finding: text, remedy, page }) => {
    const [mark, code] = MARKS[state];
    const [first = '', ...more] = indented(`${check}: ${text}`);
    const padded = mark.padEnd(MARK_COLUMNS);
    const painted = colors ? `${code}${padded}${PLAIN}` : padded;
    return [
      painted + first.slice(MARK_COLUMNS),
      ...more,
      ...(remedy === null ? [] : remedyLines(remedy)),
      ...(page === null ? [] : [`${' '.repeat(left)}  ${page}`]),
    ];
  });
  const count = (state: FindingState): number =>
    findings.filter((one) => one.state === state).length;
  const summary = (['failed', 'warning', 'skipped', 'ok'] as const)
    .flatMap((state) => count(state) === 0 ? [] : [`${count(state)} ${state}`]).join(', ');
  return `${[...lines, '', summary].join('\n')}\n`;
};
