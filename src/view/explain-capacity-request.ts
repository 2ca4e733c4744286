/**
 * Explains a CapacityRequest: what it adds to the demand, whether the fleet acknowledged it, and
 * which of its fields are invalid.
 *
 * Promises: agrees with the operator, because both use the same parser; total.
 */
import { REASONS } from '../api/reasons.ts';
import { runbookUrl } from '../domain/documentation.ts';
import { listOrEmptyAt, numberAt, textAt } from '../domain/json.ts';
import { readCapacityRequest } from '../domain/demand/reading.ts';
import type { Terms } from '../domain/demand/terms.ts';
import { type PenaltyBucket, PINNED_BUCKET, UNSPECIFIED_BUCKET } from '../domain/penalty.ts';
import { isDeleting, labelsOf } from '../domain/object-meta.ts';
import { OWNED_BY_POD } from '../domain/pod-demand/pod-request.ts';
import type { ShardOutage } from '../domain/shard-reach.ts';
import { age, type Detail, type Explanation, quantitiesText, timelineOf } from './explanation.ts';
import { duringOutage } from './shard-outage.ts';

/** The objects that were read. */
export interface CapacityRequestFacts {
  readonly request: unknown;
  readonly events: readonly unknown[];
  /** The operator's Leases in all namespaces; undefined without permission to list them. */
  readonly leases: unknown;
  /** Why the leader has no session, as its Event reports; undefined while it has one. */
  readonly outage?: ShardOutage | undefined;
  readonly nowMs: number;
}

type Verdict = Pick<Explanation, 'why' | 'waitsFor' | 'canAct' | 'action' | 'runbook'>;

/** Longer than one roll-up interval: a request that is older has another problem. */
const USUAL_WAIT_MS = 60_000;
/** Tolerated clock skew before a Lease is called stale. */
const CLOCK_DOUBT_MS = 60_000;

const ACKNOWLEDGED: Verdict = {
  why: 'The fleet acknowledged a roll-up that includes this request',
  waitsFor: 'The fleet; its machines appear as UpcomingNodes',
  canAct: 'nobody',
  action: '',
  runbook: '',
};

const DELETED: Verdict = {
  why: 'It is being deleted',
  waitsFor: 'Its finalizers; the next roll-up omits it',
  canAct: 'nobody',
  action: '',
  runbook: '',
};

const unreadable = (acknowledged: boolean): Verdict => ({
  why: acknowledged
    ? 'It became invalid: the fleet is still asked for its last valid spec, as long as the ' +
      'operator keeps running'
    : 'It is invalid, so the fleet is not asked for it',
  waitsFor: 'A correction of the fields below',
  canAct: 'application',
  action: 'Correct the fields below',
  runbook: runbookUrl(REASONS.InvalidCapacityRequest.runbook),
});

type LeaseState = 'unknown' | 'missing' | 'silent' | 'held';

const isFresh = (lease: unknown, nowMs: number): boolean => {
  const renewedMs = Date.parse(textAt(lease, 'spec', 'renewTime') ?? '');
  const patienceMs = (numberAt(lease, 'spec', 'leaseDurationSeconds') ?? 15) * 1000;
  const held = (textAt(lease, 'spec', 'holderIdentity') ?? '') !== '';
  return held && nowMs - renewedMs < patienceMs + CLOCK_DOUBT_MS;
};

const leaseState = ({ leases, nowMs }: CapacityRequestFacts): LeaseState => {
  if (leases === undefined) return 'unknown';
  const found = listOrEmptyAt(leases, 'items');
  if (found.length === 0) return 'missing';
  return found.some((lease) => isFresh(lease, nowMs)) ? 'held' : 'silent';
};

const OVERDUE: Readonly<Record<LeaseState, Pick<Verdict, 'why' | 'action'>>> = {
  unknown: {
    why: 'No roll-up that includes it was acknowledged for longer than usual',
    action: 'Check that the operator runs, and the Events on its Lease',
  },
  missing: {
    why: 'No operator was ever leader in this cluster: its Lease does not exist',
    action: 'Install the operator, or check the logs of its pods',
  },
  silent: {
    why: 'No operator is leader: nothing renews the Lease',
    action: 'Check the pods of the operator',
  },
  held: {
    why: 'An operator is leader, but no roll-up with this request was acknowledged',
    action: 'Check the Events on the Lease of the operator: they show the state of its session',
  },
};

