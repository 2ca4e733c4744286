/** What a new term finds of reclaims on Nodes, and what a process keeps of those it acked. */
import { describe, expect, test } from 'vitest';
import { type NodeProjection, projectNode } from '../../../../src/domain/cluster-node.ts';
import type { CordonAnnotation } from '../../../../src/domain/drain/cordon.ts';
import { CORDON_LIMITS } from '../../../../src/domain/drain/cordon-limits.ts';
import {
  AckedInstructions,
  awaitedEntries,
  hasRoomFor,
  type InstructionEntry,
  instructionsOnNodes,
  machinesNow,
  newInstruction,
} from '../../../../src/domain/drain/reclaim-index.ts';
import type { EntryPhase, ReclaimEntry } from '../../../../src/domain/drain/reclaim-entry.ts';
import { SHARD_LIMITS } from '../../../../src/domain/shard-limits.ts';
import { rawSceneNode, sceneAnnotation } from '../../../support/drains/drain-scene.ts';

/** A Node with this annotation of reclaims; `null` for none. */
const nodeOf = (
  name: string,
  annotation: Partial<CordonAnnotation> | null,
  unschedulable = true,
): NodeProjection => {
  const cordons = annotation === null ? {} : { reclaim: sceneAnnotation(annotation) };
  const node = projectNode(rawSceneNode({ name, unschedulable, cordons }));
  if (node === undefined) throw new Error('the Node has no identity');
  return node;
};

const found = (...nodes: readonly NodeProjection[]) => {
  const { instructions, leftOut } = instructionsOnNodes(
    nodes,
    ({ name }) => name === 'n1' ? 'm-1' : undefined,
  );
  return {
    machines: Object.fromEntries(instructions.map(({ id, machines }) => [id, machines])),
    terms: Object.fromEntries(instructions.map(({ id, terms }) => [id, terms])),
    leftOut: leftOut.map(({ name }) => name),
  };
};

const entry = (
  [machine, node]: readonly [machine: string, node: string],
  phase: EntryPhase,
  counted: boolean,
) => ({ machine, node, phase, counted }) satisfies ReclaimEntry;

const instructionOf = (
  id: string,
  deadlineMs: number,
  machines: readonly ReclaimEntry[],
): InstructionEntry => ({
  ...newInstruction({
    sinceMs: 0,
    id,
    graceSeconds: 60,
    machines,
    ackPending: false,
  }),
  terms: { deadlineMs, graceSeconds: 60, sinceMs: 0 },
});

describe('a new term', () => {
  test('DR-07: resumes the instructions without an end, each with all Nodes that name it', () => {
    const { machines, leftOut } = found(
      nodeOf('n1', { ids: ['a', 'b'] }),
      nodeOf('n2', { ids: ['b'] }, false),
      nodeOf('n3', { ids: ['b', 'over'], ended: 'Drained' }),
      nodeOf('n4', { ids: ['b'], ended: 'Cancelled' }),
      nodeOf('n5', null),
    );
    expect(machines).toEqual({
      a: [entry(['m-1', 'n1'], 'Cordoned', true)],
      b: [
        entry(['m-1', 'n1'], 'Cordoned', true),
        entry(['n2', 'n2'], 'Cordoned', false),
        entry(['n3', 'n3'], 'Ended', true),
        entry(['n4', 'n4'], 'Ended', false),
      ],
    });
    expect(leftOut).toEqual([]);
  });

  test('DR-07: keeps the deadline of an instruction, or its beginning without one', () => {
    const { terms } = found(
      nodeOf('n1', { ids: ['a'], deadlineMs: 90_000, sinceMs: 30_000, graceSeconds: 60 }),
      nodeOf('n2', { ids: ['b'], deadlineMs: null, sinceMs: 30_000, graceSeconds: 0 }),
    );
    expect(terms).toEqual({
      a: { deadlineMs: 90_000, graceSeconds: 60, sinceMs: 30_000 },
      b: { deadlineMs: 30_000, graceSeconds: 0, sinceMs: 30_000 },
    });
  });

  test('DR-07: beyond the bound names the Nodes whose instructions are left out', () => {
    const { resumedInstructions } = CORDON_LIMITS;
    const ids = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, at) => `${prefix}-${at}`);
    const full = Array.from(
      { length: resumedInstructions },
      (_, at) => nodeOf(`full-${at}`, { ids: ids(`i${at}`, 1) }),
    );
    const at = found(...full, nodeOf('n1', { ids: ['i0-0'] }));
    expect([Object.keys(at.machines).length, at.leftOut]).toEqual([resumedInstructions, []]);
    const beyond = found(...full, nodeOf('n1', { ids: ['i0-0', 'more'] }));
    expect([Object.keys(beyond.machines).length, beyond.leftOut])
      .toEqual([resumedInstructions, ['n1']]);
    // The Node stays with the instruction that is resumed.
    expect(beyond.machines['i0-0']).toHaveLength(2);
    const shared = found(nodeOf('big', { ids: ids('x', 64) }), ...full.slice(1));
    expect(shared.machines['x-0']).toHaveLength(1);
    expect(Object.keys(shared.machines)).toContain(`i${resumedInstructions - 1}-0`);
  });
});

test('a restarted instruction has the machines as their Nodes show them now', () => {
  const instruction = instructionOf('a', 1, [
    entry(['m-1', 'n1'], 'Cordoning', false),
    entry(['m-2', 'n2'], 'Cordoning', false),
    entry(['m-3', 'gone'], 'Cordoning', false),
    entry(['m-4', ''], 'Unseen', false),
  ]);
  const nodes = [nodeOf('n1', { ids: ['a'] }), nodeOf('n2', { ids: ['b'] })];
  const now = machinesNow(instruction, (name) => nodes.find((node) => node.name === name));
  expect(now).toEqual([
    entry(['m-1', 'n1'], 'Cordoned', true),
    ...instruction.machines.slice(1),
  ]);
});

test('machines that wait are those of the earliest deadline first', () => {
  const late = instructionOf('late', 20, [entry(['m-1', 'n1'], 'Queued', false)]);
  const early = instructionOf('early', 10, [
    entry(['m-2', 'n2'], 'Cordoned', true),
    entry(['m-3', ''], 'Unseen', false),
  ]);
  expect(awaitedEntries([late, early]).map((each) => [each.instruction.id, each.entry.machine]))
    .toEqual([['early', 'm-3'], ['late', 'm-1']]);
});

test('active instructions name so many machines, and each counts as one at least', () => {
  const { max } = SHARD_LIMITS.reclaim_machines;
  const names = (count: number) => Array.from({ length: count }, (_, at) => `m-${at}`);
  const two = instructionOf('two', 1, ['a', 'b'].map((name) => entry([name, ''], 'Unseen', false)));
  const none = instructionOf('none', 1, []);
  expect(hasRoomFor(names(max - 3), [two, none])).toBe(true);
  expect(hasRoomFor(names(max - 2), [two, none])).toBe(false);
});

describe('acked instructions', () => {
  test('DR-12: are not acked again, and recovered ones never', () => {
    const acked = new AckedInstructions();
    acked.add('a');
    expect(['a', 'recovered-1', 'b'].map(acked.resume)).toEqual([false, false, true]);
  });

  test('DR-12: the last thousand are remembered', () => {
    const acked = new AckedInstructions();
    for (let at = 0; at <= 1000; at += 1) acked.add(`i-${at}`);
    expect(['i-1', 'i-1000', 'i-0'].map(acked.resume)).toEqual([false, false, true]);
  });
});
