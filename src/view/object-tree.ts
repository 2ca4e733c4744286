/**
 * The objects around a machine, a pod or a request, as a tree of what leads to what: machine,
 * UpcomingNode, Node, pods; pod, CapacityRequest, demand; pod, EvictionRequest, interceptors.
 *
 * Promises: pure and total; a link that cannot be found is a node of the tree that says so.
 */
import { cordonsIn } from '../domain/drain/cordon.ts';
import {
  type ObservedRequest,
  projectEvictionRequest,
} from '../domain/eviction-requests/observed-request.ts';
import { MACHINE_ID_KEY } from '../domain/ids.ts';
import { rawConditionOf } from '../domain/condition.ts';
import { booleanAt, listOrEmptyAt, numberAt, textAt } from '../domain/json.ts';
import { nodeConditionsOf } from '../domain/node-maintenance/node-conditions.ts';
import { annotationsOf, isDeleting, labelsOf } from '../domain/object-meta.ts';
import { OWNED_BY_POD } from '../domain/pod-demand/pod-request.ts';
import { listed } from '../domain/text.ts';
import { ownersOf } from './drain-owner.ts';
import { evictionStatus } from './eviction-status.ts';
import { age, quantitiesText } from './explanation.ts';
import { type Column, tableText } from './table.ts';

/** Requesters that one line shows. */
const REQUESTERS_MAX = 3;

/** One object and what follows from it. */
export interface TreeNode {
  readonly kind: string;
  /** `NAMESPACE/NAME`, or `NAME`. */
  readonly name: string;
  readonly state: string;
  readonly createdAt: string | null;
  readonly children: readonly TreeNode[];
}

const nameOf = (object: unknown): string => {
  const namespace = textAt(object, 'metadata', 'namespace') ?? '';
  const name = textAt(object, 'metadata', 'name') ?? '';
  return namespace === '' ? name : `${namespace}/${name}`;
};

const treeNode = (
  kind: string,
  object: unknown,
  more: Pick<TreeNode, 'state' | 'children'>,
): TreeNode => ({
  kind,
  name: nameOf(object),
  createdAt: textAt(object, 'metadata', 'creationTimestamp') ?? null,
  ...more,
  state: isDeleting(object) ? `${more.state}, terminating` : more.state,
});

const controllerText = (pod: unknown): string => {
  const owner = listOrEmptyAt(pod, 'metadata', 'ownerReferences').find((reference) =>
    booleanAt(reference, 'controller') === true
  );
  return owner === undefined ? '' : `${textAt(owner, 'kind') ?? ''} ${textAt(owner, 'name') ?? ''}`;
};

const present = (...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== '').join(', ');

const podState = (pod: unknown): string => {
  const phase = textAt(pod, 'status', 'phase') ?? 'Unknown';
  const isReady = textAt(rawConditionOf(pod, 'Ready'), 'status') === 'True';
  const unscheduled = textAt(rawConditionOf(pod, 'PodScheduled'), 'reason') ?? '';
  const detail = phase === 'Pending' ? unscheduled : '';
  return present(phase, phase === 'Running' && !isReady ? 'not Ready' : detail);
};

const podOwnedBy = (pod: unknown): string => {
  const owner = controllerText(pod);
  return owner === '' ? '' : `of ${owner}`;
};

/** What the Node shows of its maintenances, such as `Drained (NodeMaintenance kernel)`. */
const maintainedText = (node: unknown): string =>
  Object.entries(nodeConditionsOf(node).ours)
    .map(([type, message]) => `${type} (${message})`).join(', ');

const nodeState = (node: unknown): string => {
  const ready = rawConditionOf(node, 'Ready');
  const status = textAt(ready, 'status');
  const readiness = status === 'True' ? 'Ready' : textAt(ready, 'reason') ?? 'NotReady';
  const owners = ownersOf(cordonsIn(annotationsOf(node))).join(' and ');
  const isCordoned = booleanAt(node, 'spec', 'unschedulable') === true;
  const by = owners === '' ? '' : ` by ${owners}`;
  return present(readiness, isCordoned ? `cordoned${by}` : '', maintainedText(node));
};

/** What becomes of an interceptor: it had its turn, is asked, or comes later. */
const turnIn = (
  { status: { active, processed } }: ObservedRequest,
  name: string,
  message: string,
): string => {
  if (processed.includes(name)) return 'processed';
  return active === name ? present('asked', message) : 'not asked yet';
};

const evictionRequestTreeNode = (raw: unknown, nowMs: number): readonly TreeNode[] => {
  const request = projectEvictionRequest(raw);
  if (request === undefined) return [];
  const { phase, requesters, message } = evictionStatus(request, nowMs);
  const by = requesters.length === 0 ? '' : `requested by ${listed(requesters, REQUESTERS_MAX)}`;
  const children = request.status.targets.map((name): TreeNode => ({
    kind: 'Interceptor',
    name,
    state: turnIn(request, name, message),
    createdAt: null,
    children: [],
  }));
  return [treeNode('EvictionRequest', raw, { state: present(phase, by), children })];
};

const uidOf = (object: unknown): string => textAt(object, 'metadata', 'uid') ?? '';

/** The objects around a Node. */
export interface NodeTreeFacts {
  /** Undefined: it does not exist. */
  readonly node: unknown;
  /** Undefined: it does not exist. */
  readonly upcomingNode: unknown;
  readonly pods: readonly unknown[];
  /** The EvictionRequests of these pods, and perhaps of others. */
  readonly evictionRequests: readonly unknown[];
  readonly nowMs: number;
}

