/** The pods of a Node for which no drain of a maintenance waits. */
import { expect, test } from 'vitest';
import { stayingPods } from '../../../src/actors/node-maintenance/staying-pods.ts';
import {
  CORDON_PREFIX,
  type CordonEnd,
  type DrainOwner,
  printCordon,
} from '../../../src/domain/drain/cordon.ts';
import { podOf } from '../../support/drains/drain-facts.ts';
import { nodeOf } from '../../support/node-maintenance/registry-rig.ts';

const OWNER = 'maintenance-kernel';
const SINCE_MS = Date.parse('2026-01-01T00:00:00Z');
/** It tolerates the cordon, and was made again after the drain had begun. */
const BACK = podOf({
  name: 'back',
  created: '2026-01-01T01:00:00Z',
  tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }],
});
const DATA = podOf({ name: 'data' });
const OTHER = podOf({ name: 'other' });

const keyText = (ended: CordonEnd | null): string =>
  printCordon({ ids: ['i'], deadlineMs: null, graceSeconds: 0, sinceMs: SINCE_MS, ended });

const node = (owner: DrainOwner, ended: CordonEnd | null) =>
  nodeOf('n1', { [`${CORDON_PREFIX}${owner}`]: keyText(ended) });

/** The names of those that stay. */
const names = (
  { owner = OWNER, ended = 'Drained', known, acknowledged = [] }: {
    readonly owner?: DrainOwner;
    readonly ended?: CordonEnd | null;
    /** What a drain under way says. */
    readonly known?: readonly string[];
    readonly acknowledged?: readonly string[];
  },
): readonly string[] => {
  const drains = { staying: () => known };
  const localData = {
    of: () => ({
      dataOf: () => [],
      acknowledged: () => new Set(acknowledged),
    }),
  };
  const drain = { node: node(owner, ended), owner };
  return [...stayingPods({ drains, localData }, drain, [BACK, DATA, OTHER])];
};

test('NM-55: what came back past the cordon of a drain that has ended stays', () => {
  expect(names({})).toEqual([BACK.key]);
  expect(names({ ended: null })).toEqual([]);
});

test('what a person lets stay for its data stays, and nothing else', () => {
  expect(names({ ended: null, acknowledged: [DATA.uid] })).toEqual([DATA.key]);
  expect(names({ acknowledged: [DATA.uid] })).toEqual([BACK.key, DATA.key]);
});

test('a drain that goes on knows which pods stay', () => {
  expect(names({ known: [OTHER.key], acknowledged: [DATA.uid] })).toEqual([OTHER.key]);
});

/** A second maintenance was drained as soon as its key came, by what was acknowledged before. */
test('RS-12: what stays for one maintenance stays for no other', () => {
  const second = 'maintenance-second';
  const present = nodeOf('n1', {
    [`${CORDON_PREFIX}${OWNER}`]: keyText('Drained'),
    [`${CORDON_PREFIX}${second}`]: keyText(null),
  });
  const drains = {
    staying: (_: string, owner: DrainOwner) => owner === second ? [] : undefined,
  };
  const localData = {
    of: (_: string, owner: DrainOwner) => ({
      dataOf: () => [],
      acknowledged: () => new Set(owner === OWNER ? [DATA.uid] : []),
    }),
  };
  const stayingFor = (owner: DrainOwner) => [
    ...stayingPods({ drains, localData }, { node: present, owner }, [BACK, DATA, OTHER]),
  ];
  expect(stayingFor(OWNER)).toEqual([BACK.key, DATA.key]);
  expect(stayingFor(second)).toEqual([]);
});

test('without local data only the Node shows what stays', () => {
  const drains = { staying: () => undefined };
  const drain = { node: node(OWNER, 'Drained'), owner: OWNER } as const;
  expect([...stayingPods({ drains }, drain, [BACK, DATA])]).toEqual([BACK.key]);
});
