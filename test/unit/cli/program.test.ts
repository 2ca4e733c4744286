/**
 * The command line in one process: which command gets which request, and the golden help texts.
 *
 * `UPDATE_GOLDEN=1` records the help texts anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ChartsDiffRequest, ChartsExportRequest } from '../../../src/cli/charts-request.ts';
import type { DemoRequest } from '../../../src/cli/demo-request.ts';
import type { DrainNodesRequest } from '../../../src/cli/drain-node-request.ts';
import type { DrainPlanRequest, DrainStatusRequest } from '../../../src/cli/drain-request.ts';
import type { EvictionsRequest, EvictRequest } from '../../../src/cli/evictions-request.ts';
import type { ExplainRequest } from '../../../src/cli/explain-request.ts';
import type { MaintenancePlanRequest } from '../../../src/cli/maintenance-plan-request.ts';
import type {
  MaintenanceMoveRequest,
  MaintenanceShowRequest,
  MaintenanceStartRequest,
} from '../../../src/cli/maintenance-request.ts';
import type { ReplayRequest } from '../../../src/cli/replay-request.ts';
import type { TreeRequest } from '../../../src/cli/tree-command.ts';
import type {
  NodeDisableRequest,
  NodeEnableRequest,
  NodeGoneRequest,
  NodeStatusRequest,
} from '../../../src/cli/node-request.ts';
import { type GivenFlags, type Roles, runProgram } from '../../../src/cli/program.ts';

type Asked =
  | GivenFlags
  | ExplainRequest
  | DrainNodesRequest
  | DrainStatusRequest
  | DrainPlanRequest
  | EvictRequest
  | EvictionsRequest
  | MaintenanceShowRequest
  | MaintenanceStartRequest
  | MaintenanceMoveRequest
  | NodeStatusRequest
  | NodeDisableRequest
  | NodeEnableRequest
  | NodeGoneRequest
  | ChartsExportRequest
  | ChartsDiffRequest
  | ReplayRequest
  | DemoRequest
  | MaintenancePlanRequest
  | TreeRequest;

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly asked: readonly (readonly [role: string, what: Asked])[];
}

const run = async (...given: readonly string[]): Promise<Run> => {
  let stdout = '';
  let stderr = '';
  const asked: [string, Asked][] = [];
  const reply = (command: string, request: Asked, code: 0 | 3 | 5): Promise<0 | 3 | 5> => {
    asked.push([command, request]);
    return Promise.resolve(code);
  };
  const roles: Roles = {
    operator: (flags) => {
      asked.push(['operator', flags]);
      return Promise.resolve(0);
    },
    pods: (flags) => {
      asked.push(['pods', flags]);
      return Promise.resolve(0);
    },
    fleet: (flags) => {
      asked.push(['fleet', flags]);
      return Promise.resolve(1);
    },
    cluster: (flags) => {
      asked.push(['cluster', flags]);
      return Promise.resolve(0);
    },
    explain: (request) => {
      asked.push(['explain', request]);
      return Promise.resolve(3);
    },
    doctor: (flags) => {
      asked.push(['doctor', flags]);
      return Promise.resolve(1);
    },
    tree: (request) => {
      asked.push(['tree', request]);
      return Promise.resolve(0);
    },
    drainNodes: (request) => {
      asked.push(['drain', request]);
      return Promise.resolve(1);
    },
    drainStatus: (request) => {
      asked.push(['drain status', request]);
      return Promise.resolve(0);
    },
    drainPlan: (request) => {
      asked.push(['drain plan', request]);
      return Promise.resolve(4);
    },
    drainAcknowledge: (request) => {
      asked.push(['drain acknowledge', request]);
      return Promise.resolve(3);
    },
    maintenancePlan: (request) => {
      asked.push(['maintenance plan', request]);
      return Promise.resolve(5);
    },
    evict: (request) => {
      asked.push(['evict', request]);
      return Promise.resolve(3);
    },
    evictions: (request) => {
      asked.push(['evictions', request]);
      return Promise.resolve(0);
    },
    maintenanceShow: (request) => {
      asked.push(['maintenance show', request]);
      return Promise.resolve(0);
    },
    maintenanceStart: (request) => {
      asked.push(['maintenance start', request]);
      return Promise.resolve(0);
    },
    maintenanceMove: (request) => {
      asked.push(['maintenance move', request]);
      return Promise.resolve(3);
    },
    chartsExport: (request) => {
      asked.push(['charts export', request]);
      return Promise.resolve(0);
    },
    demo: (request) => {
      asked.push(['demo', request]);
      return Promise.resolve(0);
    },
    replay: (request) => {
      asked.push(['replay', request]);
      return Promise.resolve(0);
    },
    nodeStatus: (request) => reply('node status', request, 0),
    nodeDisable: (request) => reply('node disable', request, 0),
    nodeEnable: (request) => reply('node enable', request, 3),
    nodeConfirmGone: (request) => reply('node confirm-gone', request, 5),
    chartsDiff: (request) => {
      asked.push(['charts diff', request]);
      return Promise.resolve(3);
    },
  };
  const terminal = {
    print: (text: string) => void (stdout += text),
    report: (line: string) => void (stderr += `${line}\n`),
    colors: false,
    interactive: false,
    size: () => ({ columns: 80, rows: 24 }),
  };
  return { code: await runProgram(given, roles, terminal), stdout, stderr, asked };
};

const COMMANDS = [
  'tidegate',
  'operator',
  'pods',
  'fleet',
  'cluster',
  'explain',
  'doctor',
  'tree',
  'drain',
  'drain status',
  'drain acknowledge',
  'drain plan',
  'evict',
  'evictions',
  'maintenance',
  'maintenance start',
  'maintenance cordon',
  'maintenance drain',
  'maintenance complete',
  'maintenance list',
  'maintenance status',
  'maintenance plan',
  'node',
  'node status',
  'node disable',
  'node enable',
  'node confirm-gone',
  'charts',
  'charts export',
  'charts diff',
  'replay',
  'demo',
  'completion',
  'version',
];

const helpOf = (command: string): Promise<Run> =>
  run(...(command === 'tidegate' ? [] : command.split(' ')), '--help');

test.each(COMMANDS)('help of %s is as it was recorded', async (command) => {
  const path = new URL(`golden/${command.replace(' ', '-')}.txt`, import.meta.url);
  const { code, stdout, stderr } = await helpOf(command);
  if (process.env['UPDATE_GOLDEN'] !== undefined) writeFileSync(path, stdout);
  expect(stdout).toBe(readFileSync(path, 'utf8'));
  expect([code, stderr]).toEqual([0, '']);
});

/** Every command that help lists, and those below it. */
const allCommands = async (above: readonly string[] = []): Promise<readonly string[]> => {
  const { stdout } = await run(...above, '--help');
  const sections = stdout.split('\n\n').filter((section) => !/^(\w+ )*[Ff]lags:/.test(section));
  const listed = stdout.includes('COMMAND')
    ? sections.slice(1).flatMap((section) =>
      [...section.matchAll(/^ {2}([a-z]+(?:-[a-z]+)*) {2,}/gm)].map(([, name = '']) => name)
    )
    : [];
  const below = await Promise.all(listed.map((name) => allCommands([...above, name])));
  return [above.length === 0 ? 'tidegate' : above.join(' '), ...below.flat()];
};

