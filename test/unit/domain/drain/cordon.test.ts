/** Cordons and their owners on a Node. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  annotationOf,
  CORDON_ENDS,
  type CordonAnnotation,
  type CordonFacts,
  cordonsIn,
  joinAnnotations,
  maintenanceOwner,
  printCordon,
  readCordon,
  unrecognizedCordons,
} from '../../../../src/domain/drain/cordon.ts';
import {
  cancelSeen,
  configuredPatch,
  decideCordon,
  endedPatch,
  releasePatch,
} from '../../../../src/domain/drain/cordon-patch.ts';
import { CORDON_LIMITS } from '../../../../src/domain/drain/cordon-limits.ts';
import { resourceVersion } from '../../../../src/domain/ids.ts';
import { asRecord, parseJson } from '../../../../src/domain/json.ts';

const AT = Date.UTC(2026, 0, 1);
const annotation: CordonAnnotation = {
  ids: ['i1'],
  deadlineMs: AT + 600_000,
  graceSeconds: 600,
  sinceMs: AT,
  ended: null,
};
const text = '{"v":1,"ids":["i1"],"deadline":"2026-01-01T00:10:00.000Z","graceSeconds":600,' +
  '"since":"2026-01-01T00:00:00.000Z"}';
const ended = (end: CordonAnnotation['ended']): string =>
  printCordon({ ...annotation, ended: end });
const person = '{"v":1,"ids":[],"since":"2026-01-01T00:00:00.000Z"}';

const node = (
  unschedulable: boolean,
  cordons: Readonly<Record<string, string>> = {},
  version = '10',
): CordonFacts => ({ resourceVersion: resourceVersion(version), unschedulable, cordons });

const order = { id: 'i1', deadlineMs: AT + 600_000, graceSeconds: 600, sinceMs: AT };
const other = { id: 'i2', deadlineMs: AT + 300_000, graceSeconds: 300, sinceMs: AT + 5 };
const key = (owner: string): string => `cordon.tidegate.dev/${owner}`;
const metadata = (annotations: object) => ({ resourceVersion: '10', annotations });

describe('the cordon key', () => {
  it('DR-01: is compact JSON with ids, deadline, grace and start', () => {
    expect(printCordon(annotation)).toBe(text);
    expect(readCordon(text)).toEqual({ _tag: 'Recognized', annotation });
  });

  it('DR-01: begins with the end of the drain, which a cut line still shows', () => {
    expect(ended('Failed')).toBe(text.replace('{', '{"ended":"Failed",'));
  });

  it('DR-01: is read in any order of its fields', () => {
    const fields = Object.entries(asRecord(parseJson(ended('Drained'))) ?? {});
    fc.assert(
      fc.property(fc.shuffledSubarray(fields, { minLength: fields.length }), (shuffled) => {
        expect(readCordon(JSON.stringify(Object.fromEntries(shuffled)))).toEqual({
          _tag: 'Recognized',
          annotation: { ...annotation, ended: 'Drained' },
        });
      }),
    );
  });

  it('DR-01: round-trips', () => {
    const time = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
      .map((date) => date.getTime());
    const annotations = fc.record({
      ids: fc.array(fc.string()),
      deadlineMs: time,
      graceSeconds: fc.nat(),
      sinceMs: time,
      ended: fc.constantFrom(null, ...CORDON_ENDS),
    });
    const accepted = fc.constantFrom({}, { acceptsDowntime: true } as const);
    fc.assert(fc.property(annotations, accepted, (rest, more) => {
      const one = { ...rest, ...more };
      expect(readCordon(printCordon(one))).toEqual({ _tag: 'Recognized', annotation: one });
    }));
  });

  it('DR-01: a text of the greatest length is kept as it is, and of a longer one its beginning', () => {
    const { annotationCharacters: max } = CORDON_LIMITS;
    const kept = (length: number) =>
      cordonsIn({ 'cordon.tidegate.dev/reclaim': 'x'.repeat(length) }).cordons['reclaim']?.length;
    expect([max, max + 1, max + 9].map(kept)).toEqual([max, max + 1, max + 1]);
  });

  it('DR-01: more owners than are read are reported, and as many are not', () => {
    const owners = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`cordon.tidegate.dev/x${at}`, '{"v":1}']),
      );
    const reports = (count: number) =>
      unrecognizedCordons(cordonsIn(owners(count))).filter(({ owner }) => owner === '…').length;
    const { otherOwners: max } = CORDON_LIMITS;
    expect([reports(max), reports(max + 1)]).toEqual([0, 1]);
  });

  it.each([
    ['{"v":2,"ids":[]}', 'its version is 2'],
    ['{"ids":[]}', 'its version is undefined'],
    ['cordoned by bob', 'it is not a JSON object'],
    ['{"v":1,"deadline":"soon"}', 'its deadline is not a valid time'],
    ['{"v":1,"since":"once"}', 'its start is not a valid time'],
    ['{"v":1,"ended":"Lost"}', 'its end is unknown'],
  ])('DR-01: %s is left unchanged and reported: %s', (raw, why) => {
    const facts = node(true, { reclaim: raw });
    expect(unrecognizedCordons(facts)).toEqual([{ owner: 'reclaim', why }]);
    expect(decideCordon(facts, 'reclaim', order)).toEqual({ _tag: 'Unrecognized', why });
    expect(endedPatch(facts, 'reclaim', { end: 'Failed', remembered: annotation })).toBeUndefined();
    expect(releasePatch(facts, 'reclaim')).toBeUndefined();
    expect(configuredPatch(node(false, { reclaim: raw }))).toBeUndefined();
    expect(annotationOf(facts, 'reclaim')).toBeUndefined();
  });

  it('DR-01: keys are read from the annotations of a Node by owner', () => {
    expect(cordonsIn({ [key('reclaim')]: text, other: 'x' })).toEqual({
      cordons: { reclaim: text },
    });
    expect(cordonsIn({})).toEqual({ cordons: {} });
  });

  it('DR-01: a maintenance owner is named by twelve hex digits of its UID', () => {
    const owner = maintenanceOwner('0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0');
    expect(owner).toBe('maintenance-0f1e2d3c4b5a');
    expect(owner.length).toBeLessThanOrEqual(63);
  });

  it('never throws, whatever stands there', () => {
    fc.assert(fc.property(fc.json(), (raw) => void readCordon(raw)));
  });
});

describe('decideCordon', () => {
  it('DR-02: cordons with one patch that carries the resourceVersion it is based on', () => {
    expect(decideCordon(node(false), 'reclaim', order)).toEqual({
      _tag: 'Patch',
      body: { metadata: metadata({ [key('reclaim')]: text }), spec: { unschedulable: true } },
      annotation,
    });
  });

  it("DR-02: notes a person's cordon before ours hides it", () => {
    expect(decideCordon(node(true), 'reclaim', order)).toMatchObject({
      body: { metadata: metadata({ [key('person')]: person, [key('reclaim')]: text }) },
    });
    const cancelled = node(true, { reclaim: ended('Cancelled') });
    expect(decideCordon(cancelled, 'reclaim', { ...other, sinceMs: AT })).toMatchObject({
      body: { metadata: { annotations: { [key('person')]: person } } },
    });
  });

  it('DR-02: records no person when another owner holds the node', () => {
    const decision = decideCordon(node(true, { disabled: text }), 'reclaim', order);
    expect(decision).toMatchObject({ body: { metadata: metadata({ [key('reclaim')]: text }) } });
  });

  it('DR-02: removes the record of a person who has uncordoned since', () => {
    expect(decideCordon(node(false, { person }), 'reclaim', order)).toMatchObject({
      body: { metadata: metadata({ [key('person')]: null, [key('reclaim')]: text }) },
    });
  });

  it('DR-03: a second instruction joins the ids, and the earlier deadline wins', () => {
    const joined = {
      ...annotation,
      ids: ['i1', 'i2'],
      deadlineMs: AT + 300_000,
      graceSeconds: 300,
    };
    const facts = node(true, { reclaim: text });
    expect(decideCordon(facts, 'reclaim', other)).toMatchObject({
      _tag: 'Patch',
      annotation: joined,
    });
    const laterOrder = { ...other, deadlineMs: AT + 900_000, graceSeconds: 900 };
    expect(decideCordon(facts, 'reclaim', laterOrder)).toMatchObject({
      annotation: { ...annotation, ids: ['i1', 'i2'] },
    });
    expect(joinAnnotations({ ...annotation, deadlineMs: null }, joined).deadlineMs).toBe(
      AT + 300_000,
    );
    expect(joinAnnotations(annotation, { ...joined, deadlineMs: null }).deadlineMs).toBe(
      annotation.deadlineMs,
    );
  });

  it('DR-03: a repeated instruction writes nothing', () => {
    expect(decideCordon(node(true, { reclaim: text }), 'reclaim', order))
      .toEqual({ _tag: 'Landed', annotation });
  });

  it.each(CORDON_ENDS)('DR-03: a repeated instruction that ended as %s starts nothing', (end) => {
    expect(decideCordon(node(true, { reclaim: ended(end) }), 'reclaim', order))
      .toEqual({ _tag: 'Ended', annotation: { ...annotation, ended: end } });
  });

  it('DR-05: an unfinished key on a schedulable node was cancelled: it does not start again', () => {
    expect(decideCordon(node(false, { reclaim: text }), 'reclaim', order))
      .toEqual({ _tag: 'Ended', annotation });
  });

  it('another instruction starts anew after the end of one', () => {
    const fresh = { ids: ['i2'], deadlineMs: other.deadlineMs, graceSeconds: 300 };
    for (
      const facts of [node(true, { reclaim: ended('Failed') }), node(false, { reclaim: text })]
    ) {
      expect(decideCordon(facts, 'reclaim', other)).toMatchObject({
        _tag: 'Patch',
        annotation: fresh,
      });
    }
  });
});

describe('endedPatch', () => {
  it('DR-04: writes the end and leaves key and cordon', () => {
    const facts = node(true, { reclaim: text });
    expect(endedPatch(facts, 'reclaim', { end: 'Drained', remembered: annotation }))
      .toEqual({ metadata: metadata({ [key('reclaim')]: ended('Drained') }) });
  });

  it('DR-05: writes a removed key back with its end', () => {
    expect(endedPatch(node(false), 'reclaim', { end: 'Cancelled', remembered: annotation }))
      .toEqual({ metadata: metadata({ [key('reclaim')]: ended('Cancelled') }) });
  });

  it('DR-05: drops the record of a person whose uncordon cancelled the drain', () => {
    const person = '{"v":1,"ids":[]}';
    const ending = { end: 'Cancelled', remembered: annotation } as const;
    expect(endedPatch(node(false, { reclaim: text, person }), 'reclaim', ending)).toEqual({
      metadata: metadata({ [key('person')]: null, [key('reclaim')]: ended('Cancelled') }),
    });
    expect(endedPatch(node(true, { reclaim: text, person }), 'reclaim', ending)).toEqual({
      metadata: metadata({ [key('reclaim')]: ended('Cancelled') }),
    });
  });

  it('keeps what joined the key concurrently, and writes an end once', () => {
    const joined = printCordon({ ...annotation, ids: ['i1', 'i2'] });
    expect(
      endedPatch(node(true, { reclaim: joined }), 'reclaim', {
        end: 'Failed',
        remembered: annotation,
      }),
    )
      .toMatchObject({
        metadata: { annotations: { [key('reclaim')]: expect.stringContaining('"i2"') } },
      });
    const facts = node(true, { reclaim: ended('Failed') });
    expect(endedPatch(facts, 'reclaim', { end: 'Failed', remembered: annotation })).toBeUndefined();
  });
});

describe('cancelSeen', () => {
  const own = { landedAt: resourceVersion('10'), cordonObserved: false };

  it('DR-05: a node that is schedulable again was cancelled', () => {
    expect(cancelSeen(node(false, { reclaim: text }, '11'), 'reclaim', own)).toBe(true);
    expect(cancelSeen(node(true, { reclaim: text }, '11'), 'reclaim', own)).toBe(false);
  });

  it('DR-05: a key that disappeared was cancelled', () => {
    expect(cancelSeen(node(true, {}, '11'), 'reclaim', own)).toBe(true);
    const taken = { landedAt: null, cordonObserved: true };
    expect(cancelSeen(node(true, {}, '11'), 'reclaim', taken)).toBe(true);
  });

  it('DR-05: a watch event older than our own patch is no cancellation', () => {
    expect(cancelSeen(node(false, {}, '9'), 'reclaim', own)).toBe(false);
    expect(cancelSeen(node(false, {}, '9'), 'reclaim', { ...own, cordonObserved: true })).toBe(
      false,
    );
  });

  it('an incomparable resourceVersion cancels only what the cache had', () => {
    expect(cancelSeen(node(true, {}, 'x'), 'reclaim', own)).toBe(false);
    expect(cancelSeen(node(true, {}, 'x'), 'reclaim', { ...own, cordonObserved: true })).toBe(true);
  });

  it('an end is no cancellation, unless it is Cancelled', () => {
    expect(cancelSeen(node(false, { reclaim: ended('Failed') }, '11'), 'reclaim', own)).toBe(false);
    const cancelled = node(true, { reclaim: ended('Cancelled') }, '11');
    expect(cancelSeen(cancelled, 'reclaim', own)).toBe(true);
  });

  it('a key that became unreadable cancels only with the cordon', () => {
    expect(cancelSeen(node(true, { reclaim: 'x' }, '11'), 'reclaim', own)).toBe(false);
    expect(cancelSeen(node(false, { reclaim: 'x' }, '11'), 'reclaim', own)).toBe(true);
  });
});

describe('releasePatch', () => {
  const owner = maintenanceOwner('0f1e2d3c-4b5a');
  const open = { spec: { unschedulable: false } };

  it('DR-04: the last maintenance or disabled key uncordons', () => {
    expect(releasePatch(node(true, { [owner]: text }), owner))
      .toEqual({ metadata: metadata({ [key(owner)]: null }), ...open });
    expect(releasePatch(node(true, { disabled: text }), 'disabled')).toMatchObject(open);
    const cancelled = { disabled: text, reclaim: ended('Cancelled') };
    expect(releasePatch(node(true, cancelled), 'disabled')).toMatchObject(open);
  });

  it.each([
    ['a person', { person }],
    ['a reclaim', { reclaim: text }],
    ['a reclaim that has ended', { reclaim: ended('Drained') }],
    ['another owner', { disabled: text }],
    ['a key of another version', { reclaim: '{"v":9}' }],
  ])('DR-04: the node stays cordoned while %s holds it', (_, others) => {
    expect(releasePatch(node(true, { [owner]: text, ...others }), owner))
      .toEqual({ metadata: metadata({ [key(owner)]: null }) });
  });

  it('NM-18: what a person cordoned before a maintenance stays cordoned after it', () => {
    const begun = decideCordon(node(true), 'maintenance-u1', order);
    expect(begun).toMatchObject({
      body: { metadata: { annotations: { [key('person')]: person } } },
    });
    expect(releasePatch(node(true, { person, 'maintenance-u1': text }), 'maintenance-u1')).toEqual({
      metadata: metadata({ [key('maintenance-u1')]: null }),
    });
  });

  it('DR-04: a reclaim never uncordons', () => {
    expect(releasePatch(node(true, { reclaim: text }), 'reclaim'))
      .toEqual({ metadata: metadata({ [key('reclaim')]: null }) });
  });

  it('DR-04: a person who made the node schedulable holds it no more', () => {
    expect(releasePatch(node(false, { [owner]: text, person }), owner))
      .toEqual({ metadata: metadata({ [key(owner)]: null, [key('person')]: null }) });
  });

  it('there is nothing to release without a key', () => {
    expect(releasePatch(node(true), 'reclaim')).toBeUndefined();
  });
});

describe('configuredPatch', () => {
  it('DR-04: the key is removed when the machine serves again and its node is schedulable', () => {
    expect(configuredPatch(node(false, { reclaim: ended('Failed'), person })))
      .toEqual({ metadata: metadata({ [key('reclaim')]: null, [key('person')]: null }) });
  });

  it('DR-04: the key stays on a cordoned node, and while its drain has not ended', () => {
    expect(configuredPatch(node(true, { reclaim: ended('Failed') }))).toBeUndefined();
    expect(configuredPatch(node(false, { reclaim: text }))).toBeUndefined();
    expect(configuredPatch(node(false))).toBeUndefined();
  });
});
