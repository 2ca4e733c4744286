/**
 * Objects of one kind in memory, with the API server's requests and a reflector's events.
 * Implements only what the operator uses; `test/integration` checks against a real API server.
 */
import { Effect, Layer } from 'effect';
import { concat, defer, of, Subject } from 'rxjs';
import type { Fact, Identity } from '../../../src/domain/facts.ts';
import { type ObjectKey, objectKey } from '../../../src/domain/ids.ts';
import { asRecord, listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import {
  type KubeAnswer,
  type KubeApi,
  type KubeCall,
  NotSent,
} from '../../../src/effects/kube-api.ts';
import type { Writes } from '../../../src/effects/writes.ts';
import { mergePatched } from '../../../packages/embedded-kubernetes/src/patches/merge-patch.ts';
import { answeringApi } from './fake-api.ts';

type Stored = Readonly<Record<string, unknown>>;

const status = (code: number, message: string): KubeAnswer => ({
  status: code,
  body: { kind: 'Status', message },
});

const NODES = '/api/v1/nodes';

/** A patched status: conditions of other types stay, as in a strategic merge. */
const mergedStatus = (known: Stored, patched: Stored): unknown => {
  const conditions = listOrEmptyAt(patched, 'status', 'conditions');
  if (conditions.length === 0) return patched['status'];
  const types = new Set(conditions.map((condition) => textAt(condition, 'type')));
  const others = listOrEmptyAt(known, 'status', 'conditions')
    .filter((condition) => !types.has(textAt(condition, 'type')));
  return { ...asRecord(patched['status']), conditions: [...others, ...conditions] };
};

/** Kinds of objects that one API server serves together. */
type Served = {
  readonly path: string;
  readonly call: (request: KubeCall) => Effect.Effect<KubeAnswer, NotSent>;
};

/** An API server of several kinds of objects, without a write budget. */
export const fakeApi = (kinds: readonly Served[]): Layer.Layer<KubeApi | Writes> => {
  const call = (request: KubeCall): Effect.Effect<KubeAnswer, NotSent> =>
    kinds.find(({ path }) => request.path.startsWith(path))?.call(request) ??
      Effect.succeed(status(404, 'no such path'));
  return answeringApi(call);
};

/** A small API server for the objects under `path`. */
export const fakeObjects = <T extends Identity>(
  path: string,
  project: (raw: unknown) => T | undefined,
) => {
  const objects = new Map<string, Stored>();
  const facts = new Subject<Fact<T>>();
  const calls: KubeCall[] = [];
  const current = new Map<ObjectKey, T>();
  let resourceVersion = 100;
  let made = 0;
  let synced = false;
  let delayed: (() => void)[] | undefined;
  /** Intercepts a call before it is served: an answer, a fault, or nothing. */
  let intercept: (call: KubeCall) => Effect.Effect<KubeAnswer | undefined, NotSent> = () =>
    Effect.succeed(undefined);

  /** May lose an answer to what was done. */
  let onTheWayBack: (call: KubeCall) => Effect.Effect<unknown, NotSent> = () => Effect.void;

  const show = (object: Stored, type: 'Present' | 'Absent'): void => {
    const projection = project(object);
    if (projection === undefined || !synced) return;
    const emit = (): void => {
      if (type === 'Present') {
        current.set(projection.key, projection);
        facts.next({ _tag: 'Present', object: projection });
      } else {
        current.delete(projection.key);
        facts.next({ _tag: 'Absent', key: projection.key, last: projection });
      }
    };
    if (delayed === undefined) emit();
    else delayed.push(emit);
  };
  const store = (name: string, object: Stored, kept: object = {}): Stored => {
    resourceVersion += 1;
    const metadata = {
      ...asRecord(object['metadata']),
      ...kept,
      resourceVersion: `${resourceVersion}`,
    };
    const next = { ...object, metadata };
    objects.set(name, next);
    show(next, 'Present');
    return next;
  };
  const drop = (name: string, object: Stored): void => {
    resourceVersion += 1;
    objects.delete(name);
    const metadata = { ...asRecord(object['metadata']), resourceVersion: `${resourceVersion}` };
    show({ ...object, metadata }, 'Absent');
  };

  const create = (body: unknown): KubeAnswer => {
    const object = asRecord(body) ?? {};
    const name = textAt(body, 'metadata', 'name') ?? '';
    if (objects.has(name)) return status(409, 'already exists');
    made += 1;
    const { status: _ignored, ...rest } = object;
    return { status: 201, body: store(name, rest, { uid: `uid-${made}` }) };
  };
  /** Of the kinds here, only a Node takes metadata with its status. */
  const ownMetadata = ({ metadata }: Stored): object => path === NODES ? { metadata } : {};
  const patch = (name: string, part: string | undefined, body: unknown): KubeAnswer => {
    const known = objects.get(name);
    if (known === undefined) return status(404, 'not found');
    const wanted = textAt(body, 'metadata', 'resourceVersion');
    if (wanted !== undefined && wanted !== textAt(known, 'metadata', 'resourceVersion')) {
      return status(409, 'the object has been modified');
    }
    const uid = textAt(body, 'metadata', 'uid');
    if (uid !== undefined && uid !== textAt(known, 'metadata', 'uid')) {
      return status(422, 'metadata.uid: field is immutable');
    }
    const patched = asRecord(mergePatched(known, body)) ?? {};
    const next = part === 'status'
      ? { ...known, ...ownMetadata(patched), status: mergedStatus(known, patched) }
      : { ...patched, status: known['status'] };
    if (JSON.stringify(next) === JSON.stringify(known)) return { status: 200, body: known };
    return { status: 200, body: store(name, next) };
  };
  const serve = ({ method, path: target, body }: KubeCall): KubeAnswer => {
    if (target === path && method === 'POST') return create(body);
    const [name = '', part] = target.slice(path.length + 1).split('/');
    if (method === 'PATCH') return patch(name, part, body);
    const known = objects.get(name);
    if (known === undefined) return status(404, 'not found');
    if (method === 'GET') return { status: 200, body: known };
    const wanted = textAt(body, 'preconditions', 'uid');
    if (wanted !== undefined && wanted !== textAt(known, 'metadata', 'uid')) {
      return status(409, 'the UID in the precondition does not match');
    }
    drop(name, known);
    return { status: 200, body: { kind: 'Status', status: 'Success' } };
  };
  const call = (request: KubeCall): Effect.Effect<KubeAnswer, NotSent> =>
    Effect.suspend(() => {
      calls.push(request);
      return intercept(request);
    }).pipe(
      Effect.map((answer) => answer ?? serve(request)),
      Effect.flatMap((answer) => Effect.andThen(onTheWayBack(request), Effect.succeed(answer))),
    );
  const list = (): void => {
    current.clear();
    for (const object of objects.values()) {
      const projection = project(object);
      if (projection !== undefined) current.set(projection.key, projection);
    }
    synced = true;
    facts.next({ _tag: 'Listed', objects: [...current.values()] });
  };

  return {
    calls,
    path,
    call,
    /** Calls that change something, as `METHOD name/part`. */
    writes: () =>
      calls.filter(({ method }) => method !== 'GET').map(({ method, path: target }) =>
        `${method} ${target.slice(path.length + 1)}`.trim()
      ),
    layer: fakeApi([{ path, call }]),
    /** The cache: empty until `list`. */
    reflector: {
      get: (key: ObjectKey) => current.get(key),
      facts: defer(() =>
        synced
          ? concat(of<Fact<T>>({ _tag: 'Listed', objects: [...current.values()] }), facts)
          : facts
      ),
    },
    /** Completes the first list, or lists again. */
    list,
    get: (name: string): unknown => objects.get(name),
    names: () => [...objects.keys()],
    /** A change by another client. */
    put: (name: string, change: object) =>
      store(name, {
        ...objects.get(name) ?? { metadata: { name, uid: `uid-${(made += 1)}` } },
        ...change,
      }),
    remove: (name: string) => {
      const known = objects.get(name);
      if (known !== undefined) drop(name, known);
    },
    known: (name: string) => current.get(objectKey(name)),
    /** Ends any losing of answers as well. */
    intercept: (decide: typeof intercept) => {
      intercept = decide;
      onTheWayBack = () => Effect.void;
    },
    loseAnswers: (decide: typeof onTheWayBack) => {
      onTheWayBack = decide;
    },
    /** Holds the watch back until `catchUp`. */
    lag: () => {
      delayed ??= [];
    },
    catchUp: () => {
      const events = delayed ?? [];
      delayed = undefined;
      for (const emit of events) emit();
    },
  };
};
