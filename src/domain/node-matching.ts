/**
 * Matches Nodes to machines, in the order of UPN-03: by providerID, by the machine's name, by the
 * label with its id (first the label that kubelets may not write), then by the node name in the
 * frame or instruction.
 *
 * Promises: no lookup scans; a rule that matches two Nodes decides nothing, because a wrong Node is
 * worse than none; a provider id that is only a Node's name decides nothing, because anybody can
 * name a Node.
 */
import type { NodeProjection } from './cluster-node.ts';
import { multiIndex } from './multi-index.ts';

/** The fields of a machine that can identify its Node. */
export interface MachineTraits {
  readonly machineId: string;
  /** The last reported `provider_id`; empty without one. */
  readonly providerId: string;
  /** The Node that the frame or instruction names; empty without one. */
  readonly nodeName: string;
}

/** The rule that found the Node. */
export type MatchRule = 'ProviderId' | 'NodeName' | 'MachineLabel' | 'NamedInEntry';

/** A Node and the rule that found it. */
export interface NodeMatch {
  readonly node: NodeProjection;
  readonly rule: MatchRule;
}

/** Nodes and machines, each found from the other. */
export interface NodeMatching {
  /** Adds or updates a Node. Returns the ids of the affected machines. */
  readonly putNode: (node: NodeProjection) => readonly string[];
  /** Returns the ids of the affected machines. */
  readonly removeNode: (name: string) => readonly string[];
  /** The Node as last added. */
  readonly nodeNamed: (name: string) => NodeProjection | undefined;
  /** The added machines that match this Node. */
  readonly machinesOf: (name: string) => readonly string[];
  readonly putMachine: (machine: MachineTraits) => void;
  readonly removeMachine: (machineId: string) => void;
  /** The Node of a machine, added or not. */
  readonly resolve: (machine: MachineTraits) => NodeMatch | undefined;
}

/** A Node's providerID that is longer is nobody's; its endings are many, and as long as itself. */
const PROVIDER_ID_MAX = 2048;

/**
 * `a://b/c` → `a://b/c`, `/b/c`, `b/c`, `c`: the provider ids that a machine of this Node may have.
 */
const endings = (providerId: string): readonly string[] => {
  if (providerId === '' || providerId.length > PROVIDER_ID_MAX) return [];
  const parts = [providerId];
  for (let at = providerId.indexOf('/'); at !== -1; at = providerId.indexOf('/', at + 1)) {
    const ending = providerId.slice(at + 1);
    if (ending !== '') parts.push(ending);
  }
  return parts;
};

const sameTraits = (left: NodeProjection, right: NodeProjection): boolean =>
  left.providerId === right.providerId && left.machineLabel === right.machineLabel &&
  left.isLabelRestricted === right.isLabelRestricted;

const match = (rule: MatchRule, node: NodeProjection | undefined): NodeMatch | undefined =>
  node === undefined ? undefined : { node, rule };

/** Nodes indexed by every field that can identify them. */
const nodeIndex = () => {
  const nodes = new Map<string, NodeProjection>();
  const byProviderId = multiIndex();
  const byEnding = multiIndex();
  const byLabel = multiIndex();
  const byRestrictedLabel = multiIndex();
  const named = (name: string | undefined): NodeProjection | undefined =>
    name === undefined || name === '' ? undefined : nodes.get(name);

  const index = (node: NodeProjection, change: 'add' | 'remove'): void => {
    const [whole, ...rest] = endings(node.providerId);
    if (whole !== undefined) byProviderId[change](whole, node.name);
    for (const ending of rest) byEnding[change](ending, node.name);
    const labels = node.isLabelRestricted === true ? byRestrictedLabel : byLabel;
    if (node.machineLabel !== '') labels[change](node.machineLabel, node.name);
  };

  return {
    named,
    /** A label that a kubelet may not write outranks one that it may. */
    labelled: (machineId: string) =>
      named((byRestrictedLabel.has(machineId) ? byRestrictedLabel : byLabel).only(machineId)),
    /** An exact providerID wins over a suffix; `undefined` also when two Nodes match. */
    provided: (providerId: string): NodeProjection | undefined => {
      if (providerId === '') return undefined;
      const isExact = byProviderId.has(providerId);
      const found = named((isExact ? byProviderId : byEnding).only(providerId));
      return found?.name === providerId ? undefined : found;
    },
    /** Returns the previous Node, unless it matches the same machines. */
    put: (node: NodeProjection): NodeProjection | undefined => {
      const known = nodes.get(node.name);
      nodes.set(node.name, node);
      if (known !== undefined && sameTraits(known, node)) return undefined;
      if (known !== undefined) index(known, 'remove');
      index(node, 'add');
      return known;
    },
    remove: (name: string): NodeProjection | undefined => {
      const known = nodes.get(name);
      if (known === undefined) return undefined;
      nodes.delete(name);
      index(known, 'remove');
      return known;
    },
  };
};

/** Machines indexed by every field that can identify their Nodes. */
const machineIndex = () => {
  const machines = new Map<string, MachineTraits>();
  const byProviderId = multiIndex();
  const byNodeName = multiIndex();

  const remove = (id: string): void => {
    const known = machines.get(id);
    if (known === undefined) return;
    machines.delete(id);
    if (known.providerId !== '') byProviderId.remove(known.providerId, id);
    if (known.nodeName !== '') byNodeName.remove(known.nodeName, id);
  };

  return {
    get: (id: string) => machines.get(id),
    remove,
    put: (machine: MachineTraits): void => {
      const { machineId, providerId, nodeName } = machine;
      const known = machines.get(machineId);
      if (known?.providerId === providerId && known.nodeName === nodeName) return;
      remove(machineId);
      machines.set(machineId, machine);
      if (providerId !== '') byProviderId.add(providerId, machineId);
      if (nodeName !== '') byNodeName.add(nodeName, machineId);
    },
    /** The ids of the machines that may match this Node. */
    concerned: (node: NodeProjection): readonly string[] => {
      const ids = new Set<string>();
      for (const ending of endings(node.providerId)) {
        for (const id of byProviderId.all(ending)) ids.add(id);
      }
      if (machines.has(node.name)) ids.add(node.name);
      if (machines.has(node.machineLabel)) ids.add(node.machineLabel);
      for (const id of byNodeName.all(node.name)) ids.add(id);
      return [...ids];
    },
  };
};

/** An empty matching. */
export const nodeMatching = (): NodeMatching => {
  const nodes = nodeIndex();
  const machines = machineIndex();

  const resolve = (
    { machineId, providerId, nodeName }: MachineTraits,
  ): NodeMatch | undefined =>
    match('ProviderId', nodes.provided(providerId)) ??
      match('NodeName', nodes.named(machineId)) ??
      match('MachineLabel', nodes.labelled(machineId)) ??
      match('NamedInEntry', nodes.named(nodeName));

  return {
    putNode: (node) => {
      const before = nodes.put(node);
      const now = machines.concerned(node);
      return before === undefined ? now : [...new Set([...machines.concerned(before), ...now])];
    },
    nodeNamed: nodes.named,
    machinesOf: (name) => {
      const node = nodes.named(name);
      if (node === undefined) return [];
      return machines.concerned(node).filter((id) => {
        const machine = machines.get(id);
        return machine !== undefined && resolve(machine)?.node === node;
      });
    },
    removeNode: (name) => {
      const known = nodes.remove(name);
      return known === undefined ? [] : machines.concerned(known);
    },
    putMachine: machines.put,
    removeMachine: machines.remove,
    resolve,
  };
};
