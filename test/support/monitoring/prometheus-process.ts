/** Prometheus as a child process that scrapes one target and evaluates the documented alerts. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { textAt, valueAt } from '../../../src/domain/json.ts';
import { accepts, freePort } from '../../../tools/testbed/ports.ts';
import { supervise } from '../../../tools/testbed/processes.ts';
import { eventually } from '../eventually.ts';

const RULES = fileURLToPath(new URL('../../../docs/tasks/alerts.yaml', import.meta.url));

/** Asks the HTTP API of Prometheus, such as `query`; gives `data`. */
export type AskPrometheus = (
  path: string,
  query?: Readonly<Record<string, string>>,
) => Promise<unknown>;

/** Starts the program at this path; it scrapes `host:port` every second. */
export const startPrometheus = async (
  { prometheus, folder }: { readonly prometheus: string; readonly folder: string },
  target: string,
) => {
  const port = await freePort();
  const file = join(folder, 'prometheus.yml');
  await writeFile(
    file,
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [RULES],
      scrape_configs: [{ job_name: 'tidegate', static_configs: [{ targets: [target] }] }],
    }),
  );
  const child = supervise({
    name: 'prometheus',
    file: prometheus,
    args: [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    log: join(folder, 'prometheus.log'),
  });
  await eventually(() => accepts(port), { what: 'Prometheus to listen' });
  const ask: AskPrometheus = async (path, query = {}) => {
    const url = `http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(query)}`;
    const answer: unknown = await (await fetch(url)).json();
    if (textAt(answer, 'status') !== 'success') {
      throw new Error(`Prometheus cannot answer ${url}: ${textAt(answer, 'error')}`);
    }
    return valueAt(answer, 'data');
  };
  return { child, ask };
};
