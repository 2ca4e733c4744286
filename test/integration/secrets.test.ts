/**
 * Secrets through every failing path of a real process: bootstrap template, penalty defaults, key
 * files, kubeconfig and exec plugin. None of them is found in the log, Events, metrics, probes,
 * recording, live page, frames, or exit messages.
 */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listOrEmptyAt, parseJson } from '../../src/domain/json.ts';
import { freePort } from '../../tools/testbed/ports.ts';
import { rawRequest } from '../support/demand/capacity-requests.ts';
import { eventually } from '../support/eventually.ts';
import { pullsAt } from '../support/fleet/fleet-script.ts';
import { newAuthority } from '../support/processes/certificates.ts';
import { startClusterBy } from '../support/processes/cluster-child.ts';
import { startFleet } from '../support/processes/fleet-process.ts';
import { clusterPair, fleetPair, writeKeyFiles } from '../support/processes/key-files.ts';
import { roleBy } from '../support/processes/role-child.ts';
import {
  type LogLine,
  startTidegate,
  type TidegateProcess,
} from '../support/processes/tidegate-process.ts';
import { expectNoSecret } from '../support/secret-search.ts';

/** No successive words of it occur elsewhere. */
const SECRET = 'k10b7jointoken0zq';
/** In user data that reaches the shard, and must reach nothing else. */
const RENDERED = 'w92xclouduserkey7u';

const API = '/apis/bigfleet.lucy.sh/v1alpha1/namespaces/default/capacityrequests';
/** Credentials are read again every half minute. */
const TIMEOUT_MS = 300_000;
const EVENTS = '/apis/events.k8s.io/v1/events';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidegate-secrets-'));
});
afterAll(() => rm(folder, { recursive: true }));

const written = async (name: string, text: string): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
};

/** An executable that prints a credential until its `broken` file exists, and then its secret. */
const execPlugin = async (broken: string): Promise<string> => {
  const credential = JSON.stringify({
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: SECRET, expirationTimestamp: '2001-01-01T00:00:00Z' },
  });
  const script = `if [ -e '${broken}' ]; then echo 'token ${SECRET}' >&2; exit 1; fi`;
  const path = await written('plugin.sh', `#!/bin/sh\n${script}\necho '${credential}'\n`);
  await chmod(path, 0o700);
  return path;
};

const kubeconfigFor = (server: string, command: string): string =>
  JSON.stringify({
    'apiVersion': 'v1',
    'kind': 'Config',
    'current-context': 'x',
    'contexts': [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'clusters': [{ name: 'c', cluster: { server } }],
    'users': [{
      name: 'u',
      user: {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command,
          args: [SECRET],
          interactiveMode: 'Never',
        },
      },
    }],
  });

const startCluster = () => startClusterBy(startTidegate, join(folder, 'admin'));

const eventsAt = async (server: string): Promise<string> =>
  await (await fetch(`${server}${EVENTS}`)).text();

/** What a stream has sent two seconds after its first event. */
const beginningOf = async (url: string): Promise<string> => {
  const asked = new AbortController();
  const { body } = await fetch(url, { signal: asked.signal });
  let text = '';
  try {
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      if (text === '') AbortSignal.timeout(2000).addEventListener('abort', () => asked.abort());
      text += chunk;
    }
  } catch {
    // The stream has no end: the signal ended it.
  }
  return text;
};

/** All that the live page shows: the board, and the details of each actor. */
const pageText = async (url: string): Promise<string> => {
  const board = await beginningOf(`${url}live`);
  const rows = board.split('\n').flatMap((line) =>
    line.startsWith('data: ') ? listOrEmptyAt(parseJson(line.slice(6)), 'rows') : []
  );
  const ids = new Set(rows.flatMap((row) => Array.isArray(row) ? [String(row[0])] : []));
  const details = await Promise.all(
    [...ids].slice(0, 20).map((id) => beginningOf(`${url}live?actor=${encodeURIComponent(id)}`)),
  );
  return [board, ...details].join('\n');
};

/** The answers of `/healthz` and `/readyz`, headers included. */
const probeText = async (port: number): Promise<string> => {
  const answers = await Promise.all(['healthz', 'readyz'].map(async (path) => {
    const answer = await fetch(`http://127.0.0.1:${port}/${path}`);
    return `${path} ${answer.status} ${JSON.stringify([...answer.headers])} ${await answer.text()}`;
  }));
  return answers.join('\n');
};

const linesOf = (child: TidegateProcess): string => JSON.stringify(child.logs());
const hasMessage = (message: string) => (line: LogLine): boolean => line.message === message;

