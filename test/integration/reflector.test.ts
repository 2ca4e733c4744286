/** Caches over a real API server: pages, changes, compacted revisions, an unavailable server. */
import { Effect, Result } from 'effect';
import { afterEach, expect, it } from 'vitest';
import { type Informer, startInformer } from '../../src/actors/informers/informer.ts';
import { silentTelemetry, type Telemetry } from '../../src/api/telemetry.ts';
import type { Identity } from '../../src/domain/facts.ts';
import { textAt } from '../../src/domain/json.ts';
import { identityOf } from '../../src/domain/object-meta.ts';
import { type KubeAnswer, KubeApi, type KubeCall } from '../../src/effects/kube-api.ts';
import { serverVersion } from '../../src/effects/server-version.ts';
import { inBatches } from '../../tools/testbed/batches.ts';
import { cuttableProxy } from '../support/api/cuttable-proxy.ts';
import {
  fileSource,
  type LiveEnvironment,
  liveEnvironment,
} from '../support/api/live-environment.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';

interface Entry extends Identity {
  readonly value: string;
}

const project = (raw: unknown): Entry | undefined => {
  const identity = identityOf(raw);
  return identity === undefined
    ? undefined
    : { ...identity, value: textAt(raw, 'data', 'value') ?? '' };
};

const PATH = '/api/v1/namespaces/default/configmaps';
const OBJECTS = 1203;
const AT_ONCE = 64;

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const connect = (bed: Testbed, telemetry: Telemetry = silentTelemetry): LiveEnvironment => {
  const live = liveEnvironment(fileSource(bed.kubeconfig), telemetry);
  cleanups.push(live.dispose);
  return live;
};

/** A connection that can be cut. */
const connectThroughProxy = async (bed: Testbed) => {
  const proxy = await cuttableProxy(bed);
  cleanups.push(proxy.stop);
  const near = liveEnvironment(proxy.source);
  cleanups.push(near.dispose);
  return { proxy, near };
};

const follow = ({ environment }: LiveEnvironment, id: string): Informer<Entry> => {
  const query = { labelSelector: 'kind=entry' };
  const reflector = startInformer(environment, { id, path: PATH, query, project });
  cleanups.push(reflector.stop);
  return reflector;
};

const call = async ({ environment }: LiveEnvironment, request: KubeCall): Promise<KubeAnswer> =>
  Result.getOrThrow(
    await environment.runtime.runPromise(Effect.result(KubeApi.use((api) => api.call(request)))),
  );

const create = (live: LiveEnvironment, name: string, value = ''): Promise<KubeAnswer> =>
  call(live, {
    method: 'POST',
    path: PATH,
    body: { metadata: { name, labels: { kind: 'entry' } }, data: { value } },
  });

const change = (live: LiveEnvironment, name: string, value: string): Promise<KubeAnswer> =>
  call(live, {
    method: 'PATCH',
    path: `${PATH}/${name}`,
    contentType: 'application/merge-patch+json',
    body: { data: { value } },
  });

const remove = (live: LiveEnvironment, name: string): Promise<KubeAnswer> =>
  call(live, { method: 'DELETE', path: `${PATH}/${name}` });

const named = (reflector: Informer<Entry>, name: string): string | undefined =>
  [...reflector.values()].find(({ key }) => key === `default/${name}`)?.value;

const lost = (reflector: Informer<Entry>): Promise<true> =>
  eventually(() => reflector.actor?.getSnapshot().matches('backingOff'), {
    what: 'the loss of the watch',
  });

/** The future events of a collection. */
const factsOf = (reflector: Informer<Entry>): { absent: string[]; lists: number } => {
  const seen: { absent: string[]; lists: number } = { absent: [], lists: 0 };
  reflector.facts.subscribe((fact) => {
    if (fact._tag === 'Absent') seen.absent.push(fact.key);
    if (fact._tag === 'Listed') seen.lists += 1;
  });
  return seen;
};