/** Of one pod: a request has the name of its pod's UID. */
const evictionRequestsOf = (pod: unknown, { evictionRequests, nowMs }: RequestedFacts) =>
  evictionRequests.filter((raw) => textAt(raw, 'metadata', 'name') === uidOf(pod))
    .flatMap((raw) => evictionRequestTreeNode(raw, nowMs));

type RequestedFacts = Pick<NodeTreeFacts, 'evictionRequests' | 'nowMs'>;

const podBranch = (pod: unknown, facts: RequestedFacts): TreeNode =>
  treeNode('Pod', pod, {
    state: present(podState(pod), podOwnedBy(pod)),
    children: evictionRequestsOf(pod, facts),
  });

const upcomingState = (upcomingNode: unknown): string =>
  present(
    textAt(upcomingNode, 'status', 'phase') ?? 'Registered',
    textAt(upcomingNode, 'status', 'lastError'),
  );

/** Machine, UpcomingNode, Node and pods. */
export const nodeTree = (facts: NodeTreeFacts): TreeNode | undefined => {
  const { node, upcomingNode, pods } = facts;
  const leaves = pods.map((pod) => podBranch(pod, facts)).toSorted((left, right) =>
    left.name < right.name ? -1 : 1
  );
  const ofNode = node === undefined
    ? undefined
    : treeNode('Node', node, { state: nodeState(node), children: leaves });
  if (upcomingNode === undefined) return ofNode;
  const machine = annotationsOf(upcomingNode)[MACHINE_ID_KEY] ?? '';
  return {
    kind: 'Machine',
    name: machine,
    state: quantitiesText(upcomingNode, 'spec', 'resources'),
    createdAt: null,
    children: [
      treeNode('UpcomingNode', upcomingNode, {
        state: upcomingState(upcomingNode),
        children: ofNode === undefined ? [] : [ofNode],
      }),
    ],
  };
};

/** The objects around a CapacityRequest or a pod. */
export interface RequestTreeFacts {
  /** Undefined: no pod, or it does not exist. */
  readonly pod: unknown;
  readonly requests: readonly unknown[];
  readonly evictionRequests: readonly unknown[];
  readonly nowMs: number;
}

const demandOf = (request: unknown): TreeNode => {
  const priority = numberAt(request, 'spec', 'priority') ?? 0;
  const acknowledged = textAt(request, 'status', 'phase') === 'Acknowledged';
  return {
    kind: 'Demand',
    name: quantitiesText(request, 'spec', 'resources'),
    state: present(
      `priority ${priority}`,
      acknowledged ? 'acknowledged by the fleet' : 'not acknowledged yet',
    ),
    createdAt: textAt(request, 'status', 'acknowledgedAt') ?? null,
    children: [],
  };
};

const requestTreeNode = (request: unknown): TreeNode =>
  treeNode('CapacityRequest', request, {
    state: textAt(request, 'status', 'phase') ?? 'Pending',
    children: [demandOf(request)],
  });

const missingPod = (request: unknown): string =>
  labelsOf(request)[OWNED_BY_POD] === undefined ? '' : 'its pod does not exist';

/** Pod, CapacityRequest and demand; a request without a pod is the root. */
export const requestTree = (facts: RequestTreeFacts): TreeNode | undefined => {
  const { pod, requests } = facts;
  const ofDemand = requests.map(requestTreeNode);
  if (pod === undefined) {
    const [first] = ofDemand;
    return first && { ...first, state: present(first.state, missingPod(requests[0])) };
  }
  const node = textAt(pod, 'spec', 'nodeName') ?? '';
  const where = node === '' ? '' : `on ${node}`;
  const children = [...evictionRequestsOf(pod, facts), ...ofDemand];
  return treeNode('Pod', pod, { state: present(podState(pod), where, podOwnedBy(pod)), children });
};

interface Row {
  readonly branch: string;
  readonly node: TreeNode;
}

/** The tree line by line, each below its parent. */
const rowsOf = (node: TreeNode, branch = '', indent = ''): readonly Row[] => [
  { branch, node },
  ...node.children.flatMap((child, index) => {
    const isLast = index === node.children.length - 1;
    return rowsOf(
      child,
      `${indent}${isLast ? '└─ ' : '├─ '}`,
      `${indent}${isLast ? '   ' : '│  '}`,
    );
  }),
];

/** The tree as a table. */
export const treeText = (root: TreeNode, nowMs: number): string => {
  const columns: readonly Column<Row>[] = [
    { heading: 'OBJECT', cell: ({ branch, node: { kind, name } }) => `${branch}${kind} ${name}` },
    { heading: 'STATE', cell: ({ node: { state } }) => state },
    { heading: 'AGE', cell: ({ node: { createdAt } }) => age(createdAt ?? undefined, nowMs) ?? '' },
  ];
  return tableText(columns, rowsOf(root));
};

const RESOURCES: Readonly<Record<string, string>> = {
  CapacityRequest: 'capacityrequest.bigfleet.lucy.sh',
  UpcomingNode: 'upcomingnode.bigfleet.lucy.sh',
  EvictionRequest: 'evictionrequest.lifecycle.tidegate.dev',
  Node: 'node',
  Pod: 'pod',
};

/** The objects of the tree that the API server has, as `kubectl -o name` prints them. */
export const treeNames = (root: TreeNode): readonly string[] =>
  rowsOf(root).flatMap(({ node: { kind, name } }) => {
    const resource = RESOURCES[kind];
    return resource === undefined ? [] : [`${resource}/${name.split('/').at(-1) ?? ''}`];
  });
