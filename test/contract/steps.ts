/**
 * The steps of contract cases.
 *
 * A case is a list of steps that run in order in its own namespace. In a path or a string of a
 * body, `{ns}` is that namespace and `{name}` the value kept by `keep({ name: path })`.
 */
import { expect } from 'vitest';
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  textAt,
  valueAt,
} from '../../src/domain/json.ts';
import type { Answer, ContractCluster, Method, OpenWatch } from './cluster.ts';
import { filled, type Kept } from './placeholders.ts';
import { fullPath } from './paths.ts';

/** One case while it runs. */
export interface Run {
  readonly cluster: ContractCluster;
  readonly kept: Kept;
  readonly watches: Map<string, OpenWatch>;
  /** The newest answer. */
  answer: Answer;
  /** Headers that say who asks; empty for the administrator. */
  identity: Readonly<Record<string, string>>;
}

/** One step; rejects when the cluster does not keep the contract. */
export type Step = (run: Run) => Promise<void>;

/** The expected part of a response: a status, and a subset of the body. */
export type Wanted = number | { readonly status: number; readonly body: JsonRecord };

/** A body with its own media type or headers. */
export interface Sent {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

const isSent = (value: unknown): value is Sent =>
  asRecord(value)?.['headers'] !== undefined && Object.keys(asRecord(value) ?? {}).length === 2;

const matches = (answer: Answer, wanted: Wanted, kept: Kept): void => {
  const want = typeof wanted === 'number' ? { status: wanted } : filled(wanted, kept);
  const { status, body } = answer;
  if (status !== want.status) {
    throw new Error(`It was answered ${status}, not ${want.status}: ${JSON.stringify(body)}`);
  }
  expect({ status, body }).toMatchObject(want);
};

const asked = async (run: Run, [method, path, send]: readonly [Method, string, unknown]) => {
  const at = fullPath(filled(path, run.kept), run.kept.get('ns') ?? '');
  const { body, headers } = isSent(send) ? send : { body: send, headers: {} };
  run.answer = await run.cluster.request({
    method,
    path: at,
    headers: { ...filled(run.identity, run.kept), ...headers },
    ...(body === undefined ? {} : { body: filled(body, run.kept) }),
  });
};

const ask =
  (method: Method, path: string, [send, wanted]: readonly [unknown, Wanted]): Step =>
  async (
    run,
  ) => {
    await asked(run, [method, path, send]);
    matches(run.answer, wanted, run.kept);
  };

/** Requests, each with what it must be answered. */
export const get = (path: string, wanted: Wanted = 200): Step =>
  ask('GET', path, [undefined, wanted]);
export const post = (path: string, body: unknown, wanted: Wanted = 201): Step =>
  ask('POST', path, [body, wanted]);
export const put = (path: string, body: unknown, wanted: Wanted = 200): Step =>
  ask('PUT', path, [body, wanted]);
export const patch = (path: string, body: unknown, wanted: Wanted = 200): Step =>
  ask('PATCH', path, [body, wanted]);
export const del = (path: string, body: unknown = undefined, wanted: Wanted = 200): Step =>
  ask('DELETE', path, [body, wanted]);

const identified =
  (identity: Run['identity']) => (...steps: readonly Step[]): Step => async (run) => {
    const before = run.identity;
    run.identity = identity;
    try {
      for (const step of steps) await step(run);
    } finally {
      run.identity = before;
    }
  };

/** Steps of another user, whom the administrator impersonates. Groups are lines of one header. */
export const as = (user: string, ...groups: readonly string[]) =>
  identified({
    'impersonate-user': user,
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups.join('\n') }),
  });

/** Steps with these headers instead of the administrator's credentials. */
export const withHeaders = (headers: Readonly<Record<string, string>>) => identified(headers);

/** A GET with an Accept header. */
export const getAs = (accept: string, path: string, wanted: Wanted = 200): Step =>
  ask('GET', path, [{ body: undefined, headers: { accept } }, wanted]);

const patchOf = (type: string) => (body: unknown): Sent => ({
  body,
  headers: { 'content-type': `application/${type}` },
});

