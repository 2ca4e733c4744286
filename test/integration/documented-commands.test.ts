/**
 * The commands of README.md and of the task documents, run as they are written, in one shell: on
 * the embedded cluster with the stand-in fleet; the way to the first drain and RBAC also on a real
 * control plane.
 *
 * Only the ports are others, so that a demo may run on the same machine, and the fleet is quick.
 * The examples of README.md name objects, addresses and files of nobody: here of this cluster.
 */
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../tools/testbed/ports.ts';
import { PROGRAM } from '../../tools/package/bundle.ts';
import { binaries } from '../../tools/testbed/binaries.ts';
import { bundleFolder } from '../../tools/testbed/environment.ts';
import { describeWithBinaries, describeWithTestbed } from '../support/api/testbed.ts';
import {
  type CommandBlock,
  commandBlocks,
  type Marker,
  missingLine,
} from '../support/documents/fenced-blocks.ts';
import { type ShellSession, shellSession } from '../support/documents/shell-session.ts';
import { isReleaseScale } from '../support/scale.ts';
import { PROJECT } from '../tidy/source-file.ts';

const PATIENT_MS = 400_000;

interface DocumentedPage {
  readonly path: string;
  /** Commands that bring about what the page is about. */
  readonly before?: string;
}

const STUCK = `
kubectl patch pdb web --type merge -p '{"spec":{"maxUnavailable":0}}'
busy=$(kubectl get pods -l app=web -o jsonpath='{.items[0].spec.nodeName}')
curl -s --json "{\\"machine\\":\\"$busy\\",\\"graceSeconds\\":600,\\"drain\\":true}" localhost:7701/reclaim
until tidegate drain status "$busy" | grep BudgetNeverAllows; do sleep 1; done
`;

/** The operator again, which the page about rolling back has stopped. */
const RESTARTED = `
tidegate operator --cluster-id try --shard-addr 127.0.0.1:7700 --insecure-plaintext --with-pods \\
  > "$try/operator.log" 2>&1 & operator=$!
until curl -sf localhost:8771/readyz > /dev/null; do sleep 1; done
`;

/**
 * In the order in which one shell can run them: each goes on where the one before it ended. Before
 * each release all are tried; `npm test` tries those that README.md goes on from.
 */
const PAGES: readonly DocumentedPage[] = isReleaseScale()
  ? [
    { path: 'docs/tasks/first-drain.md' },
    { path: 'docs/tasks/install.md' },
    { path: 'docs/tasks/monitor.md' },
    { path: 'docs/tasks/request-evictions.md' },
    { path: 'docs/tasks/one-replica.md' },
    { path: 'docs/tasks/debug-drain.md', before: STUCK },
    { path: 'docs/tasks/bootstrap-template.md' },
    { path: 'docs/tasks/upgrade.md' },
    { path: 'docs/tasks/roll-back.md' },
    { path: 'docs/tasks/mtls.md', before: RESTARTED },
  ]
  : [
    { path: 'docs/tasks/first-drain.md' },
    { path: 'docs/tasks/mtls.md' },
  ];

const README = 'README.md';

/**
 * Objects of the cluster that the pages leave behind, under the names of README.md. The fleet,
 * which forgot its machines, has sent others and takes back those too many: one of them is held.
 */
