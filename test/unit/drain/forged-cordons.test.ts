/**
 * Regression: a Node whose `reclaim` annotation named 30,000 instructions stalled the operator for
 * 10 s, cost it the lease, filled 1.4 GB, and 10,000 instructions that no shard gave were
 * acknowledged. A kubelet may write its own Node, so the annotations are input (DR-07).
 */
import { afterEach, describe, expect, test } from 'vitest';
import type { LogFields, Telemetry } from '../../../src/api/telemetry.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import { CORDON_LIMITS } from '../../../src/domain/drain/cordon-limits.ts';
import { instructionsOnNodes } from '../../../src/domain/drain/reclaim-index.ts';
import { drainRig, type DrainRigOptions } from '../../support/drains/drain-rig.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

interface Line {
  readonly message: string;
  readonly fields: LogFields | undefined;
}

/** A rig whose warnings and refusals are counted. */
const rig = (options?: DrainRigOptions) => {
  const warnings: Line[] = [];
  const refused: string[] = [];
  const telemetry: Telemetry = {
    ...silentTelemetry,
    log: (level, message, fields) => {
      if (level === 'warn' || level === 'error') warnings.push({ message, fields });
    },
    count: (name, by, ...[labels]) => {
      if (name === 'tidegate_cordons_refused_total') {
        refused.push(...Array<string>(by).fill(JSON.stringify(labels)));
      }
    },
  };
  const made = drainRig({ ...options, telemetry });
  stops.push(made.stop);
  return { ...made, warnings, refused };
};

const KEY = 'cordon.tidegate.dev/reclaim';
const DEADLINE = '2030-01-01T00:00:00.000Z';

const idsOf = (count: number, prefix = 'forged-'): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

const annotationWith = (ids: readonly string[]): string =>
  JSON.stringify({ v: 1, ids, deadline: DEADLINE, graceSeconds: 600 });

const nodeWith = (annotations: object, name = 'n1'): object => ({
  metadata: { name, uid: `u-${name}`, annotations },
  spec: { unschedulable: true },
});

const projectedNode = (annotations: object, name = 'n1') =>
  projectNode({ metadata: { name, uid: `u-${name}`, resourceVersion: '1', annotations } });

const countOf = (actors: Iterable<unknown>): number => [...actors].length;

describe('a forged reclaim annotation', () => {
  test('DR-07: with 30,000 ids it starts nothing, is acked never and refused once', async () => {
    const { node, setLeading, pods, time, replies, drains, reclaims, nodes, ...seen } = rig({
      leads: false,
    });
    node('n1', nodeWith({ [KEY]: annotationWith(idsOf(30_000)) }));
    pods.add({ node: 'n1', name: 'a' });
    setLeading(true);
    await time.advance(5000);
    node('n1', nodeWith({ [KEY]: annotationWith(idsOf(30_001)) }));
    await time.advance(5000);
    expect(countOf(drains().actors()) + countOf(reclaims().actors())).toBe(0);
    expect(replies).toEqual([]);
    expect(pods.wanted()).toEqual([]);
    expect(nodes.calls).toEqual([]);
    const why = 'it has more than 32768 characters; remove the annotation';
    expect(seen.warnings.map(({ fields }) => fields)).toEqual([
      { node: 'n1', owner: 'reclaim', problem: why },
    ]);
    expect(seen.notes).toEqual([{
      regarding: { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u-n1' },
      reason: 'CordonLeftAlone',
      note: `Unrecognized annotation "${KEY}": ${why}`,
    }]);
    expect(seen.refused).toEqual(['{"bound":"annotation"}']);
  });

  test('DR-07: it does not end a drain, also when another instruction joins', async () => {
    const { node, order, pods, time, state, replies } = rig();
    node('n1', nodeWith({}));
    pods.add({ node: 'n1', name: 'a', goesAfterMs: 30_000 });
    pods.add({ node: 'n1', name: 'b', goesAfterMs: 30_000 });
    pods.block('b', { reason: 'BlockedByBudget', text: 'budget "b" allows 0 disruptions' });
    order('i1', ['n1']);
    await time.advance(3000);
    expect(state('n1')).toMatchObject({ underway: { draining: 'open' } });
    node('n1', nodeWith({ [KEY]: annotationWith(idsOf(65)) }));
    await time.advance(1000);
    order('i2', ['n1']);
    await time.advance(3000);
    expect(state('n1')).toMatchObject({ underway: { draining: 'open' } });
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }, { id: 'i2', nodesStarted: 0 }]);
    pods.unblock('b');
    await time.advance(60_000);
    expect(pods.names()).toEqual([]);
  });

  test('DR-07: on thousands of Nodes, a thousand are resumed and acked once by the process', async () => {
    const { node, time, replies, reclaims, setLeading, ...seen } = rig({ leads: false });
    const count = 1100;
    for (const name of idsOf(count, 'n')) {
      node(name, nodeWith({ [KEY]: annotationWith([`forged-${name}`]) }, name));
    }
    const warnedBefore = seen.warnings.length;
    setLeading(true);
    expect(countOf(reclaims().actors())).toBe(CORDON_LIMITS.resumedInstructions);
    await time.advance(10);
    expect(countOf(reclaims().actors())).toBe(CORDON_LIMITS.resumedInstructions);
    expect(seen.warnings.slice(warnedBefore)).toEqual([{
      message: 'Instructions on Nodes not resumed',
      fields: { nodes: 100, node: 'n1000' },
    }]);
    expect(replies).toHaveLength(CORDON_LIMITS.resumedAcks);
    setLeading(false);
    setLeading(true);
    await time.advance(10);
    expect(replies).toHaveLength(CORDON_LIMITS.resumedAcks);
  });
});

