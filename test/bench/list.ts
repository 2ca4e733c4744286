/**
 * The first list of a large collection: a reflector, beside reading the same pages without keeping
 * them, and beside client-node's typed list. Each in its own process, over a loopback socket
 * without TLS.
 *
 * Not measured: the API server's own time, the network, and concurrent load.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { numberAt, parseJson } from '../../src/domain/json.ts';
import { duration, mebibytes, print, printFigure, ratio } from './measurement.ts';

const file = (name: string): string => new URL(name, import.meta.url).pathname;

interface Figures {
  readonly ms: number;
  readonly size: number;
  readonly peakBytes: number;
  readonly keptBytes: number;
  readonly stallMs: number;
}

const firstLine = async (stream: AsyncIterable<unknown>): Promise<string> => {
  for await (const chunk of stream) return String(chunk).trim();
  throw new Error('A process of the bench ended without a result');
};

const measure = async (way: string, kubeconfig: string): Promise<Figures> => {
  const child = spawn(
    process.execPath,
    ['--expose-gc', file('./list-variant.ts'), way, kubeconfig],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const read = parseJson(await firstLine(child.stdout));
  const figure = (name: string): number => numberAt(read, name) ?? Number.NaN;
  return {
    ms: figure('ms'),
    size: figure('size'),
    peakBytes: figure('peakBytes'),
    keptBytes: figure('keptBytes'),
    stallMs: figure('stallMs'),
  };
};

const kubeconfigText = (port: string): string =>
  JSON.stringify({
    'current-context': 'bench',
    clusters: [{
      name: 'bench',
      cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true },
    }],
    users: [{ name: 'bench', user: { token: 'bench' } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
  });

const printVariant = (title: string, { ms, peakBytes, keptBytes, stallMs }: Figures): void => {
  printFigure(title, duration(ms));
  printFigure(
    '  resident at the peak, kept after it',
    `+${mebibytes(peakBytes)}`,
    [
      `+${mebibytes(keptBytes)} kept`,
      `longest stall ${duration(stallMs)}`,
    ].join(', '),
  );
};

/** Prints how a first list of `count` pods compares. */
export const benchLists = async (count: number): Promise<void> => {
  print(`\nA first list of ${count} pods of about 2.4 kB`);
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-bench-'));
  const server = spawn(process.execPath, [file('./pods-server.ts'), String(count)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, kubeconfigText(await firstLine(server.stdout)));
    const bytes = await measure('bytes', kubeconfig);
    const reflector = await measure('reflector', kubeconfig);
    const typed = await measure('typed', kubeconfig);
    printVariant('pages read and dropped', bytes);
    printVariant('reflector: pages, projections kept', reflector);
    printVariant('client-node: typed list, everything kept', typed);
    printFigure('reflector beside the typed list: time', ratio(reflector.ms, typed.ms));
    printFigure(
      'reflector beside the typed list: kept memory',
      ratio(reflector.keptBytes, typed.keptBytes),
    );
  } finally {
    server.stdin.end();
    await once(server, 'exit');
    await rm(folder, { recursive: true, force: true });
  }
};
