/**
 * Kubeconfigs: read from a file, and turned into the credentials of a connection.
 *
 * Promises: no plugin is ever run: credentials are read only of users that name none.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Effect } from 'effect';
import { KubeconfigUnusable, tlsFingerprint } from '../../../src/effects/api-credentials.ts';
import { readCredentials, readKubeconfig } from '../../../src/effects/kubeconfig.ts';
import { expectThat, type FuzzTarget, masked, smallerText } from '../fuzz-target.ts';
import { mutateText } from '../mutation.ts';

/** Stands for a token: no problem may quote it. */
const SECRET = 'eyJhbGciOiJSUzI1NiJ9';
const PROBLEM_MAX = 600;

const YAML = `apiVersion: v1
kind: Config
clusters:
- name: prod
  cluster:
    server: https://127.0.0.1:6443
    certificate-authority-data: bm90IGEgY2VydGlmaWNhdGU=
    tls-server-name: kubernetes
    proxy-url: http://user:${SECRET}@127.0.0.1:3128
- name: plain
  cluster: {server: "http://127.0.0.1:8080", insecure-skip-tls-verify: true}
users:
- name: admin
  user:
    token: ${SECRET}
- name: basic
  user: {username: me, password: ${SECRET}}
- name: pair
  user:
    client-certificate-data: bm90IGEgY2VydGlmaWNhdGU=
    client-key-data: bm90IGEga2V5
contexts:
- name: prod
  context: {cluster: prod, user: admin, namespace: default}
- name: plain
  context: {cluster: plain, user: basic}
- name: pair
  context: {cluster: prod, user: pair}
current-context: prod
`;

const SEEDS: readonly string[] = [
  YAML,
  YAML.replace('current-context: prod', 'current-context: plain'),
  YAML.replace('current-context: prod', 'current-context: pair'),
  JSON.stringify({
    clusters: [{ name: 'a', cluster: { server: 'http://127.0.0.1:1' } }],
    users: [{ name: 'a', user: {} }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  }),
];

/** Ways to name a plugin, also with escapes of YAML and JSON. */
const MAY_RUN = /exec|auth|\\|command|provider/i;
/** A file of another process may never end. */
const MAY_READ = /file|certificate:|certificate-authority:|client-key:|"certificate|"client-/i;

const fileOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-fuzz-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'kubeconfig');
};

/** The name of a context may be said; an edit may put anything there. */
const CONTEXT = /context "(?:[^"\\]|\\.)*"/;

/** The message without the name of a context; nothing else in it may be of the kubeconfig. */
const sharedMessage = (message: string): string => {
  const shared = message.replace(CONTEXT, 'context');
  expectThat(!shared.includes(SECRET), 'the problem quotes the kubeconfig');
  return masked(shared);
};

let path = '';

/** Kubeconfigs, as YAML or JSON. */
export const KUBECONFIGS: FuzzTarget = {
  name: 'kubeconfigs',
  seeds: SEEDS,
  words: [
    ...['clusters:', 'users:', 'contexts:', 'current-context: ', 'cluster:', 'user:', 'name: '],
    ...['token: ', 'server: ', 'https://', 'http://', 'socks5://a', 'proxy-url: ', '&a ', '*a'],
    ...['- ', '  ', '\n', '{', '}', '[', ']', '|\n', '>-\n', '"', "'", '---\n', '!!binary ', '? '],
    ...['<<: *a', '!!js/function ', '# ', ': ', '%YAML 1.2\n', '\t', '~', 'null', '0x1', SECRET],
    ...['client-certificate-data: ', 'client-key-data: ', 'tls-server-name: ', 'username: '],
  ],
  mutate: mutateText,
  smaller: smallerText,
  open: () => async ({ text }) => {
    path ||= fileOf();
    writeFileSync(path, text);
    const read = await Effect.runPromise(Effect.result(readKubeconfig({ _tag: 'File', path })));
    if (read._tag === 'Failure') {
      const { message } = read.failure;
      expectThat(message.length <= PROBLEM_MAX, 'the problem is too long');
      return sharedMessage(message);
    }
    if (MAY_RUN.test(text) || MAY_READ.test(text)) return 'read';
    try {
      const credentials = await readCredentials(read.success);
      const { protocol } = credentials.server;
      return `${protocol} ${tlsFingerprint(credentials).length > 100} ${
        Object.keys(credentials.headers).join(' ')
      }`;
    } catch (cause) {
      if (!(cause instanceof KubeconfigUnusable)) throw cause;
      return sharedMessage(cause.message);
    }
  },
};
