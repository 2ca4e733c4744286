/**
 * Explains a CapacityRequest: what the fleet is asked for because of it, whether the fleet has said
 * that it knows, and what is wrong with it.
 *
 * Promises: says of a request what the operator makes of it, because both read it with the same
 * function; total, whatever the cluster shows.
 */
import { listOrEmptyAt, numberAt, textAt } from '../domain/json.ts';
import { readCapacityRequest } from '../domain/demand/reading.ts';
import type { Terms } from '../domain/demand/terms.ts';
import { type PenaltyBucket, PINNED_BUCKET, UNSPECIFIED_BUCKET } from '../domain/penalty.ts';
import { isDeleting, labelsOf } from '../domain/object-meta.ts';
import { OWNED_BY_POD } from '../domain/pod-demand/pod-request.ts';
import { age, type Detail, type Explanation, quantitiesText, timelineOf } from './explanation.ts';

/** What the cluster shows. */
export interface CapacityRequestFacts {
  readonly request: unknown;
  readonly events: readonly unknown[];
  /** The operator's Leases, wherever they are; undefined when they may not be read. */
  readonly leases: unknown;
  readonly nowMs: number;
}

type Verdict = Pick<Explanation, 'why' | 'waitsFor' | 'canAct' | 'action'>;

/** A request that waits longer than this does not only wait for the next roll-up. */
const USUAL_WAIT_MS = 60_000;
/** How far our clock and the operator's may differ before a Lease is called stale. */
const CLOCK_DOUBT_MS = 60_000;

const ACKNOWLEDGED: Verdict = {
  why: 'The fleet has acknowledged a roll-up that this request was part of',
  waitsFor: 'Nothing here: machines for it appear as UpcomingNodes when the fleet has them',
  canAct: 'nobody',
  action: '',
};

const DELETED: Verdict = {
  why: 'It is being deleted',
  waitsFor: 'Its finalizers; the next roll-up no longer asks for it',
  canAct: 'nobody',
  action: '',
};

const unreadable = (acknowledged: boolean): Verdict => ({
  why: acknowledged
    ? 'It cannot be read any more: the fleet is asked for what it said before, as long as the ' +
      'operator remembers that'
    : 'It cannot be read, so the fleet is not asked for it',
  waitsFor: 'A change of the fields below',
  canAct: 'application',
  action: 'Mend the fields below',
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
    why: 'No roll-up that it was part of has been acknowledged, for longer than usual',
    action: 'See whether the operator runs, and the Events on its Lease',
  },
  missing: {
    why: 'No operator has ever led in this cluster: its Lease does not exist',
    action: 'Install the operator, or look at the logs of its pods',
  },
  silent: {
    why: 'No operator leads: the Lease has no holder that renews it',
    action: 'Look at the pods of the operator',
  },
  held: {
    why: 'An operator leads, but no roll-up with this request in it has been acknowledged',
    action: 'Look at the Events on the Lease of the operator: they say how its session stands',
  },
};

const pending = (facts: CapacityRequestFacts): Verdict => {
  const createdMs = Date.parse(textAt(facts.request, 'metadata', 'creationTimestamp') ?? '');
  const waitsFor = 'The next roll-up, and its acknowledgement by the fleet';
  if (!(facts.nowMs - createdMs > USUAL_WAIT_MS)) {
    const why = 'No roll-up that it was part of has been acknowledged yet';
    return { why, waitsFor, canAct: 'nobody', action: '' };
  }
  return { ...OVERDUE[leaseState(facts)], waitsFor, canAct: 'platform' };
};

const detail = (name: string, value: string | undefined): readonly Detail[] =>
  value === undefined || value === '' ? [] : [{ name, value }];

const FIRST_DOLLAR_BUCKET = 3;

/** What a penalty counts as once it is rounded up to its bucket. */
const bucketText = (bucket: PenaltyBucket): string => {
  if (bucket === UNSPECIFIED_BUCKET) return '';
  if (bucket === PINNED_BUCKET) return 'never, its penalty is above every bucket';
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
  ...detail('Taken back', bucketText(profile.reclamationBucket)),
  ...detail('Together with', group === '' ? '' : 'all requests of its group on one value'),
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
    ? ACKNOWLEDGED
    : pending(facts);
  const namespace = textAt(request, 'metadata', 'namespace') ?? '';
  return {
    kind: 'CapacityRequest',
    name: `${namespace}/${textAt(request, 'metadata', 'name') ?? ''}`,
    state: phase,
    what: 'Capacity that somebody in this cluster wants from the fleet',
    ...verdict,
    problems: reading._tag === 'Unreadable' ? reading.problems : [],
    details: details(facts),
    events: timelineOf(facts.events),
  };
};