const EXAMPLES = `
kubectl rollout status deployment/web --timeout=120s
ready() { kubectl get upcomingnodes --no-headers | grep -c ' Ready '; }
until [ "$(kubectl get nodes --no-headers | wc -l)" = "$(ready)" ]; do sleep 1; done
first() { kubectl get pods -l app=web --field-selector status.phase=Running -o "jsonpath=$1"; }
held='{"state":"CONFIGURED","cluster":"try"}'
hold() { curl -sf --json "$held" "localhost:7701/machines/$1/state"; }
until node=$(first '{.items[0].spec.nodeName}') && hold "$node" &&
  kubectl get upcomingnode "un-$node" | grep ' Ready ' &&
  pod=$(kubectl get pods -l app=web --field-selector "spec.nodeName=$node" \
    -o jsonpath='{.items[0].metadata.name}') &&
  [ -z "$(kubectl get pod "$pod" -o jsonpath='{.metadata.deletionTimestamp}')" ]
do sleep 1; done
request=cr-pod-$pod-$(kubectl get pod "$pod" -o jsonpath='{.metadata.uid}')
kill "$operator"; wait "$operator"; unset TIDEGATE_TLS_CERT TIDEGATE_TLS_KEY TIDEGATE_TLS_CA
`;
const EXAMPLE_NAMES: Readonly<Record<string, string>> = {
  'my-cluster': 'try',
  'shard.example:7443': '127.0.0.1:7700',
  ' tls.crt': ' "$tls/tls.crt"',
  ' tls.key': ' "$tls/tls.key"',
  ' ca.crt': ' "$tls/ca.crt"',
  'default/web-1': 'default/$pod',
  'default/training': 'default/$request',
  'default/db': 'default/web',
  'm-42': '$node',
  'node-7': '$node',
};

/** A command of README.md; an operator runs on while the next ones are tried. */
const withExamples = (commands: string): string => {
  const named = Object.entries(EXAMPLE_NAMES)
    .reduce((text, [name, own]) => text.replaceAll(name, own), commands);
  return /main\.ts operator/.test(named)
    ? `${named.trimEnd()} > "$try/operator.log" 2>&1 & operator=$!\n` +
      'until curl -sf localhost:8771/readyz > /dev/null; do sleep 1; done\n'
    : named;
};

const blocksOf = (path: string, ...markers: readonly (Marker | undefined)[]) =>
  commandBlocks(path).filter(({ marker }) => marker === undefined || markers.includes(marker));

/** Runs blocks, and lists those that fail or print something else than the page says. */
const problemsOf = async (
  shell: ShellSession,
  blocks: readonly CommandBlock[],
  written: (commands: string) => string,
): Promise<readonly string[]> => {
  const problems: string[] = [];
  for (const { place, commands, expected } of blocks) {
    const { code, output } = await shell.run(written(commands));
    if (code !== 0) problems.push(`${place} ended with ${code}: ${output}`);
    const missing = missingLine(output, expected);
    if (missing !== undefined) problems.push(`${place} did not print "${missing}": ${output}`);
  }
  return problems;
};

describe('expected output', () => {
  test('may differ in names and times, not in words and counts', () => {
    const line = 'm-000001   Draining   6s   1/0/1   state 1';
    expect(missingLine('node m-42 Draining 12s 2/0/2 state 1', [line])).toBeUndefined();
    expect(missingLine('m-42 Drained 12s 1/0/1 state 1', [line])).toBe(line);
    expect(missingLine('m-42 Draining 12s 1/0/1 state 0', [line])).toBe(line);
  });

  test('has its lines in the order of the page', () => {
    expect(missingLine('one\ntwo\n', ['one', 'two'])).toBeUndefined();
    expect(missingLine('two\none\n', ['one', 'two'])).toBe('two');
  });
});

/**
 * The program of the checkout, bundled: the same commands, in a quarter of the processor time. On a
 * real control plane they run from the source.
 */
const bundled = (commands: string): string => {
  const folder = bundleFolder();
  return folder === undefined
    ? commands
    : commands.replaceAll(/(?:npx node src\/main\.ts|"\$PWD\/src\/main\.ts")/g, (program) =>
      `${program.startsWith('npx') ? 'node ' : ''}"${join(folder, PROGRAM)}"`);
};

const PORTS = ['7780', '7700', '7701', '8770', '8771', '8772', '8779'] as const;

