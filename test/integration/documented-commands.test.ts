/**
 * The commands of the task documents, run as they are written, in one shell: on the embedded
 * cluster with the stand-in fleet, and those about RBAC on a real API server.
 *
 * Only the ports are others, so that a demo may run on the same machine, and the fleet is quick.
 */
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../tools/testbed/ports.ts';
import { binaries } from '../../tools/testbed/binaries.ts';
import { describeWithBinaries, describeWithTestbed } from '../support/api/testbed.ts';
import {
  type CommandBlock,
  commandBlocks,
  type Marker,
  missingLine,
} from '../support/documents/fenced-blocks.ts';
import { type ShellSession, shellSession } from '../support/documents/shell-session.ts';
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

/** In the order in which one shell can run them: each goes on where the one before it ended. */
const PAGES: readonly DocumentedPage[] = [
  { path: 'docs/tasks/first-drain.md' },
  { path: 'docs/tasks/install.md' },
  { path: 'docs/tasks/monitor.md' },
  { path: 'docs/tasks/debug-drain.md', before: STUCK },
  { path: 'docs/tasks/bootstrap-template.md' },
  { path: 'docs/tasks/upgrade.md' },
  { path: 'docs/tasks/roll-back.md' },
  { path: 'docs/tasks/mtls.md', before: RESTARTED },
];

const blocksOf = (path: string, marker?: Marker): readonly CommandBlock[] =>
  commandBlocks(path).filter((block) => block.marker === marker);

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

const PORTS = ['7780', '7700', '7701', '8770', '8771', '8772'] as const;

describeWithBinaries('documented commands on the embedded cluster', () => {
  let shell: ShellSession | undefined;
  const ports = new Map<string, string>();
  const written = (commands: string): string =>
    commands.replaceAll(/\b(?:77|87)\d\d\b/g, (port) => ports.get(port) ?? port);

  beforeAll(async () => {
    const { kubectl } = await binaries(() => {});
    for (const port of PORTS) ports.set(port, `${await freePort()}`);
    const at = (port: typeof PORTS[number]): string => `127.0.0.1:${ports.get(port)}`;
    shell = await shellSession(PROJECT, {
      PATH: `${dirname(kubectl)}:${process.env['PATH'] ?? ''}`,
      TIDEGATE_CLUSTER_LISTEN: at('7780'),
      TIDEGATE_FLEET_LISTEN: at('7700'),
      TIDEGATE_FLEET_SCRIPT_LISTEN: at('7701'),
      TIDEGATE_METRICS_ADDR: at('8770'),
      TIDEGATE_HEALTH_ADDR: at('8771'),
      TIDEGATE_ROLLUP_INTERVAL: '1s',
      TIDEGATE_FLEET_CREATION_TIME: '100ms',
    });
  }, PATIENT_MS);
  afterAll(() => shell?.stop());

  test.each(PAGES)('$path does what it says', { timeout: PATIENT_MS }, async (page) => {
    if (shell === undefined) throw new Error('There is a shell only while tests run');
    const { code } = await shell.run(written(page.before ?? ':'));
    expect(code).toBe(0);
    expect(await problemsOf(shell, blocksOf(page.path), written)).toEqual([]);
  });
});

describeWithTestbed('documented commands on a real API server', { print: () => {} }, (bed) => {
  beforeAll(() => bed().installCrds());

  test('docs/tasks/rbac.md gives an operator all of its rights', async () => {
    const path = `${dirname(bed().binaries.kubectl)}:${process.env['PATH'] ?? ''}`;
    const shell = await shellSession(PROJECT, { PATH: path, KUBECONFIG: bed().kubeconfig });
    try {
      const [program] = blocksOf('docs/tasks/install.md');
      const blocks = [program, ...blocksOf('docs/tasks/rbac.md', 'real cluster')]
        .flatMap((block) => block === undefined ? [] : [block]);
      expect(blocks.length).toBeGreaterThan(3);
      expect(await problemsOf(shell, blocks, (commands) => commands)).toEqual([]);
    } finally {
      await shell.stop();
    }
  });
});