test('help names every command, and help of each fits 80 columns', async () => {
  const commands = await allCommands();
  expect(commands.toSorted()).toEqual(COMMANDS.toSorted());
  for (const command of commands) {
    const { stdout } = await helpOf(command);
    expect(stdout.split('\n').filter((line) => line.length > 80), command).toEqual([]);
  }
});

test('help of the operator lists every flag under a heading', async () => {
  const { stdout } = await helpOf('operator');
  const [general = ''] = stdout.split('\n\n').filter((section) => section.startsWith('Flags:'));
  expect([...general.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag]) => flag)).toEqual([
    '--cluster-id',
    '--shard-addr',
    '--roles',
  ]);
});

test.each(['bash', 'zsh', 'fish'])(
  'completion %s prints a script that knows the commands',
  async (shell) => {
    const { code, stdout, stderr } = await run('completion', shell);
    expect([code, stderr]).toEqual([0, '']);
    for (const word of ['explain', 'kubeconfig', 'completion']) expect(stdout).toContain(word);
  },
);

test('version prints program, runtime and platform, as text and as JSON', async () => {
  expect((await run('version')).stdout).toMatch(/^tidegate \S+ \((Node|Deno) \S+, \w+\/\w+\)\n$/);
  expect(JSON.parse((await run('version', '-o', 'json')).stdout)).toEqual({
    version: expect.stringMatching(/^\d/),
    runtime: expect.stringMatching(/^(Node|Deno) /),
    platform: expect.stringMatching(/^\w+\/\w+$/),
  });
});

