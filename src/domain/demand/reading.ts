/**
 * Reads the demand of a CapacityRequest, or reports its problems.
 *
 * Promises: total. Any JSON gives a reading and nothing throws, because one malformed request would
 * make the shard reject the whole roll-up (WIRE-02), and a request that is too large is not read at
 * all, because it would stall the process. Trusts no schema: a cluster may have an older
 * CRD, and a pattern accepts texts that are no quantities (`1e1.5`). Every problem names its field
 * and a remedy.
 */
import { textAt, valueAt } from '../json.ts';
import { type PenaltyBucket, penaltyBucket, UNSPECIFIED_BUCKET } from '../penalty.ts';
import { canonicalSpread, type TopologySpread } from '../profile.ts';
import { canonicalRequirements, withSame } from '../requirements.ts';
import type { Requirement } from '../resources.ts';
import { cutText } from '../text.ts';
import {
  anyText,
  child,
  entries,
  type Field,
  find,
  int32,
  isAbsent,
  items,
  oneOf,
  type Problem,
  quantityOfZeroOrMore,
  requiredText,
  VALUES_MAX,
} from './field.ts';
import { type CoLocation, groupIdentity } from './group.ts';
import { sizeProblems } from './request-limits.ts';
import { type Amounts, amountsOf, type Terms, termsOf } from './terms.ts';

/** The demand of a CapacityRequest, or its problems. */
export type Reading =
  | { readonly _tag: 'Readable'; readonly terms: Terms; readonly amounts: Amounts }
  | {
    readonly _tag: 'Unreadable';
    readonly problems: readonly Problem[];
    /** It exceeds a bound, so nothing else of it was read. */
    readonly tooLarge: boolean;
  };

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;
const INT32_MIN = -(2 ** 31);

/** The shard takes any number of values with any operator. */
const requirementIn = (field: Field): Requirement => ({
  key: requiredText(child(field, 'key')),
  operator: oneOf(child(field, 'operator'), OPERATORS),
  values: items(child(field, 'values'), VALUES_MAX).map(anyText),
});

/** No machines satisfy a binding skew below 1; that of a preference is not sent. */
const spreadIn = (field: Field): TopologySpread => {
  const topologyKey = requiredText(child(field, 'topologyKey'));
  const whenUnsatisfiable = oneOf(child(field, 'whenUnsatisfiable'), [
    'DoNotSchedule',
    'ScheduleAnyway',
  ]);
  const least = whenUnsatisfiable === 'DoNotSchedule' ? 1 : INT32_MIN;
  return { topologyKey, maxSkew: int32(child(field, 'maxSkew'), least), whenUnsatisfiable };
};

const coLocationIn = (field: Field): CoLocation => {
  const selector = child(field, 'labelSelector');
  const labels = entries(child(selector, 'matchLabels'))
    .map(([key, value]): [string, string] => [key, anyText(value)]);
  return {
    topologyKey: requiredText(child(field, 'topologyKey')),
    selector: {
      matchLabels: Object.fromEntries(labels),
      matchExpressions: items(child(selector, 'matchExpressions')).map(requirementIn),
    },
  };
};

const bucketIn = (field: Field): PenaltyBucket =>
  isAbsent(field)
    ? UNSPECIFIED_BUCKET
    : penaltyBucket(quantityOfZeroOrMore(field)) ?? UNSPECIFIED_BUCKET;

const amountsIn = (field: Field): Amounts => {
  if (isAbsent(field)) find(field, 'is missing', 'Give a map of resource names to quantities');
  return amountsOf(
    entries(field).map(([resource, amount]) => {
      if (resource === '') find(amount, 'has no name', 'Name the resource');
      return { resource, quantity: quantityOfZeroOrMore(amount) };
    }),
  );
};

const termsIn = (spec: Field, namespace: string): Terms => {
  const coLocationField = child(spec, 'coLocation');
  const coLocation = isAbsent(coLocationField) ? undefined : coLocationIn(coLocationField);
  const requirements = items(child(spec, 'requirements')).map(requirementIn);
  const spread = items(child(spec, 'topologySpread')).map(spreadIn);
  const profile = {
    requirements: coLocation === undefined
      ? canonicalRequirements(requirements)
      : withSame(requirements, coLocation.topologyKey),
    priority: int32(child(spec, 'priority'), INT32_MIN),
    // ScheduleAnyway is a preference: a fleet that enforced it would refuse what a scheduler
    // accepts.
    spread: canonicalSpread(spread.filter((one) => one.whenUnsatisfiable === 'DoNotSchedule')),
    interruptionBucket: bucketIn(child(spec, 'interruptionPenalty')),
    reclamationBucket: bucketIn(child(spec, 'reclamationPenalty')),
  };
  return termsOf(profile, coLocation === undefined ? '' : groupIdentity(namespace, coLocation));
};

/** Reads the CapacityRequest `raw`. */
export const readCapacityRequest = (raw: unknown): Reading => {
  const findings: Problem[] = [];
  const spec: Field = { path: 'spec', value: valueAt(raw, 'spec'), findings };
  const tooLarge = sizeProblems(spec.value);
  if (tooLarge.length > 0) return { _tag: 'Unreadable', problems: tooLarge, tooLarge: true };
  const terms = termsIn(spec, textAt(raw, 'metadata', 'namespace') ?? '');
  const amounts = amountsIn(child(spec, 'resources'));
  return findings.length === 0
    ? { _tag: 'Readable', terms, amounts }
    : { _tag: 'Unreadable', problems: findings, tooLarge: false };
};

/** The maximum length of a problem summary: the note of an Event takes 1 KiB. */
const WORDS_MAX = 900;

/** The problems as one line: each field, its problem and the remedy. */
export const problemsText = (problems: readonly Problem[]): string => {
  const sentences = problems.map(({ field, problem, remedy }) => `${field} ${problem}. ${remedy}`);
  const all = sentences.join('; ');
  if (all.length <= WORDS_MAX) return all;
  const more = problems.length - 1;
  return `${cutText(sentences[0] ?? '', WORDS_MAX)}${more > 0 ? `; and ${more} more` : ''}`;
};
