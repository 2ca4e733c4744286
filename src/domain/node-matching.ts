/**
 * Which Node is which machine, in the order of UPN-03: providerID, then the Node named like the
 * machine, then the Node labelled with its id, then a Node named by the frame or instruction
 * itself.
 *
 * Promises: no answer costs a scan, however many there are; a rule that fits two Nodes decides
 * nothing, because the wrong Node is worse than none.
 */
import type { NodeProjection } from './cluster-node.ts';
import { multiIndex } from './multi-index.ts';

/** What is known of a machine that can lead to its Node. */
export interface MachineTraits {
  readonly machineId: string;
  /** The last `provider_id` that was heard; empty when none was. */
  readonly providerId: string;
  /** A Node named by the frame or instruction; empty when it names none. */
  readonly nodeName: string;
}

/** Which rule found the Node. */
export type MatchRule = 'ProviderId' | 'NodeName' | 'MachineLabel' | 'NamedInEntry';

/** A Node and why it is the one. */
export interface NodeMatch {
  readonly node: NodeProjection;
  readonly rule: MatchRule;
}

/** Nodes and machines, each found from the other. */
export interface NodeMatching {
  /** Takes a Node in, or takes in its new facts. Gives the ids of the machines it concerns. */
  readonly putNode: (node: NodeProjection) => readonly string[];
  /** Gives the ids of the machines that it concerned. */
  readonly removeNode: (name: string) => readonly string[];
  /** The Node as it was last put in. */
  readonly nodeNamed: (name: string) => NodeProjection | undefined;
  /** The machines that were put in and have this Node. */
  readonly machinesOf: (name: string) => readonly string[];
  readonly putMachine: (machine: MachineTraits) => void;
  readonly removeMachine: (machineId: string) => void;
  /** The Node of a machine, whether or not the machine was put in. */
  readonly resolve: (machine: MachineTraits) => NodeMatch | undefined;
}

/** `a://b/c` → `a://b/c`, `/b/c`, `b/c`, `c`: what a machine's provider id may be for this Node. */
const endings = (providerId: string): readonly string[] => {
  if (providerId === '') return [];
  const parts = [providerId];
  for (let at = providerId.indexOf('/'); at !== -1; at = providerId.indexOf('/', at + 1)) {
    const ending = providerId.slice(at + 1);
    if (ending !== '') parts.push(ending);
  }
  return parts;
};

const sameTraits = (left: NodeProjection, right: NodeProjection): boolean =>
  left.providerId === right.providerId && left.machineLabel === right.machineLabel;

const match = (rule: MatchRule, node: NodeProjection | undefined): NodeMatch | undefined =>
  node === undefined ? undefined : { node, rule };

/** An empty matching. */
export const nodeMatching = (): NodeMatching => {
  const nodes = new Map<string, NodeProjection>();
  const byProviderId = multiIndex();
  const byEnding = multiIndex();
  const byLabel = multiIndex();
  const machines = new Map<string, MachineTraits>();
  const machinesByProviderId = multiIndex();
  const machinesByNodeName = multiIndex();

  const index = (node: NodeProjection, change: 'add' | 'remove'): void => {
    const [whole, ...rest] = endings(node.providerId);
    if (whole !== undefined) byProviderId[change](whole, node.name);
    for (const ending of rest) byEnding[change](ending, node.name);
    if (node.machineLabel !== '') byLabel[change](node.machineLabel, node.name);
  };

  const concerned = (node: NodeProjection): readonly string[] => {
    const ids = new Set<string>();
    for (const ending of endings(node.providerId)) {
      for (const id of machinesByProviderId.all(ending)) ids.add(id);
    }
    if (machines.has(node.name)) ids.add(node.name);
    if (machines.has(node.machineLabel)) ids.add(node.machineLabel);
    for (const id of machinesByNodeName.all(node.name)) ids.add(id);
    return [...ids];
  };

  const putNode = (node: NodeProjection): readonly string[] => {
    const known = nodes.get(node.name);
    nodes.set(node.name, node);
    const now = concerned(node);
    if (known !== undefined && sameTraits(known, node)) return now;
    if (known !== undefined) index(known, 'remove');
    index(node, 'add');
    return known === undefined ? now : [...new Set([...concerned(known), ...now])];
  };

  const nodeNamed = (name: string | undefined): NodeProjection | undefined =>
    name === undefined || name === '' ? undefined : nodes.get(name);

  /** An exact providerID beats an ending; `undefined` also when two Nodes fit. */
  const byProvider = (providerId: string): NodeProjection | undefined => {
    if (providerId === '') return undefined;
    const exact = byProviderId.only(providerId);
    if (exact !== undefined) return nodes.get(exact);
    return byProviderId.has(providerId) ? undefined : nodeNamed(byEnding.only(providerId));
  };

  const removeMachine = (id: string): void => {
    const known = machines.get(id);
    if (known === undefined) return;
    machines.delete(id);
    if (known.providerId !== '') machinesByProviderId.remove(known.providerId, id);
    if (known.nodeName !== '') machinesByNodeName.remove(known.nodeName, id);
  };

  const resolve = (
    { machineId, providerId, nodeName }: MachineTraits,
  ): NodeMatch | undefined =>
    match('ProviderId', byProvider(providerId)) ??
      match('NodeName', nodeNamed(machineId)) ??
      match('MachineLabel', nodeNamed(byLabel.only(machineId))) ??
      match('NamedInEntry', nodeNamed(nodeName));

  return {
    putNode,
    nodeNamed,
    machinesOf: (name) => {
      const node = nodes.get(name);
      if (node === undefined) return [];
      return concerned(node).filter((id) => {
        const machine = machines.get(id);
        return machine !== undefined && resolve(machine)?.node === node;
      });
    },
    removeNode: (name) => {
      const known = nodes.get(name);
      if (known === undefined) return [];
      nodes.delete(name);
      index(known, 'remove');
      return concerned(known);
    },
    putMachine: (machine) => {
      const known = machines.get(machine.machineId);
      if (known?.providerId === machine.providerId && known.nodeName === machine.nodeName) return;
      removeMachine(machine.machineId);
      machines.set(machine.machineId, machine);
      if (machine.providerId !== '') {
        machinesByProviderId.add(machine.providerId, machine.machineId);
      }
      if (machine.nodeName !== '') machinesByNodeName.add(machine.nodeName, machine.machineId);
    },
    removeMachine,
    resolve,
  };
};
