/** Nodes: read, matched with machines, and their cordon annotations decided about. */
import { CORDON_PREFIX, printCordon, readCordon } from '../../../src/domain/drain/cordon.ts';
import { joinAnnotations, unrecognizedCordons } from '../../../src/domain/drain/cordon.ts';
import {
  configuredPatch,
  decideCordon,
  endedPatch,
  releasePatch,
} from '../../../src/domain/drain/cordon-patch.ts';
import { type NodeProjection, projectNode } from '../../../src/domain/cluster-node.ts';
import { MACHINE_ID_KEY, RESTRICTED_MACHINE_ID_KEY } from '../../../src/domain/ids.ts';
import { nodeMatching } from '../../../src/domain/node-matching.ts';
import { expectThat, type FuzzTarget, masked } from '../fuzz-target.ts';
import { mutateJson, smallerJson } from '../json-mutation.ts';

const CORDON = {
  v: 1,
  ids: ['reclaim-1'],
  deadline: '2026-11-23T00:10:00Z',
  graceSeconds: 600,
  since: '2026-11-23T00:00:00Z',
};
const MACHINE = { machineId: 'machine-1', providerId: 'host-1', nodeName: 'node-1' };
const ORDER = { id: 'reclaim-9', deadlineMs: 1000, graceSeconds: 1, sinceMs: 0 };
/** A patch carries every text that it keeps; nothing of it may be larger than the Node was. */
const PATCH_CHARACTERS_MAX = 128 * 1024;

const SEEDS: readonly object[] = [
  {
    metadata: {
      name: 'node-1',
      uid: 'uid-1',
      resourceVersion: '7',
      labels: { [MACHINE_ID_KEY]: 'machine-1', 'kubernetes.io/hostname': 'node-1' },
      annotations: {
        [`${CORDON_PREFIX}reclaim`]: JSON.stringify(CORDON),
        [`${CORDON_PREFIX}person`]: JSON.stringify({ v: 1, ids: [], since: CORDON.since }),
        [`${CORDON_PREFIX}maintenance-0123456789ab`]: JSON.stringify({
          ...CORDON,
          ended: 'Drained',
        }),
        'tidegate.dev/pause': 'true',
      },
    },
    spec: { providerID: 'fleet:///zone-a/host-1', unschedulable: true, taints: [] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  },
  {
    metadata: {
      name: 'machine-1',
      uid: 'uid-2',
      resourceVersion: '8',
      deletionTimestamp: '2026-11-23T00:00:00Z',
      labels: { [RESTRICTED_MACHINE_ID_KEY]: 'machine-1' },
    },
    status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
  },
];

const patchText = (patch: object | undefined): string =>
  patch === undefined ? '' : JSON.stringify(patch);

/** What drains make of the annotations. */
const drainOutcome = (node: NodeProjection): string => {
  const decision = decideCordon(node, 'reclaim', ORDER);
  const remembered = {
    ids: ['reclaim-9'],
    deadlineMs: 1000,
    graceSeconds: 1,
    sinceMs: 0,
    ended: null,
  };
  const patches = [
    decision._tag === 'Patch' ? decision.body : undefined,
    endedPatch(node, 'reclaim', { end: 'Drained', remembered }),
    releasePatch(node, 'reclaim'),
    configuredPatch(node),
  ].map(patchText);
  expectThat(
    patches.every((text) => text.length <= PATCH_CHARACTERS_MAX),
    'a patch of the Node is too large',
  );
  if ('annotation' in decision) {
    const joined = joinAnnotations(decision.annotation, remembered);
    const again = readCordon(printCordon(joined));
    expectThat(
      again._tag === 'Recognized' || joined.ids.length > 64,
      `the program cannot read its own annotation: ${'why' in again ? again.why : ''}`,
    );
  }
  const unread = unrecognizedCordons(node).map(({ why }) => masked(why));
  return `${decision._tag} ${patches.map((text) => text === '' ? '-' : '+').join('')} ${
    [...new Set(unread)].sort().slice(0, 2).join(', ')
  }`;
};

/** Nodes, as JSON. */
export const NODES: FuzzTarget = {
  name: 'nodes',
  seeds: SEEDS.map((seed) => JSON.stringify(seed)),
  words: [
    ...[MACHINE_ID_KEY, RESTRICTED_MACHINE_ID_KEY, 'machine-1', 'host-1', 'node-1', 'uid-1'],
    ...['person', 'reclaim', 'disabled'].map((owner) => `${CORDON_PREFIX}${owner}`),
    ...[JSON.stringify(CORDON), '{"v":2}', '"ended":"Failed"', '/', 'Ready', 'Unknown', 'True'],
  ],
  mutate: mutateJson,
  smaller: smallerJson,
  open: () => {
    const matching = nodeMatching();
    matching.putMachine(MACHINE);
    return ({ value }) => {
      const node = projectNode(value);
      if (node === undefined) return 'no identity';
      matching.putNode(node);
      const match = matching.resolve(MACHINE);
      const machines = matching.machinesOf(node.name);
      const outcome = `${match?.rule} ${machines.length} ${node.ready} ${drainOutcome(node)}`;
      matching.removeNode(node.name);
      expectThat(matching.resolve(MACHINE) === undefined, 'a removed Node is still matched');
      return outcome;
    };
  },
};