/** Bodies of patches. */
export const merge = patchOf('merge-patch+json');
export const strategic = patchOf('strategic-merge-patch+json');
export const jsonPatch = patchOf('json-patch+json');
export const config = patchOf('apply-patch+yaml');

/** Answers: what was there, what was made, what was refused and why. */
export const ok = (body: JsonRecord): Wanted => ({ status: 200, body });
export const made = (body: JsonRecord): Wanted => ({ status: 201, body });
export const refused = (status: number, reason: string, more: JsonRecord = {}): Wanted => ({
  status,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code: status, ...more },
});

/** A refusal as invalid, with the causes that must be among its own. */
export const invalid = (...causes: readonly (readonly [field: string, reason: string])[]): Wanted =>
  refused(422, 'Invalid', {
    details: {
      causes: expect.arrayContaining(
        causes.map(([field, reason]) => expect.objectContaining({ field, reason })),
      ),
    },
  });

/** A text that contains this one. */
export const containing = (text: string): unknown => expect.stringContaining(text);

/** A text of this form. */
export const like = (form: RegExp): unknown => expect.stringMatching(form);

/** The field of the newest answer that a dotted path leads to. */
const fieldOf = (run: Run, path: string): unknown =>
  path.split('.').reduce<unknown>(
    (at, key) => Array.isArray(at) ? at[Number(key)] : valueAt(at, key),
    run.answer.body,
  );

/** Keeps fields of the latest response under names. */
export const keep = (paths: Readonly<Record<string, string>>): Step => (run) => {
  for (const [name, path] of Object.entries(paths)) {
    const value = fieldOf(run, path);
    expect([path, typeof value]).toEqual([path, 'string']);
    run.kept.set(name, String(value));
  }
  return Promise.resolve();
};

/** Keeps the revision of the newest answer, an object or a list. */
export const keepResourceVersion = (name = 'rv'): Step =>
  keep({ [name]: 'metadata.resourceVersion' });

/** Fields that the newest answer does not have, or has as null. */
export const absent = (...paths: readonly string[]): Step => (run) => {
  expect(paths.filter((path) => (fieldOf(run, path) ?? undefined) !== undefined)).toEqual([]);
  return Promise.resolve();
};

/** A field of the newest response equals this exactly. */
export const exactly = (path: string, value: unknown): Step => (run) => {
  expect(fieldOf(run, path)).toEqual(filled(value, run.kept));
  return Promise.resolve();
};

/** A header of the newest answer; undefined when it must not be there. */
export const header = (name: string, wanted: unknown): Step => (run) => {
  expect(run.answer.headers[name]).toEqual(wanted);
  return Promise.resolve();
};

/** A list of the newest answer has these among its entries. */
export const includes = (path: string, values: readonly unknown[]): Step => (run) => {
  expect(fieldOf(run, path)).toEqual(expect.arrayContaining(filled([...values], run.kept)));
  return Promise.resolve();
};

/** Several steps as one. */
export const all = (...steps: readonly Step[]): Step => async (run) => {
  for (const step of steps) await step(run);
};

/** The newest answer has moved on from the revision that was kept, or has not. */
export const newer = (name = 'rv'): Step => (run) => {
  const now = Number(fieldOf(run, 'metadata.resourceVersion'));
  expect(now).toBeGreaterThan(Number(run.kept.get(name)));
  return Promise.resolve();
};
export const unmoved = (name = 'rv'): Step => exactly('metadata.resourceVersion', `{${name}}`);

/** The names in the list that was answered, in its order. */
export const names = (...wanted: readonly string[]): Step => (run) => {
  const found = listOrEmptyAt(run.answer.body, 'items').map((item) =>
    textAt(item, 'metadata', 'name')
  );
  expect(found).toEqual(wanted.map((name) => filled(name, run.kept)));
  return Promise.resolve();
};

const PATIENCE_MOMENTS = 600;

/** Repeats a step until it passes, for asynchronous effects of controllers. */
export const until = (step: Step): Step => async (run) => {
  for (let left = PATIENCE_MOMENTS; left > 0; left -= 1) {
    const held = await step(run).then(() => true, () => false);
    if (held) return;
    await run.cluster.moment();
  }
  await step(run);
};
