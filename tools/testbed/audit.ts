/**
 * The API server's audit log: its policy, and reading it back.
 *
 * Promises: contains every request of a test's user once, with the time it arrived and the time it
 * was answered; with the body for Nodes and evictions. Reads by the bed's own programs are omitted.
 */
import { open, stat } from 'node:fs/promises';
import { stringify } from 'yaml';
import { componentUsers } from './credentials.ts';

/** One answered request. */
export interface AuditEntry {
  readonly user: string;
  readonly userAgent: string;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verb: string;
  readonly uri: string;
  readonly apiGroup: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly code: number;
  /** Refused for lack of a right, and not by admission or by the object. */
  readonly isUnauthorized: boolean;
  /** Epoch milliseconds with a fraction, to the microsecond. */
  readonly receivedMs: number;
  readonly answeredMs: number;
  /** The body of a request on Nodes or evictions. */
  readonly requestObject: unknown;
}

const DECISION = 'authorization.k8s.io/decision';
const PROBES = ['/healthz*', '/livez*', '/readyz*', '/openapi*', '/apis', '/api'];

/** The policy file's text. */
export const auditPolicy = (): string =>
  stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived', 'ResponseStarted'],
    rules: [
      { level: 'None', nonResourceURLs: PROBES },
      { level: 'None', users: ['system:apiserver'] },
      { level: 'None', users: componentUsers, verbs: ['get', 'list', 'watch'] },
      {
        level: 'None',
        users: componentUsers,
        resources: [
          { group: 'coordination.k8s.io', resources: ['leases'] },
          { group: 'events.k8s.io', resources: ['events'] },
          { group: '', resources: ['events'] },
        ],
      },
      {
        level: 'Request',
        verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'],
        resources: [{ group: '', resources: ['nodes', 'pods/eviction'] }],
      },
      { level: 'Metadata' },
    ],
  });

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const inside = (value: unknown, key: string): unknown => isRecord(value) ? value[key] : undefined;

const text = (value: unknown): string => typeof value === 'string' ? value : '';

/** `2026-11-21T08:00:00.123456Z` as epoch milliseconds 1795248000123.456. */
export const microTimeMs = (micro: string): number => {
  const [, whole, fraction = ''] = /^(.*?)(?:\.(\d+))?Z$/.exec(micro) ?? [];
  return Date.parse(`${whole}Z`) + Number(`0.${fraction || '0'}`) * 1000;
};

const entryOf = (line: unknown): AuditEntry | undefined => {
  if (inside(line, 'stage') !== 'ResponseComplete') return undefined;
  const target = inside(line, 'objectRef');
  const code = inside(inside(line, 'responseStatus'), 'code');
  return {
    user: text(inside(inside(line, 'user'), 'username')),
    userAgent: text(inside(line, 'userAgent')),
    verb: text(inside(line, 'verb')),
    uri: text(inside(line, 'requestURI')),
    apiGroup: text(inside(target, 'apiGroup')),
    resource: text(inside(target, 'resource')),
    subresource: text(inside(target, 'subresource')),
    namespace: text(inside(target, 'namespace')),
    name: text(inside(target, 'name')),
    uid: text(inside(target, 'uid')),
    code: typeof code === 'number' ? code : 0,
    isUnauthorized: inside(inside(line, 'annotations'), DECISION) === 'forbid',
    receivedMs: microTimeMs(text(inside(line, 'requestReceivedTimestamp'))),
    answeredMs: microTimeMs(text(inside(line, 'stageTimestamp'))),
    requestObject: inside(line, 'requestObject'),
  };
};

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    // The last line may be half-written while the server runs.
    return undefined;
  }
};

/** The answered requests in these lines of the log. */
export const auditEntries = (log: string): readonly AuditEntry[] =>
  log.split('\n').flatMap((line) => {
    const entry = line === '' ? undefined : entryOf(parsed(line));
    return entry === undefined ? [] : [entry];
  });

/** A moment: the length of the log, and the wall clock. */
export interface AuditMark {
  readonly bytes: number;
  readonly timeMs: number;
}

const AUDIT_START: AuditMark = { bytes: 0, timeMs: 0 };

const readFrom = async (path: string, offset: number): Promise<string> => {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.max(0, size - offset));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
};

/** The requests that arrived since a moment, in the order of the answers. */
export const readAudit = async (
  path: string,
  since: AuditMark = AUDIT_START,
): Promise<readonly AuditEntry[]> => {
  const text = await readFrom(path, since.bytes).catch(() => '');
  // Of a request before the moment the answer may come after it.
  return auditEntries(text).filter(({ receivedMs }) => receivedMs >= since.timeMs);
};

/** The moment that it is now. */
export const auditMark = async (path: string, timeMs: number): Promise<AuditMark> => ({
  bytes: (await stat(path).catch(() => ({ size: 0 }))).size,
  timeMs,
});
