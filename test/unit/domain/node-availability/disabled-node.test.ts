/** Nodes that a person takes out of service and gives back. */
import { expect, test } from 'vitest';
import { annotationOf } from '../../../../src/domain/drain/cordon.ts';
import { projectDrainedNode } from '../../../../src/domain/drain/drained-node.ts';
import { asRecord, recordAt, textAt, valueAt } from '../../../../src/domain/json.ts';
import {
  acceptsDowntimeOn,
  type DisablingStep,
  disablingStep,
  enablingStep,
} from '../../../../src/domain/node-availability/disabled-node.ts';

const WHY = 'availability.tidegate.dev/why-disabled';
const KEY = 'cordon.tidegate.dev/disabled';

/** A Node after patches, which are small enough to be merged by hand. */
class PatchedNode {
  #annotations: Record<string, unknown> = {};
  #unschedulable = false;

  constructor(unschedulable = false, annotations: Readonly<Record<string, string>> = {}) {
    this.#unschedulable = unschedulable;
    this.#annotations = { ...annotations };
  }

  get #raw() {
    return {
      metadata: { name: 'n', uid: 'n', resourceVersion: '1', annotations: this.#annotations },
      spec: { unschedulable: this.#unschedulable },
    };
  }

  get facts() {
    const node = projectDrainedNode(this.#raw);
    if (node === undefined) throw new Error('The node has no identity');
    return { ...node, whyDisabled: textAt(this.#annotations, WHY) ?? '' };
  }

  get accepts(): boolean {
    return acceptsDowntimeOn(this.#raw);
  }

  get keys(): readonly string[] {
    return Object.keys(this.#annotations).toSorted();
  }

  readonly take = (step: DisablingStep): void => {
    if (step._tag !== 'Patch') throw new Error(`No patch: ${step._tag}`);
    const changes = asRecord(recordAt(step.body, 'metadata', 'annotations')) ?? {};
    const merged = { ...this.#annotations, ...changes };
    this.#annotations = Object.fromEntries(
      Object.entries(merged).filter(([, value]) => value !== null),
    );
    const unschedulable = valueAt(step.body, 'spec', 'unschedulable');
    if (unschedulable !== undefined) this.#unschedulable = unschedulable === true;
  };
}

const disable = (why: string, acceptsDowntime = false) => ({ why, acceptsDowntime, nowMs: 0 });

test('RS-03: a node is disabled once, with a reason, and enabled without a trace', () => {
  const node = new PatchedNode();
  node.take(disablingStep(node.facts, disable('fan')));
  expect(node.facts).toMatchObject({ unschedulable: true, whyDisabled: 'fan' });
  expect(disablingStep(node.facts, disable('fan'))).toEqual({ _tag: 'Unchanged' });
  node.take(disablingStep(node.facts, disable('disk')));
  expect(node.facts.whyDisabled).toBe('disk');
  node.take(enablingStep(node.facts));
  expect([node.facts.unschedulable, node.keys]).toEqual([false, []]);
  expect(enablingStep(node.facts)).toEqual({ _tag: 'Unchanged' });
});

test('RS-03: a node that a person cordoned before stays so when it is enabled', () => {
  const node = new PatchedNode(true);
  node.take(disablingStep(node.facts, disable('fan')));
  node.take(enablingStep(node.facts));
  expect([node.facts.unschedulable, node.keys]).toEqual([true, ['cordon.tidegate.dev/person']]);
});

test('RS-16: downtime is accepted with the key, withdrawn by the next call, and gone with it', () => {
  const node = new PatchedNode();
  node.take(disablingStep(node.facts, disable('fan', true)));
  expect([node.accepts, node.keys]).toEqual([true, [WHY, KEY]]);
  expect(disablingStep(node.facts, disable('fan', true))).toEqual({ _tag: 'Unchanged' });
  const [id] = annotationOf(node.facts, 'disabled')?.ids ?? [];
  node.take(disablingStep(node.facts, disable('fan')));
  expect([node.accepts, annotationOf(node.facts, 'disabled')?.ids]).toEqual([false, [id]]);
  node.take(disablingStep(node.facts, disable('fan', true)));
  node.take(disablingStep(node.facts, disable('disk', true)));
  expect([node.accepts, node.facts.whyDisabled]).toEqual([true, 'disk']);
  node.take(enablingStep(node.facts));
  expect([node.accepts, node.keys]).toEqual([false, []]);
});

test('RS-16: downtime is not accepted by a cordon that was cancelled, or of another owner', () => {
  const accepted = '{"v":1,"ids":["a"],"acceptsDowntime":true}';
  const accepts = (unschedulable: boolean, owner: string, text: string): boolean =>
    new PatchedNode(unschedulable, { [`cordon.tidegate.dev/${owner}`]: text }).accepts;
  expect(accepts(true, 'disabled', accepted)).toBe(true);
  expect(accepts(false, 'disabled', accepted)).toBe(false);
  expect(accepts(true, 'disabled', accepted.replace('{', '{"ended":"Cancelled",'))).toBe(false);
  expect(accepts(true, 'disabled', accepted.replace('true', '"true"'))).toBe(false);
  expect(accepts(true, 'reclaim', accepted)).toBe(false);
});

test('RS-03: a key of another version is left alone', () => {
  const { facts } = new PatchedNode(true, { [KEY]: '{"v":9}' });
  expect(disablingStep(facts, disable('fan'))._tag).toBe('Unrecognized');
  expect(enablingStep(facts)._tag).toBe('Unrecognized');
});
