/** The parts of docs/reference/cli.md about `tidegate maintenance` and `tidegate drain NODE`. */
import { NODE_DRY_RUNS } from '../src/cli/drain-node/drain-node-request.ts';
import { DRY_RUNS } from '../src/cli/drain/drain-request.ts';
import { MAINTENANCE_PLAN_FORMATS } from '../src/cli/maintenance/maintenance-plan-request.ts';
import { CHANGE_FORMATS, MAINTENANCE_FORMATS } from '../src/cli/maintenance/maintenance-request.ts';
import { STAGES } from '../src/domain/node-maintenance/stage.ts';
import { POD_TYPES } from '../src/domain/node-maintenance/typed-pods.ts';
import { MAINTENANCE_SITUATIONS } from '../src/view/maintenance-view.ts';
import { CLUSTER_ROWS, flagTable, WATCH_ROW } from './cli-flag-tables.ts';
import { table } from './pages.ts';

const CHANGE_ROWS = [
  [`\`--dry-run ${DRY_RUNS.join('|')}\``, '`server`: the API server checks it and stores nothing'],
  ['`--wait`', 'Waits until the work of the stage is done, and prints the progress'],
  ['`--timeout DURATION`', 'How long to wait; default without end'],
  [`\`-o\`, \`--output ${CHANGE_FORMATS.join('|')}\``, 'Format of the answer'],
  ...CLUSTER_ROWS,
] as const;

/** Lines about `tidegate drain NODE…`. */
export const DRAIN_NODE_LINES = [
  '## tidegate drain NODE…',
  '',
  'Drains nodes as `kubectl drain` does, by a NodeMaintenance `drain-NODE` for each from which pods',
  'leave, which an operator with `--roles maintenance` works on; the others are only cordoned. See',
  '[Maintain nodes](../tasks/maintain-nodes.md). A node that is named like a command below is written',
  '`node/status`.',
  '',
  ...flagTable([
    ['`-l`, `--selector SELECTOR`', 'Label selector of the nodes, in place of names'],
    ['`--force`', 'Also pods without a controller, which nothing recreates'],
    ['`--ignore-daemonsets`', 'Leaves the pods of DaemonSets there'],
    ['`--delete-emptydir-data`', 'Also pods with an emptyDir, whose content is lost'],
    ['`--timeout DURATION`', 'How long to wait for each node; 0, the default: without end'],
    [
      '`--skip-wait-for-delete-timeout SECONDS`',
      'Does not wait for pods that terminate for longer; 0, the default: waits for all',
    ],
    ['`--chunk-size NUMBER`', 'Pods in one page of a list; default 500, 0: all'],
    [
      `\`--dry-run ${NODE_DRY_RUNS.join('|')}\``,
      '`client` prints what would leave; `server` also lets the API server check it',
    ],
    ['`--pod-selector SELECTOR`', 'Label selector of the pods that leave; the others stay'],
    [
      '`--grace-period SECONDS`',
      'How long each pod gets to stop, from 1; -1, the default: its own grace',
    ],
    ['`--disable-eviction`', 'Refused: budgets hold in every drain'],
    ...CLUSTER_ROWS,
  ]),
  '',
  'Exit code 0: every node is drained. 1: a node is not, or does not exist; filters refuse it, others',
  'completed its maintenance, the timeout has passed, or a signal ended the wait. A node that was given',
  'up stays cordoned; after a signal its drain goes on, and the same command goes on with it.',
  '',
  'Rights: `get` of Nodes (`list` with a selector) and DaemonSets, `list` and `watch` of pods, `create`,',
  '`list`, `watch` and `delete` of NodeMaintenances, `patch` of Nodes, `create` of `pods/eviction` for',
  'finished pods; and, as the policies demand, `delete` of the nodes.',
  '',
] as const;

