/** The parts of docs/reference/cli.md about `tidegate node` and what a disabled node keeps. */
import { ACKNOWLEDGE_FORMATS } from '../src/cli/drain/drain-request.ts';
import { NODE_CHANGE_FORMATS, NODE_FORMATS } from '../src/cli/node/node-request.ts';
import { AVAILABILITY_LABELS } from '../src/domain/node-availability/node-state.ts';
import { CLUSTER_ROWS, flagTable } from './cli-flag-tables.ts';

const CHANGE_FORMAT_ROW = [
  `\`-o\`, \`--output ${NODE_CHANGE_FORMATS.join('|')}\``,
  'Format of the answer',
] as const;

/** `tidegate drain acknowledge`. */
export const ACKNOWLEDGE_LINES = [
  '## tidegate drain acknowledge NODE',
  '',
  'Accepts that the pods whose data is on the node only stay there, so that its drain ends when all',
  'others are gone. It prints them, and names them on the node by UID: a pod that comes later needs',
  'another acknowledgement, and so does the next drain.',
  '',
  ...flagTable([
    ['`--why TEXT`', 'The reason, for people; stored on the node'],
    [`\`-o\`, \`--output ${ACKNOWLEDGE_FORMATS.join('|')}\``, 'Format of the answer'],
    ...CLUSTER_ROWS,
  ]),
  '',
  'Exit code 3: there is no such node, it does not drain, or none of its pods has data there only. 1:',
  'the API server refuses it.',
  '',
  'Rights: those of `drain status`, `list` of PersistentVolumeClaims and PersistentVolumes, and `patch`',
  'and [`drain`](../tasks/rbac.md#people) of Nodes.',
  '',
] as const;

/** `tidegate node`. */
export const NODE_LINES = [
  '## tidegate node status [NODE]',
  '',
  'Shows the state of each node, and how many of its pods are stateless or stateful; of one node, its',
  'pods, why each is still there, and what is lost with the node. The states are',
  `${AVAILABILITY_LABELS.map((label) => `\`${label}\``).join(', ')}; see`,
  '[Nodes that fail](../tasks/nodes-that-fail.md). It only reads the cluster.',
  '',
  ...flagTable([
    [`\`-o\`, \`--output ${NODE_FORMATS.join('|')}\``, 'Format of the answer'],
    ...CLUSTER_ROWS,
  ]),
  '',
  'Exit code 3: there is no such node.',
  '',
  'Rights: `list` (with a name `get`) of Nodes, `list` of pods, PersistentVolumeClaims and',
  'PersistentVolumes.',
  '',
  '## tidegate node disable NODE',
  '',
  'Takes a node out of service: it is cordoned with the owner `disabled`, and an operator with drains',
  'evicts its pods before those of other nodes. It stays so until it is enabled.',
  '',
  ...flagTable([
    ['`--why TEXT`', 'The reason, for people; required'],
    [
      '`--accept-downtime`',
      'Pods leave, within their budgets, also where no replacement is possible',
    ],
    CHANGE_FORMAT_ROW,
    ...CLUSTER_ROWS,
  ]),
  '',
  'On a disabled node, the command changes the reason and whether downtime is accepted.',
  '',
  'Exit code 3: there is no such node. 1: the API server refuses it.',
  '',
  '## tidegate node enable NODE',
  '',
  'Gives a disabled node back. It becomes schedulable unless a person, the fleet or a maintenance holds',
  'it.',
  '',
  ...flagTable([CHANGE_FORMAT_ROW, ...CLUSTER_ROWS]),
  '',
  'Exit code 3: there is no such node. 1: the API server refuses it.',
  '',
  '## tidegate node confirm-gone NODE',
  '',
  'Confirms that the machine of a node is off. The node gets the taint',
  '`node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`, so that Kubernetes deletes its pods and',
  'detaches their volumes; they are printed first. The operator removes the taint when the node is',
  'Ready again.',
  '',
  ...flagTable([
    [
      '`--accept-local-loss`',
      'Goes on although pods or data that exist only on the node are lost',
    ],
    CHANGE_FORMAT_ROW,
    ...CLUSTER_ROWS,
  ]),
  '',
  'Exit code 3: there is no such node, or it is Ready. 5: something would be lost that exists only on',
  'the node. 1: the API server refuses it.',
  '',
  'Rights of the three: `get`, `patch` and [`drain`](../tasks/rbac.md#people) of Nodes; `confirm-gone`',
  'also those of `status`.',
  '',
] as const;
