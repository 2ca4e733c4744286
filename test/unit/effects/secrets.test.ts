/**
 * Regression: errors quoted what they were about. A template error quoted rendered text, a YAML
 * error of a kubeconfig the lines with its token, an exec plugin's failure its stderr, and the
 * penalty defaults their entries; from there they reached the log, Events and the shard.
 */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Effect } from 'effect';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { bootstrapRenderer } from '../../../src/domain/bootstrap.ts';
import { clusterId } from '../../../src/domain/ids.ts';
import { credentialReader } from '../../../src/effects/credentials.ts';
import { readCredentials, readKubeconfig } from '../../../src/effects/kubeconfig.ts';
import { makeKubernetesClientPool } from '../../../src/effects/kubernetes-client-pool.ts';
import { readPenaltyDefaults } from '../../../src/effects/penalty-defaults-text.ts';
import { expectNoSecret as expectNoPartOf } from '../../support/secret-search.ts';

/** No two successive words of it occur elsewhere. */
const SECRET = 'k10b7jointoken0zq';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(`${tmpdir()}/tidegate-secrets-`);
});
afterAll(() => rm(folder, { recursive: true }));

const written = async (name: string, text: string): Promise<string> => {
  const path = `${folder}/${name}`;
  await writeFile(path, text);
  return path;
};

const expectNoSecret = (text: string): void => expectNoPartOf(text, SECRET);

describe('bootstrap templates', () => {
  const render = (text: string): string => {
    const template = bootstrapRenderer(text);
    if (template._tag === 'Unparseable') return template.problem;
    const answer = template.render({
      clusterId: clusterId('c1'),
      requirements: [{ key: SECRET, operator: 'In', values: [SECRET] }],
    });
    return answer._tag === 'Failed' ? answer.problem : expect.fail('rendered');
  };

  test.each([
    `{{"${SECRET}" | upper}}`,
    `{{"${SECRET}`,
    `{{${SECRET}}}`,
    `{{.${SECRET}}}`,
    `{{template "${SECRET}"}}`,
    `{{define "${SECRET}"}}a{{end}}{{define "${SECRET}"}}b{{end}}`,
    `{{index "x" "${SECRET}"}}`,
    `{{eq "${SECRET}" 1}}`,
    `{{range "${SECRET}"}}{{end}}`,
    `{{eq .Requirements .Requirements}}`,
    `{{range .Requirements}}{{.Key.Nothing}}{{end}}`,
    `{{range .Requirements}}{{index .Values 9}}{{end}}`,
    `{{call "${SECRET}" 1}}`,
    `{{1 | "${SECRET}"}}`,
    `{{$x := "${SECRET}"}}{{$x.y}}`,
    `{{len 3 "${SECRET}"}}`,
  ])('%s fails with a place and a reason only', (text) => {
    const problem = render(text);
    expect(problem).toMatch(/line \d+, column \d+: /);
    expectNoSecret(problem);
  });
});

describe('penalty defaults', () => {
  test.each([
    SECRET,
    `a: ${SECRET}`,
    `a: {interruptionPenalty: ${SECRET}}`,
    `a: {${SECRET}: 1}`,
    `${SECRET}: {x: 1}`,
    `a: *${SECRET}`,
    `a: !${SECRET} 1\n b`,
    `${SECRET}: 1\n${SECRET}: 2`,
    `a: "${SECRET}`,
    `- ${SECRET}\nb: c`,
  ])('%j fails with a place and a reason only', (text) => {
    const reading = readPenaltyDefaults(text);
    if (reading._tag === 'Good') return expect.fail('accepted');
    expectNoSecret(reading.problem);
  });
});

const kubeconfig = (user: object, cluster: object = { server: 'https://127.0.0.1:1' }): string =>
  JSON.stringify({
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
  });

const problemOf = async (source: Parameters<typeof readKubeconfig>[0]): Promise<string> => {
  const failure = await Effect.runPromise(
    readKubeconfig(source).pipe(
      Effect.flatMap((config) =>
        Effect.tryPromise({
          try: () => readCredentials(config),
          catch: (cause) => cause instanceof Error ? cause : new Error(String(cause)),
        })
      ),
      Effect.flip,
    ),
  );
  return `${failure.message} ${JSON.stringify(failure)} ${failure.stack}`;
};

describe('kubeconfigs', () => {
  test.each([
    ['a broken line', `users:\n- name: u\n  user:\n    token: ${SECRET}\n   broken: [`],
    ['an alias', `users: *${SECRET}`],
    ['a tag', `users: !${SECRET} 1`],
    [
      'two users of one name',
      `users:\n- {name: ${SECRET}, user: {}}\n- {name: ${SECRET}, user: {}}`,
    ],
    ['no map', SECRET],
    ['a list as users', `users: ${SECRET}`],
    ['a password in a server that is no URL', kubeconfig({}, { server: `https://u:${SECRET}@:x` })],
    [
      'a password in a proxy that is no URL',
      kubeconfig({}, { server: 'https://127.0.0.1:1', 'proxy-url': `https://u:${SECRET}@:x` }),
    ],
    [
      'a client key that is no PEM',
      kubeconfig({
        'client-certificate-data': btoa(`-----BEGIN CERTIFICATE-----\n${SECRET}`),
        'client-key-data': btoa(`-----BEGIN PRIVATE KEY-----\n${SECRET}`),
      }),
    ],
  ])('with %s fail without their content', async (_, text) => {
    const problem = await problemOf({ _tag: 'File', path: await written('kubeconfig', text) });
    expectNoSecret(problem);
  });

  test.each([
    ['writes to stderr and exits', `echo token=${SECRET} >&2; exit 1`],
    ['prints no JSON', `echo ${SECRET}`],
    ['prints other JSON', `echo '{"token":"${SECRET}"}'`],
  ])('with an exec plugin that %s fail without its output', async (_, script) => {
    const command = await written('plugin.sh', `#!/bin/sh\n${script}\n`);
    await chmod(command, 0o700);
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command, args: [SECRET] };
    const path = await written('kubeconfig', kubeconfig({ exec }));
    const problem = await problemOf({ _tag: 'File', path });
    expect(problem).toContain('the exec plugin "plugin.sh" failed');
    expectNoSecret(problem);
  });

  test('that break while in use are logged without their content', async () => {
    const lines: unknown[] = [];
    const telemetry = {
      ...silentTelemetry,
      log: (...line: readonly unknown[]) => void lines.push(line),
    };
    const path = await written('kubeconfig', kubeconfig({ token: 'fine' }));
    const failure = await Effect.runPromise(Effect.scoped(Effect.gen(function* () {
      const pool = yield* makeKubernetesClientPool({ _tag: 'File', path }, telemetry);
      const used = yield* pool.fresh;
      yield* Effect.promise(() => writeFile(path, `users: [{token: ${SECRET}`));
      return yield* Effect.flip(pool.renewed(used));
    })));
    expect(failure.why).toContain('Cannot read credentials: not valid YAML: line 1');
    expectNoSecret(JSON.stringify([lines, failure]));
  });
});

describe('TLS files', () => {
  test.each(['certificate', 'key', 'authority'])(
    'with an invalid %s are not quoted',
    async (bad) => {
      const path = await written(bad, `-----BEGIN PRIVATE KEY-----\n${SECRET}\n`);
      const files = { certificate: path, key: path, authority: path };
      const reading = await Effect.runPromise(credentialReader()(files, clusterId('c1')));
      expect(reading._tag).toBe('Unusable');
      expectNoSecret(JSON.stringify(reading));
    },
  );
});