/** Its lines. */
export const MAINTENANCE_LINES = [
  '## tidegate maintenance start NAME',
  '',
  'Creates a NodeMaintenance. `tidegate maintenance cordon NAME`, `drain NAME` and `complete NAME` move',
  'it to the stage of their name; a move backwards is refused.',
  '',
  ...flagTable([
    ['`--nodes NODE,…`', 'Names of the nodes, at most ten (`start`)'],
    ['`-l`, `--selector SELECTOR`', 'Label selector of the nodes (`start`)'],
    [`\`--stage ${STAGES.join('|')}\``, 'First stage; default `Idle` (`start`)'],
    ['`--reason TEXT`', 'Reason, for people (`start`)'],
    [
      '`--max-nodes-at-once NUMBER|PERCENT`',
      'How many nodes are cordoned and drained at once; default all (`start`)',
    ],
    ['`--pod-types TYPE,…`', `Types of pods that leave, of ${POD_TYPES.join(', ')} (\`start\`)`],
    ...CHANGE_ROWS,
  ]),
  '',
  'Exit code 3: the maintenance does not exist, exists already, would go backwards, or is not done in',
  'time. Rights: `create`, or `list` and `patch`, of NodeMaintenances, with `--wait` also `list` and',
  '`watch`; and, as the policies demand, `delete` of the nodes.',
  '',
  '## tidegate maintenance list',
  '',
  'Shows NodeMaintenances, one line for each. `tidegate maintenance status NAME` shows the nodes of',
  'one. Both read the objects and not the memory of the operator.',
  '',
  ...flagTable([
    [`\`-o\`, \`--output ${MAINTENANCE_FORMATS.join('|')}\``, 'Format of the answer'],
    WATCH_ROW,
    ...CLUSTER_ROWS,
  ]),
  '',
  ...table(['Column', 'Meaning'], [
    ['STAGE', 'The stage of the spec'],
    ['PHASE', MAINTENANCE_SITUATIONS.map((situation) => `\`${situation}\``).join(', ')],
    ['NODES', 'Drained nodes of the nodes that match, such as `3/12`'],
    ['PODS', 'Pods that must still leave'],
    ['REASON', 'The reason of the spec'],
    ['SELECTS', 'Whether the selector matches every node (`-o wide`)'],
    ['MESSAGE', 'What it waits for (`-o wide`)'],
  ]),
  '',
  'Of one maintenance: each node, whether it is admitted (STATE), its pods without (PENDING) and with',
  'a request (EVACUATING), and what it waits for. Exit code 3: the maintenance does not exist. Rights:',
  '`list` (for `--watch` also `watch`) of NodeMaintenances.',
  '',
  '## tidegate maintenance plan FILE|NAME',
  '',
  'Previews a NodeMaintenance of a file, of stdin (`-`) or of the cluster: its nodes by waves, which',
  'pods leave with which entry of its plan, what would block them, and what would be lost. What has a',
  'slash or ends in `.yaml`, `.yml` or `.json` is a path. The nodes of a wave are assumed to end',
  'together. It sends nothing but GET.',
  '',
  'With `--simulate` it also lists workloads, volumes and NodeMaintenances, loads everything into an',
  'embedded cluster in memory, and lets the real role `maintenance` drain there, on simulated time: in',
  'which order nodes begin and end, how few pods of each workload and budget are ready and for how',
  'long, which pods find no place, what blocks at the end, and how long it takes. The stage is `Drain`',
  'there, whatever it is in the file. It ends when the maintenance is drained, or when no pod has',
  'changed for half an hour in which no window was awaited.',
  '',
  ...flagTable([
    [`\`-o\`, \`--output ${MAINTENANCE_PLAN_FORMATS.join('|')}\``, 'Format of the answer'],
    ['`--simulate`', 'Also play it on an embedded cluster'],
    ['`--pod-startup DURATION`', 'How long a pod takes to become Ready; default `10s`'],
    ['`--pod-shutdown DURATION`', 'How long a pod takes to stop; default its termination grace'],
    [
      '`--node-work DURATION`',
      'How long the work on a drained node takes until the next one follows; default `0s`',
    ],
    ...CLUSTER_ROWS,
  ]),
  '',
  'Exit code 5: something would hold pods back; with `--simulate`, it was not drained, or pods were',
  'left without a place. JSON and YAML contain the same as the table, the simulation under',
  '`simulation`.',
  '',
  'Rights: `list` of Nodes, pods and PodDisruptionBudgets; `get` of the NodeMaintenance. With',
  '`--simulate` also `list` of Deployments, ReplicaSets, StatefulSets and DaemonSets, and, if',
  'permitted, of PersistentVolumes, PersistentVolumeClaims and NodeMaintenances.',
  '',
] as const;