describe('secrets of a running operator', () => {
  test(
    'reach no log, Event, metric, probe, recording, page or frame when their files break',
    async () => {
      const { kubeconfig, server } = await startCluster();
      const [fleets, operators] = [newAuthority('fleets'), newAuthority('operators')];
      const fleetKeys = await writeKeyFiles(fleetPair(fleets), [operators]);
      const keys = await writeKeyFiles(clusterPair(operators, 'secret'), [fleets]);
      const fleet = await startFleet({ kubeconfig, flags: { ...fleetKeys.flags } });
      const template = await written('bootstrap.tmpl', `token ${RENDERED} {{.ClusterID}}`);
      const defaults = await written('defaults.yaml', '{}');
      const broken = join(folder, 'broken');
      const record = join(folder, 'recording.jsonl');
      const probes = await freePort();
      const operator = await roleBy(startTidegate, {
        role: 'operator',
        name: 'operator',
        flags: {
          'health-addr': `127.0.0.1:${probes}`,
          'with-pods': 'true',
          'cluster-id': 'secret',
          'shard-addr': fleet.address,
          'kubeconfig': await written(
            'kubeconfig',
            kubeconfigFor(server, await execPlugin(broken)),
          ),
          'bootstrap-template-file': template,
          'priority-class-defaults-file': defaults,
          'inspect-addr': '127.0.0.1:0',
          record,
          'rollup-interval': '3s',
          'log-level': 'debug',
          ...keys.flags,
        },
      });
      const { url } = await operator.untilLog(hasMessage('Live page is served'), {
        what: 'its page',
      });
      const request = async (name: string): Promise<void> => {
        const { metadata: _, ...body } = rawRequest();
        await fetch(`${server}${API}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ...body, metadata: { name } }),
        });
      };
      await request('first');
      const pulls = await eventually(async () => {
        const answered = await pullsAt(fleet);
        return answered.length > 0 ? answered : undefined;
      }, { what: 'a bootstrap pull' });
      expect(pulls[0]?.userData).toBe(`token ${RENDERED} secret`);

      const problems: readonly (readonly [string, string, string])[] = [
        [defaults, `a: ${SECRET}`, 'Penalty defaults rejected; the last valid ones stay in use'],
        [
          keys.key,
          `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----\n`,
          'Key files rejected; the previous pair stays in use',
        ],
        [template, `{{index "x" "${SECRET}"}}`, 'Bootstrap template in use'],
      ];
      for (const [path, text, message] of problems) {
        await writeFile(path, text);
        await operator.untilLog(hasMessage(message), { what: message });
      }
      // More than the first machine has room for.
      for (let number = 0; number < 20; number += 1) await request(`further-${number}`);
      await operator.untilLog(hasMessage('Bootstrap pull answered with an error'), {
        what: 'that a template failed',
      });
      await writeFile(template, `{{${SECRET}`);
      const refused = 'Bootstrap template rejected; the last valid one stays in use';
      await operator.untilLog(hasMessage(refused), { what: refused });
      await writeFile(broken, '');
      const stale = 'Cannot reload credentials; the previous ones stay in use';
      await operator.untilLog(hasMessage(stale), { what: stale, timeoutMs: 150_000 });

      const failed = (await pullsAt(fleet)).filter(({ error }) => error !== '');
      expect(failed.length).toBeGreaterThan(0);
      const texts = {
        page: await pageText(`${url}`),
        metrics: await operator.metrics(),
        probes: await probeText(probes),
        events: await eventsAt(server),
      };
      expect(await operator.stop()).toBe(0);
      const surfaces = {
        ...texts,
        log: linesOf(operator),
        recording: await readFile(record, 'utf8'),
      };
      for (const [where, text] of Object.entries(surfaces)) {
        expect(text.length, where).toBeGreaterThan(100);
        expectNoSecret(text, SECRET, where);
        expectNoSecret(text, RENDERED, where);
      }
      expectNoSecret(JSON.stringify(failed), SECRET, 'frames');
      expectNoSecret(linesOf(fleet), SECRET, 'the log of the fleet');
    },
    TIMEOUT_MS,
  );
});

/** What an operator says that cannot start, or has no session; and its exit code. */
const endOf = async (server: string, flags: Readonly<Record<string, string>>) => {
  const record = join(await mkdtemp(join(folder, 'end-')), 'recording.jsonl');
  const operator = await roleBy(startTidegate, {
    role: 'operator',
    name: 'operator',
    flags: {
      'cluster-id': 'secret',
      'shard-addr': 'localhost:1',
      ...(flags['tls-cert'] === undefined ? { 'insecure-plaintext': 'true' } : {}),
      record,
      ...flags,
    },
  });
  await eventually(
    async () => !operator.isRunning() || (await eventsAt(server)).includes('SessionRefused'),
    { what: 'the operator to end, or to have no session' },
  );
  const isServing = operator.isRunning();
  const code = await operator.stop();
  // One that cannot start need not record anything.
  const recording = await readFile(record, 'utf8').catch(() => '');
  if (isServing) expect(recording).not.toBe('');
  return { code, text: `${linesOf(operator)} ${recording}` };
};

describe('secrets of an operator that cannot start', () => {
  test('reach no exit message, log, Event or recording', async () => {
    const { kubeconfig, server } = await startCluster();
    const yaml = `users:\n- name: u\n  user:\n    token: ${SECRET}\n   broken: [`;
    const plugin = kubeconfigFor(server, await execPlugin(folder));
    const keys = await writeKeyFiles(clusterPair(newAuthority(), 'secret'), [newAuthority()]);
    await writeFile(
      keys.key,
      `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----\n`,
    );
    const defaults = await written('start.yaml', `a: ${SECRET}`);
    const template = await written('start.tmpl', `{{define "${SECRET}"}}{{end}}{{.${SECRET} |`);
    const cases: readonly (readonly [string, number, Readonly<Record<string, string>>])[] = [
      ['not valid YAML: line', 2, { kubeconfig: await written('yaml', yaml) }],
      ['the exec plugin', 2, { kubeconfig: await written('exec', plugin) }],
      ['Cannot use the bootstrap template', 1, { kubeconfig, 'bootstrap-template-file': template }],
      [
        'Cannot use the penalty defaults',
        1,
        { kubeconfig, 'with-pods': 'true', 'priority-class-defaults-file': defaults },
      ],
      ['the key file contains no PEM private key', 0, { kubeconfig, ...keys.flags }],
    ];
    for (const [message, code, flags] of cases) {
      const end = await endOf(server, flags);
      expect(end.text).toContain(message);
      expect(end.code, message).toBe(code);
      expectNoSecret(end.text, SECRET, message);
    }
    const events = await eventsAt(server);
    expect(events).toContain('SessionRefused');
    expectNoSecret(events, SECRET, 'Events');
  }, TIMEOUT_MS);
});
