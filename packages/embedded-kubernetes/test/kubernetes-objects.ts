/** Random objects of built-in kinds, of the right types and of the wrong ones. */
import fc from 'fast-check';
import type { JsonRecord } from '../src/values/json.ts';
import { apiVersionOf, type Kind } from '../src/kinds/kind.ts';
import { KIND_FIELDS, TYPE_FIELDS } from '../src/gen/kubernetes/fields.ts';

const DEPTH_MAX = 5;
const FIELDS_MAX = 5;

const texts = fc.constantFrom('a', 'b', '', '1', '50%', 'x/y', 'True', 'Never', 'Node', 'All');

/** Anything, of fields that have meanings somewhere. */
export const anything: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(texts, fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant(1.5)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        'metadata',
        'spec',
        'name',
        'labels',
        'containers',
        '__proto__',
        'op',
        'path',
      ),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value;

const ofFields = (
  fields: Readonly<Record<string, string>>,
  depth: number,
): fc.Arbitrary<JsonRecord> =>
  depth > DEPTH_MAX ? fc.constant({}) : fc.subarray(Object.entries(fields), {
    maxLength: Math.min(FIELDS_MAX, Object.keys(fields).length),
  }).chain((chosen) =>
    fc.record(Object.fromEntries(chosen.map(([field, note]) => [field, noted(note, depth)])))
  );

/**
 * A value as the generated tables note it; see `packages/embedded-
 * kubernetes/src/gen/kubernetes/fields.ts`.
 */
const noted = (note: string, depth: number): fc.Arbitrary<unknown> => {
  const rest = note.slice(1);
  switch (note[0]) {
    case 's':
      return texts;
    case 'i':
      return fc.integer({ min: -1, max: 3 });
    case 'n':
      return fc.double({ min: -1, max: 3, noNaN: true });
    case 'b':
      return fc.boolean();
    case 'o':
      return fc.constantFrom<unknown>('50%', 'half', 1, -1);
    case 'q':
      return fc.constantFrom<unknown>('1', '500m', '2Gi', 3, 'much');
    case '.':
      return ofFields(TYPE_FIELDS[rest] ?? {}, depth + 1);
    case '[':
      return fc.array(noted(rest, depth + 1), { maxLength: 2 });
    case '{':
      return fc.dictionary(fc.constantFrom('a', 'b', 'cpu'), noted(rest, depth + 1), {
        maxKeys: 2,
      });
    default:
      return anything;
  }
};

/** An object of a kind, with that name or with none, most of its values of the right type. */
export const objectOf = (kind: Kind, name: string): fc.Arbitrary<unknown> => {
  const fields = KIND_FIELDS[`${apiVersionOf(kind)}/${kind.kind}`] ?? {};
  const { apiVersion: _, kind: __, metadata: ___, ...own } = fields;
  const named = fc.constant({ metadata: { name } });
  const whole = fc.tuple(ofFields(own, 0), named).map((parts) => Object.assign({}, ...parts));
  return fc.oneof(
    { weight: 8, arbitrary: whole },
    { weight: 1, arbitrary: ofFields(fields, 0) },
    { weight: 1, arbitrary: anything },
  );
};