test('no arguments print the help', async () => {
  const { code, stdout, asked } = await run();
  expect(code).toBe(0);
  expect(stdout).toContain('tidegate COMMAND');
  expect(asked).toEqual([]);
});

test('flags without a command mean the operator, as an image swap requires', async () => {
  const { asked } = await run('-cluster-id', 'prod-1', '--shard-addr=shard:7700');
  expect(asked).toEqual([['operator', { 'cluster-id': 'prod-1', 'shard-addr': 'shard:7700' }]]);
});

test('the last value of a repeated flag counts, as in Go', async () => {
  const { asked } = await run('operator', '--qps=1', '-qps', '2');
  expect(asked).toEqual([['operator', { qps: '2' }]]);
});

test('the exit code of a command is the exit code of the program', async () => {
  expect((await run('fleet')).code).toBe(1);
  expect((await run('explain', 'machine', 'm-1')).code).toBe(3);
});

test('explain takes the flags of kubectl', async () => {
  const { asked } = await run(
    'explain',
    'cr',
    'batch',
    '-n',
    'team-a',
    '-o',
    'yaml',
    '--context=c',
  );
  expect(asked).toEqual([['explain', {
    kind: 'cr',
    name: 'batch',
    namespace: 'team-a',
    format: 'yaml',
    kubeconfig: undefined,
    context: 'c',
  }]]);
});

test('doctor takes the flags of the operator, and -o', async () => {
  const { asked, code } = await run('doctor', '--cluster-id=c', '-o', 'json', '--context', 'x');
  expect([code, asked]).toEqual([1, [['doctor', {
    'cluster-id': 'c',
    context: 'x',
    output: 'json',
  }]]]);
});

test('explain with one argument explains a node', async () => {
  const { asked } = await run('explain', 'node-7');
  expect(asked).toMatchObject([['explain', { kind: 'node-7', name: undefined }]]);
});

test('drain status takes nodes, and the flags of kubectl', async () => {
  const { asked, code } = await run('drain', 'status', 'node-7', 'node-8', '-o', 'wide', '-w');
  expect(code).toBe(0);
  expect(asked).toEqual([['drain status', {
    nodes: ['node-7', 'node-8'],
    selector: undefined,
    format: 'wide',
    watch: true,
    kubeconfig: undefined,
    context: undefined,
  }]]);
});

test('drain status takes a label selector', async () => {
  const { asked } = await run('drain', 'status', '-l', 'zone in (a,b)', '-o', 'name');
  expect(asked).toMatchObject([['drain status', { selector: 'zone in (a,b)', format: 'name' }]]);
});

test('drain status without arguments shows every drain, as a table, once', async () => {
  const { asked } = await run('drain', 'status');
  expect(asked).toMatchObject([['drain status', { nodes: [], format: 'table', watch: false }]]);
});

test('drain plan takes one node, a grace and whether to try evictions', async () => {
  const { asked, code } = await run(
    'drain',
    'plan',
    'node-7',
    '--grace=10m',
    '--dry-run=server',
    '--default-interceptors=none',
    '-o',
    'json',
    '--context=c',
  );
  expect(code).toBe(4);
  expect(asked).toEqual([['drain plan', {
    node: 'node-7',
    format: 'json',
    grace: '10m',
    dryRun: 'server',
    defaultInterceptors: 'none',
    kubeconfig: undefined,
    context: 'c',
  }]]);
});

test('maintenance plan takes a file or a name, and the flags of kubectl', async () => {
  const { asked, code } = await run('maintenance', 'plan', 'kernel.yaml', '-o', 'json');
  expect(code).toBe(5);
  expect(asked).toEqual([['maintenance plan', {
    source: 'kernel.yaml',
    format: 'json',
    simulate: false,
    podStartup: '10s',
    podShutdown: undefined,
    nodeWork: '0s',
    kubeconfig: undefined,
    context: undefined,
  }]]);
});

test('maintenance list shows all, and maintenance status one', async () => {
  const { asked } = await run('maintenance', 'list', '-o', 'wide', '--watch');
  const common = { kubeconfig: undefined, context: undefined };
  expect(asked).toEqual([
    ['maintenance show', { name: undefined, format: 'wide', watch: true, ...common }],
  ]);
  expect((await run('maintenance', 'status', 'kernel')).asked).toEqual([
    ['maintenance show', { name: 'kernel', format: 'table', watch: false, ...common }],
  ]);
});

