/** Which spans the transitions of a reclaim become, and what belongs to none. */
import { Exit, Option, Tracer } from 'effect';
import { expect, test } from 'vitest';
import { ReclaimSpans } from '../../../src/observability/reclaim-spans.ts';

/** A tracer that writes down when spans start and end. */
const writtenSpans = () => {
  const lines: string[] = [];
  let made = 0;
  const tracer = Tracer.make({
    span: (options) => {
      made += 1;
      const span = new Tracer.NativeSpan(options);
      const name = `${options.name} ${made}`;
      const parent = Option.isSome(options.parent) ? ` in ${options.parent.value.spanId}` : '';
      lines.push(`start ${name} ${span.spanId}${parent}`);
      const end = span.end.bind(span);
      span.end = (endTime, exit) => {
        end(endTime, exit);
        lines.push(`end ${name}${Exit.isSuccess(exit) ? '' : ' failed'}`);
      };
      return span;
    },
  });
  return { tracer, lines };
};

const event = { type: 'test' };

const scene = () => {
  const { tracer, lines } = writtenSpans();
  let nowMs = 1000;
  const spans = new ReclaimSpans(tracer, { now: () => nowMs });
  const observe = (id: string, context: object, more: object = {}): void => {
    nowMs += 1;
    spans.observe({
      id,
      event,
      snapshot: {
        status: 'active',
        output: undefined,
        error: undefined,
        ...{ context, value: 'underway', tags: new Set() },
        ...more,
      },
    });
  };
  return { spans, lines, observe };
};

const settled = { tags: new Set(['settled']) };
const drain = { name: 'n1', owner: 'reclaim', orders: [{ id: 'i1' }], annotation: null };
const eviction = { key: 'ns/p1', node: 'n1', uid: 'u1' };

/** Without the ids of spans. */
const plain = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => line.replaceAll(/ (?:in )?[0-9a-f]{16}/g, ''));

test('a reclaim ends when its instruction and its last drain have ended', () => {
  const { lines, observe } = scene();
  observe('reclaimInstruction/i1', {});
  observe('nodeDrain/n1', drain);
  observe('podEviction/ns/p1', eviction);
  observe('reclaimInstruction/i1', {}, settled);
  observe('podEviction/ns/p1', eviction, settled);
  observe('nodeDrain/n1', { ...drain, end: 'Drained' }, settled);
  expect(plain(lines)).toEqual([
    'start reclaim 1',
    'start drain node 2',
    'start evict pod 3',
    'end evict pod 3',
    'end drain node 2',
    'end reclaim 1',
  ]);
});

test('spans of one reclaim are one trace, each in the span that it is part of', () => {
  const { spans, lines, observe } = scene();
  observe('nodeDrain/n1', drain);
  observe('podEviction/ns/p1', eviction);
  const ids = lines.map((line) => /\d ([0-9a-f]{16})/.exec(line)?.[1]);
  expect(lines[1]).toContain(`in ${ids[0]}`);
  expect(lines[2]).toContain(`in ${ids[1]}`);
  const path = '/api/v1/namespaces/ns/pods/p1/eviction';
  expect(spans.callSpan({ method: 'POST', path })).toMatchObject({
    name: 'POST /api/v1/namespaces/{namespace}/pods/{pod}/eviction',
    parent: { spanId: ids[2] },
    attributes: { 'http.request.method': 'POST', 'tidegate.state': 'underway' },
  });
  expect(spans.callSpan({ method: 'PATCH', path: '/api/v1/nodes/n1' })?.parent.spanId).toBe(ids[1]);
});

test('drains of other owners, their evictions and other requests have no span', () => {
  const { spans, lines, observe } = scene();
  observe('nodeDrain/n1', { ...drain, owner: 'maintenance' });
  observe('podEviction/ns/p1', eviction);
  observe('budget/ns/b', {});
  expect(lines).toEqual([]);
  expect(spans.callSpan({ method: 'PATCH', path: '/api/v1/nodes/n1' })).toBeUndefined();
});

test('a drain that fails is an error of its span', () => {
  const { lines, observe } = scene();
  observe('nodeDrain/n1', drain);
  observe('nodeDrain/n1', { ...drain, end: 'Failed' }, { status: 'stopped' });
  expect(plain(lines).slice(2)).toEqual(['end drain node 2 failed', 'end reclaim 1']);
});

test('a drain that resumes from its Node belongs to the first instruction there', () => {
  const { lines, observe } = scene();
  observe('nodeDrain/n1', { ...drain, orders: [], annotation: { ids: ['i1', 'i2'] } });
  observe('nodeDrain/n2', { ...drain, name: 'n2' });
  expect(plain(lines)).toEqual(['start reclaim 1', 'start drain node 2', 'start drain node 3']);
});

test('what is open ends with the process', () => {
  const { spans, lines, observe } = scene();
  observe('nodeDrain/n1', drain);
  spans.close();
  expect(plain(lines).slice(2)).toEqual(['end drain node 2', 'end reclaim 1']);
});
