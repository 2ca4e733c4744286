/** Reading metrics in end-to-end tests. */
import { describe, expect, it } from 'vitest';
import { metricValue } from '../../support/processes/metric-texts.ts';

const TEXT = `# HELP writes Writes.
# TYPE writes counter
writes{op="create",outcome="success"} 3
writes{op="create",outcome="error"} 1
writes{op="delete",outcome="success",note="a \\"quoted\\", odd } one"} 2.5
writes_total 7
up 1
`;

describe('metricValue', () => {
  it('adds all series of a name', () => expect(metricValue(TEXT, 'writes')).toBe(6.5));
  it('sums those whose labels include the wanted ones', () => {
    expect(metricValue(TEXT, 'writes', { op: 'create' })).toBe(4);
    expect(metricValue(TEXT, 'writes', { outcome: 'success', op: 'delete' })).toBe(2.5);
  });
  it('reads a metric without labels', () => expect(metricValue(TEXT, 'up')).toBe(1));
  it('is 0 for what is not there', () => expect(metricValue(TEXT, 'down')).toBe(0));
});