describeWithTestbed('a reflector on a real API server', {}, (bed) => {
  it('lists in pages, follows changes and deletions', async () => {
    const live = connect(bed());
    const names = Array.from({ length: OBJECTS }, (_, nth) => `entry-${nth}`);
    const statuses: number[] = [];
    // Each has its time from the moment that it waits for a connection.
    await inBatches(names, AT_ONCE, async (name) => {
      statuses.push((await create(live, name)).status);
    });
    expect(statuses.filter((status) => status !== 201)).toEqual([]);

    const reflector = follow(live, 'paged');
    await reflector.whenSynced;
    expect(reflector.size).toBe(OBJECTS);
    const lists = (await bed().audit()).filter(({ verb, uri }) =>
      verb === 'list' && uri.includes('kind%3Dentry')
    );
    expect(lists.length).toBe(3);

    await change(live, 'entry-7', 'seven');
    await remove(live, 'entry-8');
    await create(live, 'entry-new', 'new');
    await eventually(() => named(reflector, 'entry-new') === 'new', { what: 'the new entry' });
    expect(named(reflector, 'entry-7')).toBe('seven');
    expect(named(reflector, 'entry-8')).toBeUndefined();
  });

  it('wire 5: is followed again at once: a watch is answered before its first event', async () => {
    const reflector = follow(connect(bed()), 'quiet');
    await reflector.whenSynced;
    const seen = factsOf(reflector);
    await reflector.refollow();
    expect(seen.lists).toBe(2);
    // The first bookmark comes after a minute.
    expect(reflector.actor?.getSnapshot().matches({ watching: 'opening' })).toBe(true);
  });

  it('resumes without a list when the API server is within reach again', async () => {
    const { proxy, near } = await connectThroughProxy(bed());
    const reflector = follow(near, 'out-of-reach');
    const seen = factsOf(reflector);
    await reflector.whenSynced;
    const { size } = reflector;
    proxy.cut();
    await lost(reflector);
    expect([reflector.synced, reflector.size]).toEqual([true, size]);
    await change(connect(bed()), 'entry-1', 'meanwhile');
    proxy.mend();
    await eventually(() => named(reflector, 'entry-1') === 'meanwhile', { what: 'the change' });
    expect(seen.lists).toBe(1);
  });

  it('follows a restarted API server, and lists only if that forgot the revision', async () => {
    const endings: unknown[] = [];
    const count: Telemetry['count'] = (name, _by, ...[labels]) => {
      if (name === 'tidegate_watch_endings_total') endings.push(...Object.values(labels ?? {}));
    };
    const live = connect(bed(), { ...silentTelemetry, count });
    const reflector = follow(live, 'restarted');
    const seen = factsOf(reflector);
    await reflector.whenSynced;
    const { size } = reflector;
    await change(live, 'entry-1', 'before');
    await eventually(() => named(reflector, 'entry-1') === 'before', { what: 'the change' });
    await bed().stopApiServer();
    await lost(reflector);
    expect([reflector.synced, reflector.size]).toEqual([true, size]);
    await bed().startApiServer();
    await change(live, 'entry-1', 'after');
    await eventually(() => named(reflector, 'entry-1') === 'after', { what: 'the change' });
    // Its watch cache begins at the newest revision of etcd, which its own objects raise.
    const forgotten = endings.filter((outcome) => outcome === 'Expired').length;
    expect(forgotten).toBeLessThanOrEqual(1);
    expect(seen.lists).toBe(1 + forgotten);
  });

  it('lists again when its revision was compacted, and reports deletions', async () => {
    const { proxy, near } = await connectThroughProxy(bed());
    const reflector = follow(near, 'forgotten');
    const seen = factsOf(reflector);
    await reflector.whenSynced;
    await eventually(() => reflector.actor?.getSnapshot().matches('watching'), { what: 'a watch' });
    proxy.cut();
    const other = connect(bed());
    await remove(other, 'entry-2');
    await create(other, 'entry-late', 'late');
    await bed().compactHistory();
    proxy.mend();
    await eventually(() => named(reflector, 'entry-late') === 'late', { what: 'the late entry' });
    expect(named(reflector, 'entry-2')).toBeUndefined();
    expect(seen.absent).toEqual(['default/entry-2']);
    expect(seen.lists).toBe(2);
  });

  it('reports a refusal where the resource does not exist', async () => {
    const { environment } = connect(bed());
    const path = '/apis/bigfleet.lucy.sh/v1alpha1/nothings';
    const reflector = startInformer(environment, { id: 'nothings', path, project });
    cleanups.push(reflector.stop);
    await eventually(() => reflector.actor?.getSnapshot().matches('refused'), { what: 'refusal' });
    expect(reflector.synced).toBe(false);
  });

  it('reads the version of the server', async () => {
    const { environment } = connect(bed());
    const version = await environment.runtime.runPromise(Effect.result(serverVersion));
    expect(Result.getOrThrow(version)).toEqual({ _tag: 'Supported', version: 'v1.36.3' });
  });
});