const PENDING: Verdict = {
  why: 'No roll-up that includes it was acknowledged yet',
  waitsFor: 'The fleet to acknowledge the next roll-up',
  canAct: 'nobody',
  action: '',
  runbook: '',
};

const pending = (facts: CapacityRequestFacts): Verdict => {
  if (facts.outage !== undefined) return duringOutage(PENDING, facts.outage);
  const createdMs = Date.parse(textAt(facts.request, 'metadata', 'creationTimestamp') ?? '');
  if (!(facts.nowMs - createdMs > USUAL_WAIT_MS)) return PENDING;
  const runbook = runbookUrl(REASONS.RollupNotAcknowledged.runbook);
  return { ...PENDING, ...OVERDUE[leaseState(facts)], canAct: 'platform', runbook };
};

const detail = (name: string, value: string | undefined): readonly Detail[] =>
  value === undefined || value === '' ? [] : [{ name, value }];

const FIRST_DOLLAR_BUCKET = 3;

/** The upper bound of a penalty bucket. */
const bucketText = (bucket: PenaltyBucket): string => {
  if (bucket === UNSPECIFIED_BUCKET) return '';
  if (bucket === PINNED_BUCKET) return 'never, its penalty exceeds all buckets';
  if (bucket < FIRST_DOLLAR_BUCKET) return bucket === 1 ? 'for $0' : 'for up to $0.50';
  return `for up to $${(2 ** (bucket - FIRST_DOLLAR_BUCKET)).toLocaleString('en-US')}`;
};

const termsInDetail = ({ profile, group }: Terms): readonly Detail[] => [
  ...profile.requirements.flatMap(({ key, operator, values }) =>
    detail('Requirement', `${key} ${operator} ${values.join(', ')}`.trim())
  ),
  ...profile.spread.flatMap(({ topologyKey, maxSkew }) =>
    detail('Spread', `over ${topologyKey}, at most ${maxSkew} apart`)
  ),
  ...detail('Interrupted', bucketText(profile.interruptionBucket)),
  ...detail('Reclaimed', bucketText(profile.reclamationBucket)),
  ...detail('Co-located', group === '' ? '' : 'with all requests of its group'),
];

const details = ({ request, nowMs }: CapacityRequestFacts): readonly Detail[] => {
  const reading = readCapacityRequest(request);
  const acknowledgedAt = textAt(request, 'status', 'acknowledgedAt');
  const ago = age(acknowledgedAt, nowMs);
  const old = age(textAt(request, 'metadata', 'creationTimestamp'), nowMs);
  return [
    ...detail('Created', old && `${old} ago`),
    ...detail('Acknowledged', ago && `${acknowledgedAt} (${ago} ago)`),
    ...detail('For pod', labelsOf(request)[OWNED_BY_POD]),
    ...detail('Asks for', quantitiesText(request, 'spec', 'resources')),
    ...detail('Priority', numberAt(request, 'spec', 'priority')?.toString()),
    ...(reading._tag === 'Readable' ? termsInDetail(reading.terms) : []),
  ];
};

/** Explains one CapacityRequest. */
export const explainCapacityRequest = (facts: CapacityRequestFacts): Explanation => {
  const { request } = facts;
  const phase = textAt(request, 'status', 'phase') ?? 'Pending';
  const reading = readCapacityRequest(request);
  const acknowledged = phase === 'Acknowledged';
  const verdict = isDeleting(request)
    ? DELETED
    : reading._tag === 'Unreadable'
    ? unreadable(acknowledged)
    : acknowledged
    ? duringOutage(ACKNOWLEDGED, facts.outage)
    : pending(facts);
  const namespace = textAt(request, 'metadata', 'namespace') ?? '';
  return {
    kind: 'CapacityRequest',
    name: `${namespace}/${textAt(request, 'metadata', 'name') ?? ''}`,
    state: phase,
    what: 'Capacity that this cluster requests from the fleet',
    ...verdict,
    problems: reading._tag === 'Unreadable' ? reading.problems : [],
    details: details(facts),
    events: timelineOf(facts.events),
  };
};
