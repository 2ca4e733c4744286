/**
 * The command line in one process: which command gets which request, and the golden help texts.
 *
 * `UPDATE_GOLDEN=1` records the help texts anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ExitCode } from '../../../src/cli/exit-codes.ts';
import { type Roles, runProgram } from '../../../src/cli/program.ts';
import { PLAIN_TERMINAL } from '../../support/terminal/plain-terminal.ts';

/** What a command is asked: flags, or its request. */
type Asked = Parameters<Roles[keyof Roles]>[0];

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
  const answering = (command: string, code: ExitCode) => (request: Asked): Promise<ExitCode> => {
    asked.push([command, request]);
    return Promise.resolve(code);
  };
  const roles: Roles = {
    operator: answering('operator', 0),
    pods: answering('pods', 0),
    fleet: answering('fleet', 1),
    cluster: answering('cluster', 0),
    explain: answering('explain', 3),
    doctor: answering('doctor', 1),
    tree: answering('tree', 0),
    drainNodes: answering('drain', 1),
    drainStatus: answering('drain status', 0),
    drainPlan: answering('drain plan', 4),
    drainAcknowledge: answering('drain acknowledge', 3),
    maintenancePlan: answering('maintenance plan', 5),
    evict: answering('evict', 3),
    evictions: answering('evictions', 0),
    maintenanceShow: answering('maintenance show', 0),
    maintenanceStart: answering('maintenance start', 0),
    maintenanceMove: answering('maintenance move', 3),
    chartsExport: answering('charts export', 0),
    demo: answering('demo', 0),
    replay: answering('replay', 0),
    nodeStatus: answering('node status', 0),
    nodeDisable: answering('node disable', 0),
    nodeEnable: answering('node enable', 3),
    nodeConfirmGone: answering('node confirm-gone', 5),
    chartsDiff: answering('charts diff', 3),
  };
  const terminal = {
    print: (text: string) => void (stdout += text),
    report: (line: string) => void (stderr += `${line}\n`),
    ...PLAIN_TERMINAL,
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

test('a repeated flag counts as it was given last, as in kubectl', async () => {
  const { asked, code } = await run(
    ...['node', 'disable', 'n1', '--why=noise', '--context=a', '--why=memory', '--context=b'],
  );
  expect(code).not.toBe(2);
  expect(asked).toMatchObject([[expect.any(String), { why: 'memory', context: 'b' }]]);
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