test('maintenance start takes nodes, a first stage, and whether to wait', async () => {
  const { asked } = await run(
    ...['maintenance', 'start', 'kernel', '-l', 'rack=r1', '--stage=Drain', '--wait'],
    ...['--timeout=1h', '--reason=New kernel', '--max-nodes-at-once=2', '--pod-types=Default'],
  );
  expect(asked).toEqual([['maintenance start', {
    name: 'kernel',
    nodes: undefined,
    selector: 'rack=r1',
    stage: 'Drain',
    reason: 'New kernel',
    maxNodesAtOnce: '2',
    podTypes: 'Default',
    format: 'text',
    dryRun: 'none',
    wait: true,
    timeout: '1h',
    kubeconfig: undefined,
    context: undefined,
  }]]);
});

test.each(['cordon', 'drain', 'complete'])(
  'maintenance %s moves the maintenance of this name',
  async (verb) => {
    const { asked, code } = await run('maintenance', verb, verb, '--dry-run=server');
    expect(code).toBe(3);
    expect(asked).toMatchObject([['maintenance move', { verb, name: verb, dryRun: 'server' }]]);
  },
);

test('--version prints name and version', async () => {
  const { stdout, code } = await run('--version');
  expect(stdout).toMatch(/^tidegate \d+\.\d+\.\d+\S*\n$/);
  expect(code).toBe(0);
});

test.each([
  [
    ['--clusterid=a'],
    'Cannot use --clusterid: no such flag; did you mean --cluster-id? see "tidegate operator --help"',
  ],
  [['expain'], 'Cannot run "expain": no such command; did you mean explain? see "tidegate --help"'],
  [
    ['drain', 'plan'],
    'Cannot start without <node>: it is required; see "tidegate drain plan --help"',
  ],
  [
    ['operator', 'now'],
    'Cannot use "now": no argument is expected there; see "tidegate operator --help"',
  ],
  [
    ['completion', 'tcsh'],
    'Cannot use <shell> "tcsh": unknown value; write one of bash, zsh, fish',
  ],
  [['version', '-o', 'xml'], 'Cannot use --output "xml": unknown value; write one of text, json'],
  [['operator', '--qps'], 'Cannot use --qps: it has no value; see "tidegate operator --help"'],
  [
    ['explain', 'cr', 'a/b', '-x'],
    'Cannot use -x: no such flag; did you mean -n? see "tidegate explain --help"',
  ],
])('%j ends with 2 and one line', async (given, line) => {
  const { code, stdout, stderr, asked } = await run(...given);
  expect({ code, stdout, stderr, asked }).toEqual({
    code: 2,
    stdout: '',
    stderr: `${line}\n`,
    asked: [],
  });
});

test('DR-45: --pause-drains alone means true, and accepts a value as well', async () => {
  const flags = async (...given: readonly string[]) => (await run('operator', ...given)).asked;
  expect(await flags('--pause-drains')).toEqual([['operator', { 'pause-drains': 'true' }]]);
  expect(await flags('--pause-drains=false', '--qps=5')).toEqual([
    ['operator', { 'pause-drains': 'false', qps: '5' }],
  ]);
  expect(await flags('--pause-drains', '--qps=5')).toEqual([
    ['operator', { 'pause-drains': 'true', qps: '5' }],
  ]);
});

test.each([
  [['node', 'status'], 0, ['node status', { node: undefined, format: 'table' }]],
  [['node', 'status', 'n1', '-o', 'json'], 0, ['node status', { node: 'n1', format: 'json' }]],
  [
    ['node', 'disable', 'n1', '--why', 'fan'],
    0,
    ['node disable', { node: 'n1', why: 'fan', acceptsDowntime: false, format: 'text' }],
  ],
  [
    ['node', 'disable', 'n1', '--why', 'fan', '--accept-downtime', '-o', 'json'],
    0,
    ['node disable', { acceptsDowntime: true, format: 'json' }],
  ],
  [['node', 'enable', 'n1', '-o', 'json'], 3, ['node enable', { node: 'n1', format: 'json' }]],
  [
    ['node', 'confirm-gone', 'n1', '--accept-local-loss'],
    5,
    ['node confirm-gone', { node: 'n1', acceptsLocalLoss: true }],
  ],
])('%j is a request with its exit code', async (given, code, [command, request]) => {
  expect(await run(...given)).toMatchObject({
    code,
    asked: [[command, expect.objectContaining(request)]],
  });
});

test('node disable needs a reason', async () => {
  const { code, stderr, asked } = await run('node', 'disable', 'n1');
  expect([code, asked]).toEqual([2, []]);
  expect(stderr).toContain('--why');
});
