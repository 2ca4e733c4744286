/** Collections that several roles read, watched once. */
import { Layer, ManagedRuntime } from 'effect';
import { describe, expect, test } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import {
  isBehind,
  missingLists,
  whenAllCurrent,
  whenCurrent,
} from '../../../src/actors/informers/shared-informers.ts';
import type { Identity } from '../../../src/domain/facts.ts';
import { objectKey } from '../../../src/domain/ids.ts';
import { textAt } from '../../../src/domain/json.ts';
import { identityOf } from '../../../src/domain/object-meta.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { KubeApi } from '../../../src/effects/kube-api.ts';
import { informedEnvironment } from '../../support/actors/informed-environment.ts';
import { scriptedApi } from '../../support/api/scripted-api.ts';

interface Colored extends Identity {
  readonly color: string;
}
interface Sized extends Identity {
  readonly size: string;
}

const colored = (raw: unknown): Colored | undefined => {
  const identity = identityOf(raw);
  return identity && { ...identity, color: textAt(raw, 'spec', 'color') ?? '' };
};
const sized = (raw: unknown): Sized | undefined => {
  const identity = identityOf(raw);
  return identity && { ...identity, size: textAt(raw, 'spec', 'size') ?? '' };
};

const THINGS = { id: 'things', path: '/things' };

const rig = () => {
  const time = simulatedTime();
  const api = scriptedApi();
  const layer = Layer.merge(Layer.succeed(KubeApi, api.service), clockLayer(time));
  const runtime = ManagedRuntime.make(layer);
  const { informers } = informedEnvironment(time, runtime);
  return { time, api, informers };
};

/** The grace of a request after the API server has answered another one. */
const GRACE_MS = 5000;

