/**
 * An in-memory API server for one collection on the test's clock: the test puts and deletes
 * objects, ends watches, fails lists, delays pages. Implements the `KubeApi` service, so no socket
 * makes runs differ.
 */
import { Effect } from 'effect';
import {
  AnswerLost,
  KubeApi,
  type KubeCall,
  NotSent,
  type WatchLine,
  WatchRefused,
} from '../../../src/effects/kube-api.ts';
import { watchChannel } from './watch-channel.ts';

/** A raw object. */
export interface Stored {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly spec: unknown;
}

/** How the next requests fail, in order; a lost one is never answered. */
export type Refusal =
  | { readonly status: number; readonly retryAfterSeconds?: number }
  | 'unreachable'
  | 'lost';

interface OpenWatch {
  readonly query: Readonly<Record<string, string>>;
  readonly push: (lines: readonly WatchLine[]) => void;
  readonly end: (how: 'eof' | 'cut') => void;
}

/** The server and its crank. */
export interface ScriptedApi {
  readonly service: KubeApi['Service'];
  readonly put: (name: string, spec?: unknown) => void;
  readonly delete: (name: string) => void;
  readonly bookmark: () => void;
  readonly report: (code: number) => void;
  readonly chunk: (lines: readonly WatchLine[]) => void;
  readonly endWatches: (how: 'eof' | 'cut') => void;
  /** Refuses lists (`GET` calls) to come. */
  readonly refuseLists: (...refusals: Refusal[]) => void;
  readonly refuseWatches: (...refusals: Refusal[]) => void;
  /** Every page waits until `release` is called. */
  readonly holdPages: () => { readonly release: () => void };
  /** Changes while no watch is open, and compacts the history. */
  readonly compact: () => void;
  readonly calls: readonly KubeCall[];
  readonly watches: readonly Readonly<Record<string, string>>[];
  readonly openWatches: () => number;
}

/** An empty collection at revision 1; pages hold `pageSize` objects. */
export const scriptedApi = (pageSize = 2): ScriptedApi => {
  const objects = new Map<string, Stored>();
  const history: { readonly resourceVersion: number; readonly line: WatchLine }[] = [];
  const open = new Set<OpenWatch>();
  const calls: KubeCall[] = [];
  const watches: Readonly<Record<string, string>>[] = [];
  const listRefusals: Refusal[] = [];
  const watchRefusals: Refusal[] = [];
  let resourceVersion = 1;
  let oldest = 0;
  let made = 0;
  let gate = Promise.resolve();

  const emit = (type: string, object: Stored): void => {
    const line = { type, object };
    history.push({ resourceVersion, line });
    for (const watch of open) watch.push([line]);
  };
  const stamp = (name: string, uid: string, spec: unknown): Stored => {
    resourceVersion += 1;
    return { metadata: { name, uid, resourceVersion: String(resourceVersion) }, spec };
  };
  const page = ({ query }: KubeCall) => {
    const limit = query?.['limit'] === undefined ? Number.POSITIVE_INFINITY : pageSize;
    const from = Number(query?.['continue'] ?? 0);
    const all = [...objects.values()];
    const more = from + limit < all.length ? { continue: String(from + limit) } : {};
    return {
      items: all.slice(from, from + limit),
      metadata: { resourceVersion: String(resourceVersion), ...more },
    };
  };
  const broadcast = (lines: readonly WatchLine[]): void => {
    for (const watch of open) watch.push(lines);
  };

  const call: KubeApi['Service']['call'] = (request) =>
    Effect.gen(function* () {
      calls.push(request);
      yield* Effect.promise(() => gate);
      const refusal = listRefusals.shift();
      if (refusal === 'lost') return yield* Effect.never;
      if (refusal === 'unreachable') return yield* new NotSent({ why: 'unreachable' });
      if (refusal !== undefined) return { ...refusal, body: { message: 'refused' } };
      return { status: 200, body: structuredClone(page(request)) };
    });
  const watch: KubeApi['Service']['watch'] = ({ query = {} }) =>
    Effect.gen(function* () {
      watches.push(query);
      const refusal = watchRefusals.shift();
      if (refusal === 'lost') return yield* Effect.never;
      if (refusal === 'unreachable') return yield* new AnswerLost({ why: 'unreachable' });
      if (refusal !== undefined) {
        return yield* new WatchRefused({ status: refusal.status, message: 'refused' });
      }
      const from = Number(query['resourceVersion']);
      if (from < oldest) return yield* new WatchRefused({ status: 410, message: 'too old' });
      const channel = watchChannel();
      const missed = history.filter((entry) => entry.resourceVersion > from).map(({ line }) =>
        line
      );
      if (missed.length > 0) channel.push(missed);
      const opened = { query, push: channel.push, end: channel.end };
      yield* Effect.acquireRelease(
        Effect.sync(() => open.add(opened)),
        () =>
          Effect.sync(() => {
            open.delete(opened);
            channel.end('cut');
          }),
      );
      return channel.lines;
    });

  return {
    service: { call, watch },
    put: (name, spec = {}) => {
      const known = objects.get(name);
      made += known === undefined ? 1 : 0;
      const object = stamp(name, known?.metadata.uid ?? `uid-${made}`, spec);
      objects.set(name, object);
      emit(known === undefined ? 'ADDED' : 'MODIFIED', object);
    },
    delete: (name) => {
      const known = objects.get(name);
      if (known === undefined) return;
      objects.delete(name);
      emit('DELETED', stamp(name, known.metadata.uid, known.spec));
    },
    bookmark: () =>
      broadcast([{
        type: 'BOOKMARK',
        object: { metadata: { resourceVersion: `${resourceVersion}` } },
      }]),
    report: (code) => broadcast([{ type: 'ERROR', object: { code, message: 'reported' } }]),
    chunk: broadcast,
    endWatches: (how) => {
      for (const watch of [...open]) {
        open.delete(watch);
        watch.end(how);
      }
    },
    refuseLists: (...refusals) => listRefusals.push(...refusals),
    refuseWatches: (...refusals) => watchRefusals.push(...refusals),
    holdPages: () => {
      const held = Promise.withResolvers<void>();
      gate = held.promise;
      return { release: held.resolve };
    },
    compact: () => {
      oldest = resourceVersion;
      history.length = 0;
    },
    calls,
    watches,
    openWatches: () => open.size,
  };
};
