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
  ...flagTable([
    [`\`-o\`, \`--output ${MAINTENANCE_PLAN_FORMATS.join('|')}\``, 'Format of the answer'],
    ...CLUSTER_ROWS,
  ]),
  '',
  'Exit code 5: something would hold pods back. JSON and YAML contain the same as the table.',
  '',
  'Rights: `list` of Nodes, pods and PodDisruptionBudgets; `get` of the NodeMaintenance.',
  '',
] as const;