describe('shared informers', () => {
  test('keep the union of the fields that readers request, and watch once', async () => {
    const { time, api, informers } = rig();
    const colors = informers.collection({ ...THINGS, project: colored });
    const sizes = informers.collection({ ...THINGS, project: sized });
    api.put('a', { color: 'red', size: 'big' });
    informers.start();
    await time.settle();
    expect(colors.get(objectKey('a'))?.color).toBe('red');
    expect(sizes.get(objectKey('a'))?.size).toBe('big');
    expect(api.openWatches()).toBe(1);
  });

  test('read each object once for all readers that give the same function', async () => {
    const { time, api, informers } = rig();
    let readings = 0;
    const project = (raw: unknown) => {
      readings += 1;
      return colored(raw);
    };
    const readers = [1, 2].map(() => informers.collection({ ...THINGS, project }));
    api.put('a', { color: 'red' });
    informers.start();
    await time.settle();
    expect(readers.map(({ get }) => get(objectKey('a'))?.color)).toEqual(['red', 'red']);
    expect(readings).toBe(1);
  });

  test('list nothing before the start', async () => {
    const { time, api, informers } = rig();
    const colors = informers.collection({ ...THINGS, project: colored });
    await time.advance(60_000);
    expect([api.calls.length, colors.synced, colors.actor]).toEqual([0, false, undefined]);
    expect(missingLists([colors])).toBe('initial list incomplete: things');
  });

  test('are behind from a failed watch until the API server answers', async () => {
    const { time, api, informers } = rig();
    const colors = informers.collection({ ...THINGS, project: colored });
    informers.start();
    await time.settle();
    await whenCurrent(colors);
    api.refuseWatches('unreachable', 'unreachable');
    api.endWatches('cut');
    api.put('a', { color: 'red' });
    await time.settle();
    expect([isBehind(colors), colors.get(objectKey('a'))]).toEqual([true, undefined]);
    const seen = whenCurrent(colors).then(() => colors.get(objectKey('a'))?.color);
    await time.advance(60_000);
    expect(await seen).toBe('red');
  });

  test('are current after a complete list, although the watch after it shows nothing', async () => {
    const { time, api, informers } = rig();
    const colors = informers.collection({ ...THINGS, project: colored });
    informers.start();
    await time.settle();
    api.report(410);
    await time.settle();
    expect([isBehind(colors), api.calls.length]).toEqual([false, 2]);
    await whenCurrent(colors);
    await time.settle();
    expect(api.calls).toHaveLength(2);
  });

  test('list again for who waits, although a watch could go on', async () => {
    const { time, api, informers } = rig();
    const colors = informers.collection({ ...THINGS, project: colored });
    informers.start();
    await time.settle();
    api.refuseWatches('unreachable');
    api.endWatches('cut');
    await time.settle();
    const current = whenCurrent(colors);
    await time.advance(10_000);
    await current;
    expect(api.calls).toHaveLength(2);
  });

  test('are all current once none fell behind while another was listed', async () => {
    const { time, api, informers } = rig();
    const [colors, sizes] = [
      informers.collection({ ...THINGS, project: colored }),
      informers.collection({ id: 'others', path: '/others', project: sized }),
    ];
    const cut = async (): Promise<void> => {
      api.refuseWatches('unreachable', 'unreachable');
      api.endWatches('cut');
      await time.settle();
    };
    informers.start();
    await time.settle();
    await cut();
    let lists = 0;
    const late = {
      get actor() {
        return sizes.actor;
      },
      relist: async (): Promise<void> => {
        await sizes.relist();
        lists += 1;
        if (lists === 1) await cut();
      },
    };
    const current = whenAllCurrent([colors, late]).then(() => [colors, sizes].map(isBehind));
    await time.advance(60_000);
    expect([await current, lists]).toEqual([[false, false], 2]);
  });

  test('make a lost list again soon after the API server answers another request', async () => {
    const { time, api, informers } = rig();
    const colors = informers.collection({ ...THINGS, project: colored });
    api.refuseLists('lost');
    informers.start();
    await time.advance(30_000);
    expect([colors.synced, api.calls.length]).toEqual([false, 1]);
    informers.retryNow();
    await time.advance(GRACE_MS);
    expect([colors.synced, api.calls.length]).toEqual([true, 2]);
  });

  test('open a lost watch again soon after the API server answers another request', async () => {
    const { time, api, informers } = rig();
    const colors = informers.collection({ ...THINGS, project: colored });
    informers.start();
    await time.settle();
    api.bookmark();
    await time.settle();
    api.refuseWatches('lost');
    api.endWatches('eof');
    api.put('a', { color: 'red' });
    await time.advance(20_000);
    expect(colors.get(objectKey('a'))).toBeUndefined();
    informers.retryNow();
    await time.advance(GRACE_MS);
    expect(colors.get(objectKey('a'))?.color).toBe('red');
    expect([api.calls.length, api.watches.length]).toEqual([1, 3]);
  });

  test('make a slow list again once, however often the API server answers others', async () => {
    const { time, api, informers } = rig();
    const colors = informers.collection({ ...THINGS, project: colored });
    const pages = api.holdPages();
    informers.start();
    for (let i = 0; i < 10; i += 1) {
      informers.retryNow();
      await time.advance(GRACE_MS);
    }
    expect(api.calls.length).toBe(2);
    pages.release();
    await time.settle();
    expect(colors.synced).toBe(true);
  });

  test('await a list that is answered soon after another request', async () => {
    const { time, api, informers } = rig();
    const colors = informers.collection({ ...THINGS, project: colored });
    const pages = api.holdPages();
    informers.start();
    await time.settle();
    informers.retryNow();
    await time.advance(GRACE_MS - 1);
    pages.release();
    await time.advance(2 * GRACE_MS);
    expect([colors.synced, api.calls.length]).toEqual([true, 1]);
  });

  test('watch the whole collection when readers use different selectors', async () => {
    const { time, api, informers } = rig();
    const query = { fieldSelector: 'spec.size=big' };
    informers.collection({ ...THINGS, query, project: colored });
    informers.collection({ ...THINGS, project: sized });
    informers.start();
    await time.settle();
    expect(api.calls[0]?.query).toEqual({ limit: '500' });
  });

  test('use the selector that all readers share', async () => {
    const { time, api, informers } = rig();
    const query = { fieldSelector: 'spec.size=big' };
    informers.collection({ ...THINGS, query, project: colored });
    informers.collection({ ...THINGS, query, project: sized });
    informers.start();
    await time.settle();
    expect(api.calls[0]?.query).toEqual({ limit: '500', ...query });
  });

  test('refuse a reader after the start, or with another path', () => {
    const { informers } = rig();
    informers.collection({ ...THINGS, project: colored });
    expect(() => informers.collection({ ...THINGS, path: '/others', project: sized })).toThrow();
    informers.start();
    expect(() => informers.collection({ ...THINGS, project: sized })).toThrow();
  });
});
