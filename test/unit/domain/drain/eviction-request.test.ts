/** The combined terms of several requests for one pod. */
import { describe, expect, it } from 'vitest';
import {
  combinedTerms,
  type EvictionRequest,
} from '../../../../src/domain/drain/eviction-request.ts';

const request = (more: Partial<EvictionRequest>): EvictionRequest => ({
  node: 'n1',
  owner: 'reclaim',
  deadlineMonotonicMs: 1000,
  drainSinceMs: 10,
  podsLeft: () => 1,
  ...more,
});

const maintenance = (more: Partial<EvictionRequest>): EvictionRequest =>
  request({ owner: 'maintenance-0123456789ab', ...more });

describe('combinedTerms', () => {
  it('DR-34: the most urgent class, the earliest deadline and the oldest drain count', () => {
    const terms = combinedTerms(maintenance({ deadlineMonotonicMs: 500, drainSinceMs: 5 }), [
      request({}),
    ]);
    expect(terms).toMatchObject({ drainClass: 'reclaim', deadlineMs: 500, drainSinceMs: 5 });
    expect(combinedTerms(request({}), [maintenance({})]).drainClass).toBe('reclaim');
  });

  it('RS-03: pods of a disabled node leave before those of a reclaim', () => {
    const disabled = request({ owner: 'disabled', deadlineMonotonicMs: null });
    expect(combinedTerms(disabled, []).drainClass).toBe('emergency');
    expect(combinedTerms(request({}), [disabled]).drainClass).toBe('emergency');
  });

  it('DR-23: the longest grace counts, and that of the pod where a drain names none', () => {
    const [short, long] = [maintenance({ graceSeconds: 5 }), maintenance({ graceSeconds: 60 })];
    const graceOf = (one: EvictionRequest, ...others: readonly EvictionRequest[]) =>
      combinedTerms(one, others).graceSeconds;
    expect(graceOf(short)).toBe(5);
    expect(graceOf(short, long)).toBe(60);
    expect(graceOf(long, short)).toBe(60);
    expect(graceOf(short, request({}))).toBeNull();
    expect(graceOf(request({}), short)).toBeNull();
    // It stands for drains, which have their own requests.
    expect(graceOf(request({ owner: 'eviction-request' }), short)).toBe(5);
    expect(graceOf(request({ owner: 'eviction-request' }))).toBeNull();
  });

  it('DR-34: an owner without a deadline comes after those with one', () => {
    const without = maintenance({ deadlineMonotonicMs: null });
    expect(combinedTerms(without, []).deadlineMs).toBe(Number.POSITIVE_INFINITY);
    expect(combinedTerms(without, [request({})]).deadlineMs).toBe(1000);
  });
});
