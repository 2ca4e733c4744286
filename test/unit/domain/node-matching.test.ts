/** Node ↔ machine, in the order of UPN-03 and without a scan. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type NodeProjection, projectNode } from '../../../src/domain/cluster-node.ts';
import { objectKey, resourceVersion, uid } from '../../../src/domain/ids.ts';
import { type MachineTraits, nodeMatching } from '../../../src/domain/node-matching.ts';

const node = (name: string, more: Partial<NodeProjection> = {}): NodeProjection => ({
  key: objectKey(name),
  uid: uid(`uid-${name}`),
  resourceVersion: resourceVersion('1'),
  name,
  providerId: '',
  machineLabel: '',
  ready: false,
  kubeletSilent: false,
  unschedulable: false,
  cordons: {},
  paused: false,
  deleting: false,
  ...more,
});

const machine = (machineId: string, more: Partial<MachineTraits> = {}): MachineTraits => ({
  machineId,
  providerId: '',
  nodeName: '',
  ...more,
});

const matched = (nodes: readonly NodeProjection[], traits: MachineTraits) => {
  const matching = nodeMatching();
  for (const each of nodes) matching.putNode(each);
  const match = matching.resolve(traits);
  return match === undefined ? undefined : [match.node.name, match.rule];
};

describe('node matching', () => {
  test('node matching: uses a providerID that equals the provider id', () => {
    expect(matched([node('n1', { providerId: 'fleet://zone/host-1' })], {
      ...machine('m1'),
      providerId: 'fleet://zone/host-1',
    })).toEqual(['n1', 'ProviderId']);
  });

  test('node matching: uses a providerID that ends in a slash and the provider id', () => {
    const nodes = [node('n1', { providerId: 'fleet:///zone/host-1' })];
    expect(matched(nodes, machine('m1', { providerId: 'host-1' }))).toEqual(['n1', 'ProviderId']);
    expect(matched(nodes, machine('m1', { providerId: 'zone/host-1' })))
      .toEqual(['n1', 'ProviderId']);
    expect(matched(nodes, machine('m1', { providerId: 'ost-1' }))).toBeUndefined();
  });

  test('node matching: a provider id that is only the name of a Node matches nothing', () => {
    const providerId = 'kind://docker/kind/control-plane';
    const nodes = [node('control-plane', { providerId })];
    expect(matched(nodes, machine('m1', { providerId: 'control-plane' }))).toBeUndefined();
    expect(matched([node('host-1', { providerId: 'host-1' })], {
      ...machine('m1'),
      providerId: 'host-1',
    })).toBeUndefined();
    expect(matched(nodes, machine('m1', { providerId }))).toEqual(['control-plane', 'ProviderId']);
  });

  test('node matching: prefers an equal providerID to a matching suffix', () => {
    expect(matched([
      node('n1', { providerId: 'fleet:///host-1' }),
      node('n2', { providerId: 'host-1' }),
    ], machine('m1', { providerId: 'host-1' }))).toEqual(['n2', 'ProviderId']);
  });

  test('node matching: applies the rules in the order of the wire contract', () => {
    const nodes = [
      node('by-provider', { providerId: 'x/host-1' }),
      node('m1'),
      node('by-label', { machineLabel: 'm1' }),
      node('by-entry'),
    ];
    const traits = machine('m1', { providerId: 'host-1', nodeName: 'by-entry' });
    expect(matched(nodes, traits)).toEqual(['by-provider', 'ProviderId']);
    expect(matched(nodes.slice(1), traits)).toEqual(['m1', 'NodeName']);
    expect(matched(nodes.slice(2), traits)).toEqual(['by-label', 'MachineLabel']);
    expect(matched(nodes.slice(3), traits)).toEqual(['by-entry', 'NamedInEntry']);
    expect(matched([], traits)).toBeUndefined();
  });

  test('node matching: ignores a rule that matches two Nodes', () => {
    const twins = [node('n1', { providerId: 'a/host' }), node('n2', { providerId: 'b/host' })];
    expect(matched(twins, machine('m1', { providerId: 'host' }))).toBeUndefined();
    expect(matched([...twins, node('m1')], machine('m1', { providerId: 'host' })))
      .toEqual(['m1', 'NodeName']);
    expect(matched([
      node('n1', { machineLabel: 'm1' }),
      node('n2', { machineLabel: 'm1' }),
    ], machine('m1'))).toBeUndefined();
  });

  test('node matching: a label that kubelets may not write outranks one that they may', () => {
    const forged = node('forged', { machineLabel: 'm1' });
    const labelled = node('n1', { machineLabel: 'm1', isLabelRestricted: true });
    expect(matched([forged, labelled], machine('m1'))).toEqual(['n1', 'MachineLabel']);
    const twin = node('n2', { machineLabel: 'm1', isLabelRestricted: true });
    expect(matched([forged, labelled, twin], machine('m1'))).toBeUndefined();
    const labels = {
      'bigfleet.lucy.sh/machine-id': 'm2',
      'bigfleet.lucy.sh.node-restriction.kubernetes.io/machine-id': 'm1',
    };
    const metadata = { name: 'n1', uid: 'u1', resourceVersion: '1', labels };
    expect(projectNode({ metadata })).toMatchObject({
      machineLabel: 'm1',
      isLabelRestricted: true,
    });
  });

  test('node matching: returns the machines that a Node affects, before and after a change', () => {
    const matching = nodeMatching();
    matching.putMachine(machine('m1', { providerId: 'host-1' }));
    matching.putMachine(machine('m2'));
    matching.putMachine(machine('m3', { nodeName: 'n1' }));
    expect(matching.putNode(node('n1', { providerId: 'x/host-1' }))).toEqual(['m1', 'm3']);
    expect(matching.putNode(node('n1', { machineLabel: 'm2' }))).toEqual(['m1', 'm3', 'm2']);
    expect(matching.removeNode('n1')).toEqual(['m2', 'm3']);
    expect(matching.removeNode('n1')).toEqual([]);
    expect(matching.putNode(node('m2'))).toEqual(['m2']);
  });

  test('node matching: equals a linear search in the order of the wire contract', () => {
    const word = fc.constantFrom('', 'a', 'b', 'x/a', 'y/x/a', 'm1', 'm2');
    const nodes = fc.uniqueArray(
      fc.record({
        name: fc.constantFrom('m1', 'm2', 'n1', 'n2', 'n3'),
        providerId: word,
        machineLabel: word,
      }),
      { selector: ({ name }) => name },
    );
    const steps = fc.array(fc.oneof(nodes, fc.constantFrom('m1', 'n1', 'n2')), { maxLength: 6 });
    fc.assert(fc.property(steps, word, (changes, providerId) => {
      const matching = nodeMatching();
      const present = new Map<string, NodeProjection>();
      for (const change of changes) {
        if (typeof change === 'string') {
          matching.removeNode(change);
          present.delete(change);
        } else {for (const { name, ...traits } of change) {
            matching.putNode(node(name, traits));
            present.set(name, node(name, traits));
          }}
      }
      const traits = machine('m1', { providerId });
      const all = [...present.values()];
      const exact = providerId === '' ? [] : all.filter((each) => each.providerId === providerId);
      const ending = providerId === ''
        ? []
        : all.filter((each) => each.providerId.endsWith(`/${providerId}`));
      const provider = exact.length > 0 ? exact : ending;
      const labelled = all.filter((each) => each.machineLabel === 'm1');
      const claimed = provider.length === 1 ? provider[0] : undefined;
      const wanted = (claimed?.name === providerId ? undefined : claimed) ?? present.get('m1') ??
        (labelled.length === 1 ? labelled[0] : undefined);
      expect(matching.resolve(traits)?.node.name).toBe(wanted?.name);
    }));
  });

  test('node matching: finds the machine of a Node', () => {
    const matching = nodeMatching();
    matching.putNode(node('n1', { providerId: 'fleet://zone/host-1' }));
    matching.putNode(node('n2', { machineLabel: 'm2' }));
    expect(matching.machinesOf('n1')).toEqual([]);
    matching.putMachine(machine('m1', { providerId: 'host-1' }));
    matching.putMachine(machine('m2'));
    expect(matching.machinesOf('n1')).toEqual(['m1']);
    expect(matching.machinesOf('n2')).toEqual(['m2']);
    expect(matching.machinesOf('n3')).toEqual([]);
  });

  test('node matching: a machine that has another Node does not match', () => {
    const matching = nodeMatching();
    matching.putNode(node('n1', { providerId: 'host-1' }));
    matching.putNode(node('m1'));
    matching.putMachine(machine('m1', { providerId: 'host-1' }));
    expect(matching.machinesOf('n1')).toEqual(['m1']);
    expect(matching.machinesOf('m1')).toEqual([]);
  });

  test('node matching: reads the drain facts of a Node', () => {
    expect(projectNode({
      metadata: {
        name: 'n1',
        uid: 'u',
        resourceVersion: '3',
        deletionTimestamp: '2026-01-01T00:00:00Z',
        annotations: { 'cordon.tidegate.dev/person': '{}', 'tidegate.dev/pause': 'true' },
      },
      spec: { unschedulable: true },
      status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
    })).toMatchObject({
      unschedulable: true,
      cordons: { person: '{}' },
      paused: true,
      kubeletSilent: true,
      deleting: true,
      ready: false,
    });
  });

  test('node matching: reads a Node as the API server returns it', () => {
    expect(projectNode({
      metadata: {
        name: 'n1',
        uid: 'u',
        resourceVersion: '3',
        labels: { 'bigfleet.lucy.sh/machine-id': 'm1' },
      },
      spec: { providerID: 'fleet:///host-1' },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    })).toMatchObject({ providerId: 'fleet:///host-1', machineLabel: 'm1', ready: true });
    expect(projectNode({ metadata: { name: 'n1', uid: 'u', resourceVersion: '3' } }))
      .toMatchObject({ providerId: '', machineLabel: '', ready: false });
    expect(projectNode(null)).toBeUndefined();
  });
});