describe('forged annotations of other owners', () => {
  // Each was a drain of its own that counted, so that one kubelet stopped all reclaims.
  test('DR-19: sixteen drains of one Node take one place of --max-draining', async () => {
    const { node, pods, order, time, annotation, drains } = rig({
      maxDraining: { _tag: 'Nodes', nodes: 2 },
    });
    const owners = idsOf(CORDON_LIMITS.otherOwners, 'cordon.tidegate.dev/maintenance-');
    const annotations = Object.fromEntries(owners.map((key) => [key, annotationWith(['m'])]));
    pods.add({ node: 'n1', name: 'a' });
    pods.block('a', { reason: 'BlockedByBudget', text: 'budget "a" allows 0 disruptions' });
    node('n1', nodeWith(annotations));
    node('n2', { metadata: { name: 'n2', uid: 'u-n2' } });
    pods.add({ node: 'n2', name: 'b' });
    await time.advance(1000);
    expect(countOf(drains().actors())).toBe(CORDON_LIMITS.otherOwners);
    order('i1', ['n2']);
    await time.advance(5000);
    expect(annotation('n2')?.ended).toBe('Drained');
  });
});

describe('instructions on Nodes', () => {
  const projected = (names: readonly string[], idsFor: (name: string) => readonly string[]) =>
    names.flatMap((name) => projectedNode({ [KEY]: annotationWith(idsFor(name)) }, name) ?? []);

  test('DR-07: 10,000 Nodes with an id each give 1,000 instructions', () => {
    const nodes = projected(idsOf(10_000, 'n'), (name) => [name]);
    const { instructions, leftOut } = instructionsOnNodes(nodes, () => undefined);
    expect(instructions).toHaveLength(1000);
    expect(leftOut).toHaveLength(9000);
  });

  test('DR-07: a Node with many ids takes no place of a Node with one', () => {
    const greedy = idsOf(100, 'greedy');
    const nodes = projected(
      [...greedy, 'honest'],
      (name) => name === 'honest' ? ['i1'] : idsOf(CORDON_LIMITS.ids, name),
    );
    const { instructions } = instructionsOnNodes(nodes, () => undefined);
    expect(instructions).toHaveLength(1000);
    expect(instructions.map(({ id }) => id)).toContain('i1');
  });
});

describe('the facts of a Node', () => {
  test('DR-07: keep no more of its annotations than is read', () => {
    const long = 'x'.repeat(200_000);
    const many = Object.fromEntries(
      idsOf(3000, 'cordon.tidegate.dev/maintenance-').map((name) => [name, annotationWith(['m'])]),
    );
    const node = projectedNode({ [KEY]: long, ...many });
    const texts = Object.values(node?.cordons ?? {});
    expect(texts).toHaveLength(1 + CORDON_LIMITS.otherOwners);
    expect(Math.max(...texts.map(({ length }) => length)))
      .toBe(CORDON_LIMITS.annotationCharacters + 1);
  });
});