/** A shell with `kubectl`, and the commands of a page with ports that are free. */
const pageShell = async (kubectl: string, variables: Readonly<Record<string, string>> = {}) => {
  const ports = new Map<string, string>();
  for (const port of PORTS) ports.set(port, `${await freePort()}`);
  const at = (port: typeof PORTS[number]): string => `127.0.0.1:${ports.get(port)}`;
  const shell = await shellSession(PROJECT, {
    PATH: `${dirname(kubectl)}:${process.env['PATH'] ?? ''}`,
    TIDEGATE_CLUSTER_LISTEN: at('7780'),
    TIDEGATE_FLEET_LISTEN: at('7700'),
    TIDEGATE_FLEET_SCRIPT_LISTEN: at('7701'),
    TIDEGATE_METRICS_ADDR: at('8770'),
    TIDEGATE_HEALTH_ADDR: at('8771'),
    TIDEGATE_ROLLUP_INTERVAL: '3s',
    TIDEGATE_FLEET_CREATION_TIME: '100ms',
    ...variables,
  });
  const written = (commands: string): string =>
    commands.replaceAll(/\b(?:77|87)\d\d\b/g, (port) => ports.get(port) ?? port)
      // On a busy machine a minute is too short for what several processes do.
      .replaceAll('--timeout=60s', '--timeout=300s');
  return { shell, written };
};

test('docs/README.md has the command line of the first drain', () => {
  const [, program] = commandBlocks('docs/tasks/first-drain.md');
  const [index] = commandBlocks('docs/README.md');
  const lines = (program?.commands ?? '').split('\n').filter((line) => line !== 'tidegate version');
  expect(index?.commands).toBe(['npm ci', ...lines].join('\n'));
});

describeWithBinaries('documented commands on the embedded cluster', () => {
  let shell: ShellSession | undefined;
  let written = (commands: string): string => commands;

  beforeAll(async () => {
    const { kubectl } = await binaries(() => {});
    ({ shell, written } = await pageShell(kubectl));
  }, PATIENT_MS);
  afterAll(() => shell?.stop());

  const running = (): ShellSession => {
    if (shell === undefined) throw new Error('There is a shell only while tests run');
    return shell;
  };

  test.each(PAGES)('$path does what it says', { timeout: PATIENT_MS }, async (page) => {
    const { code } = await running().run(written(page.before ?? ':'));
    expect(code).toBe(0);
    const blocks = blocksOf(page.path, 'embedded cluster');
    const asRun = (commands: string): string => written(bundled(commands));
    expect(await problemsOf(running(), blocks, asRun)).toEqual([]);
  });

  test('README.md does what it says', { timeout: PATIENT_MS }, async () => {
    expect((await running().run(written(EXAMPLES))).code).toBe(0);
    const asRun = (commands: string): string => written(bundled(withExamples(commands)));
    expect(blocksOf(README).length).toBeGreaterThan(3);
    expect(await problemsOf(running(), blocksOf(README), asRun)).toEqual([]);
  });
});

const BED = { controllers: true, scheduler: true, kwok: true };

describeWithTestbed('documented commands on a real control plane', BED, (bed) => {
  test('docs/tasks/first-drain.md leads from nothing to a drained node', {
    timeout: PATIENT_MS,
  }, async () => {
    const { shell, written } = await pageShell(bed().binaries.kubectl, {
      KUBECONFIG: bed().kubeconfig,
    });
    try {
      const blocks = blocksOf('docs/tasks/first-drain.md', 'real cluster');
      expect(blocks.length).toBeGreaterThan(7);
      expect(await problemsOf(shell, blocks, written)).toEqual([]);
    } finally {
      await shell.stop();
    }
  });

  test('docs/tasks/rbac.md gives an operator all of its rights', async () => {
    const path = `${dirname(bed().binaries.kubectl)}:${process.env['PATH'] ?? ''}`;
    const shell = await shellSession(PROJECT, { PATH: path, KUBECONFIG: bed().kubeconfig });
    try {
      const [program, definitions] = blocksOf('docs/tasks/install.md');
      const blocks = [program, definitions, ...blocksOf('docs/tasks/rbac.md', 'real cluster')]
        .flatMap((block) => block === undefined ? [] : [block]);
      expect(blocks.length).toBeGreaterThan(3);
      expect(await problemsOf(shell, blocks, (commands) => commands)).toEqual([]);
    } finally {
      await shell.stop();
    }
  });
});
