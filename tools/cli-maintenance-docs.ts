/** The part of docs/reference/cli.md about `tidegate maintenance`. */
import { MAINTENANCE_PLAN_FORMATS } from '../src/cli/maintenance-plan-request.ts';
import { MAINTENANCE_FORMATS } from '../src/cli/maintenance-request.ts';
import { MAINTENANCE_SITUATIONS } from '../src/view/maintenance-view.ts';
import { CLUSTER_ROWS, flagTable } from './cli-flag-tables.ts';
import { table } from './pages.ts';

/** Its lines. */
export const MAINTENANCE_LINES = [
  '## tidegate maintenance list',
  '',
  'Shows NodeMaintenances, one line for each. `tidegate maintenance status NAME` shows the nodes of',
  'one. Both read the objects and not the memory of the operator.',
  '',
  ...flagTable([
    [`\`-o\`, \`--output ${MAINTENANCE_FORMATS.join('|')}\``, 'Format of the answer'],
    [
      '`-w`, `--watch`',
      'Keeps watching: redraws the table on a terminal, prints changes with their time otherwise',
    ],
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
