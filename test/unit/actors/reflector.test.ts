/** Caches over an API server in memory, on simulated time. */
import { config } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { objectKey } from '../../../src/domain/ids.ts';
import { factText, listsOf, projectThing, reflectorBed } from '../../support/api/reflector-bed.ts';

describe('a reflector', () => {
  it('lists in pages and then watches', async () => {
    const { time, api, start } = reflectorBed();
    for (const name of ['a', 'b', 'c', 'd', 'e']) api.put(name);
    const { reflector, facts } = start();
    await time.settle();
    expect(facts).toEqual(['listed a,b,c,d,e']);
    expect(api.calls.length).toBe(3);
    expect(api.calls[0]?.query).toEqual({ limit: '500' });
    expect(api.watches).toEqual([expect.objectContaining({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '6',
    })]);
    api.put('a', { color: 'red' });
    api.delete('b');
    api.put('f');
    await time.settle();
    expect(facts.slice(1)).toEqual(['present a red', 'absent b none', 'present f none']);
    expect(reflector.size).toBe(5);
    expect(reflector.get(objectKey('a'))?.color).toBe('red');
  });

  it('begins with a list of moments ago, and lists when it has to again', async () => {
    const { time, api, start } = reflectorBed();
    api.put('a');
    api.put('b');
    const objects = [{ metadata: { name: 'b', uid: 'b', resourceVersion: '2' } }];
    const { reflector, facts } = start(projectThing, { objects, resourceVersion: '3' });
    await time.settle();
    expect([facts, api.calls.length]).toEqual([['listed b'], 0]);
    expect(api.watches).toEqual([expect.objectContaining({ resourceVersion: '3' })]);
    api.put('c');
    await time.settle();
    expect(facts.slice(1)).toEqual(['present c none']);
    const relisted = reflector.relist();
    await time.advance(1000);
    await relisted;
    expect(facts[2]).toBe('listed a,b,c');
  });

  it('is not synced and publishes nothing while a list is incomplete', async () => {
    const { time, api, start } = reflectorBed();
    for (const name of ['a', 'b', 'c']) api.put(name);
    const held = api.holdPages();
    const { reflector, facts } = start();
    let synced = false;
    void reflector.whenSynced.then(() => synced = true);
    await time.advance(10 * 60_000);
    expect([synced, reflector.synced, reflector.size, facts]).toEqual([false, false, 0, []]);
    held.release();
    await time.settle();
    expect([synced, reflector.synced, reflector.size]).toEqual([true, true, 3]);
  });

  it('tells each failed attempt to list, and none of the others', async () => {
    const { time, api, start } = reflectorBed();
    api.refuseLists({ status: 500 }, 'unreachable');
    const { reflector } = start();
    let failures = 0;
    reflector.failures.subscribe(() => failures += 1);
    await time.settle();
    expect(failures).toBe(1);
    await time.advance(30_000);
    expect([failures, reflector.synced]).toEqual([2, true]);
  });

  it('logs the first failure and the recovery, and no retry between them', async () => {
    const lines: string[] = [];
    const log = (level: string, message: string) => void lines.push(`${level} ${message}`);
    const { time, api, start } = reflectorBed({ ...silentTelemetry, log });
    api.refuseLists({ status: 500 }, 'unreachable', 'unreachable');
    start();
    await time.advance(60_000);
    api.put('a');
    await time.settle();
    const failed = 'warn Cannot list or watch a collection';
    expect(lines).toEqual([failed, 'info List and watch recovered']);
  });

  it('resumes a closed watch at once, without a list', async () => {
    const { time, api, start } = reflectorBed();
    api.put('a');
    const { facts } = start();
    await time.settle();
    api.put('b');
    await time.settle();
    const before = time.monotonic();
    api.endWatches('eof');
    api.put('c');
    await time.settle();
    expect(time.monotonic()).toBe(before);
    expect(api.watches.map((query) => query['resourceVersion'])).toEqual(['2', '3']);
    expect(listsOf(api)).toBe(1);
    expect(facts).toEqual(['listed a', 'present b none', 'present c none']);
  });

  it('reports its progress after each list and each chunk of a watch', async () => {
    const { time, api, start } = reflectorBed();
    api.put('a');
    const { reflector } = start();
    const reached: string[] = [];
    reflector.progress.subscribe((at) => reached.push(at));
    await time.settle();
    expect(reached).toEqual(['2']);
    api.put('b');
    await time.settle();
    void reflector.relist();
    await time.settle();
    expect(reached).toEqual(['2', '3', '3']);
  });

  it('takes the resourceVersion from bookmarks', async () => {
    const { time, api, start } = reflectorBed();
    start();
    await time.settle();
    api.chunk([{ type: 'BOOKMARK', object: { metadata: { resourceVersion: '77' } } }]);
    await time.settle();
    api.endWatches('eof');
    await time.settle();
    expect(api.watches.at(-1)?.['resourceVersion']).toBe('77');
  });

  it('backs off when a watch ends without an event, and after a cut', async () => {
    const { time, api, start } = reflectorBed();
    start();
    await time.settle();
    api.endWatches('eof');
    await time.settle();
    expect(api.watches.length).toBe(1);
    await time.advance(1000);
    expect(api.watches.length).toBe(2);
    api.bookmark();
    await time.settle();
    api.endWatches('cut');
    await time.settle();
    expect(api.watches.length).toBe(2);
    await time.advance(1000);
    expect(api.watches.length).toBe(3);
    expect(listsOf(api)).toBe(1);
  });

  it('lists again when the resourceVersion has expired; absences follow the list', async () => {
    const { time, api, start } = reflectorBed();
    for (const name of ['a', 'b', 'c']) api.put(name);
    const { facts } = start();
    await time.settle();
    api.bookmark();
    await time.settle();
    api.endWatches('eof');
    api.delete('a');
    api.delete('b');
    api.put('b', { color: 'blue' });
    api.compact();
    await time.settle();
    expect(facts.slice(1)).toEqual([
      'listed b,c',
      'absent a none',
      'absent b none',
      'present b blue',
    ]);
  });

  it('DR-37: lists at once when a 410 follows an outage, whatever backoff had grown', async () => {
    const { time, api, start } = reflectorBed();
    api.put('a');
    const { facts } = start();
    await time.settle();
    api.bookmark();
    await time.settle();
    api.refuseWatches(...Array.from({ length: 6 }, () => 'unreachable' as const));
    api.endWatches('cut');
    api.delete('a');
    api.compact();
    let passedMs = 0;
    while (api.watches.length < 8 && passedMs < 600_000) {
      await time.advance(100);
      passedMs += 100;
    }
    await time.settle();
    expect(facts.slice(1)).toEqual(['listed ', 'absent a none']);
  });

  it('DR-37: waits when a 410 also follows the new list', async () => {
    const { time, api, start } = reflectorBed();
    api.put('a');
    api.refuseWatches(...Array.from({ length: 20 }, () => ({ status: 410 })));
    start();
    await time.advance(2000);
    expect(listsOf(api)).toBeGreaterThan(1);
    expect(listsOf(api)).toBeLessThan(8);
  });

  it('keeps its cache while a new list is incomplete', async () => {
    const { time, api, start } = reflectorBed();
    for (const name of ['a', 'b', 'c']) api.put(name);
    const { reflector, facts } = start();
    await time.settle();
    api.bookmark();
    await time.settle();
    const held = api.holdPages();
    api.report(410);
    await time.advance(60_000);
    expect([reflector.synced, reflector.size, facts.length]).toEqual([true, 3, 1]);
    held.release();
    await time.settle();
    expect(facts.length).toBe(2);
  });

  it('closes a silent watch at its idle deadline, which every chunk resets', async () => {
    const { time, api, start } = reflectorBed();
    start();
    await time.settle();
    for (let minute = 0; minute < 5; minute += 1) {
      await time.advance(120_000);
      api.bookmark();
      await time.settle();
    }
    expect(api.watches.length).toBe(1);
    await time.advance(149_000);
    expect(api.watches.length).toBe(1);
    await time.advance(3000);
    expect(api.watches.length).toBe(2);
    expect(api.openWatches()).toBe(1);
    expect(listsOf(api)).toBe(1);
  });

  it('backs off with growing delays while the server is away, without giving up', async () => {
    const { time, api, start } = reflectorBed();
    api.refuseLists(...Array.from({ length: 30 }, () => 'unreachable' as const));
    const { reflector } = start();
    await time.advance(60_000);
    expect(api.calls.length).toBeGreaterThan(3);
    expect(api.calls.length).toBeLessThan(20);
    await time.advance(30 * 60_000);
    expect(reflector.synced).toBe(true);
  });

  it('returns to small pages when the list in large ones fails', async () => {
    const { time, api, start } = reflectorBed();
    for (const name of ['a', 'b', 'c']) api.put(name);
    for (
      const failure of ['unreachable', { status: 500 }, { status: 403 }, { status: 410 }] as const
    ) {
      const before = api.calls.length;
      api.refuseLists({ status: 410 }, failure);
      const { reflector, facts } = start();
      await time.advance(120_000);
      expect(facts).toEqual(['listed a,b,c']);
      const limits = api.calls.slice(before).map(({ query }) => query?.['limit']);
      expect(limits).toEqual(['500', '5000', '500', '500']);
      reflector.stop();
    }
  });

  it('lists in large pages when the continue token expires', async () => {
    const { time, api, start } = reflectorBed();
    for (const name of ['a', 'b', 'c']) api.put(name);
    api.refuseLists({ status: 410 });
    const { facts } = start();
    await time.advance(2000);
    expect(facts).toEqual(['listed a,b,c']);
    expect(api.calls[1]?.query).toEqual({ limit: '5000' });
  });

  it('reports a refusal and retries', async () => {
    const { time, api, start } = reflectorBed();
    api.refuseLists({ status: 403 });
    const { reflector } = start();
    await time.settle();
    expect(reflector.actor?.getSnapshot().matches('refused')).toBe(true);
    await time.advance(2000);
    expect(reflector.synced).toBe(true);
  });

  it('draws the timeout of each watch between 5 and 10 minutes', async () => {
    const { time, api, start } = reflectorBed();
    start();
    for (let nth = 0; nth < 20; nth += 1) {
      await time.settle();
      api.bookmark();
      await time.settle();
      api.endWatches('eof');
    }
    const seconds = api.watches.map((query) => Number(query['timeoutSeconds']));
    expect(Math.min(...seconds)).toBeGreaterThanOrEqual(300);
    expect(Math.max(...seconds)).toBeLessThanOrEqual(600);
    expect(new Set(seconds).size).toBeGreaterThan(10);
  });

  it('excludes unreadable objects, and keeps watching', async () => {
    const counts: number[] = [];
    const { time, api, start } = reflectorBed({
      ...silentTelemetry,
      count: (name, by, ..._labels) => {
        if (name === 'tidegate_watch_unreadable_total') counts.push(by);
      },
    });
    api.put('a', { color: 'poison' });
    api.put('b', { color: 'hidden' });
    api.put('c');
    const { facts } = start();
    await time.settle();
    api.put('c', { color: 'hidden' });
    api.put('d');
    await time.settle();
    expect(facts).toEqual(['listed c', 'absent c none', 'present d none']);
    expect(counts, 'from 0, so that the first is an increase').toEqual([0, 1]);
  });

  it('is not synced by a list that a defect prevents it from reading, and lists again', async () => {
    const { time, api, start } = reflectorBed();
    api.put('a', { color: 'poison' });
    api.put('b', { color: 'poison' });
    api.put('c');
    const { reflector, facts } = start();
    await time.advance(5_000);
    expect(reflector.synced).toBe(false);
    expect(facts).toEqual([]);
    api.put('a', { color: 'red' });
    await time.advance(5_000);
    expect(reflector.synced).toBe(true);
    expect(facts).toEqual(['listed a,c']);
  });

  it('keeps the last known version of an object that becomes unreadable', async () => {
    const { time, api, start } = reflectorBed();
    api.put('a', { color: 'red' });
    api.put('b');
    const { reflector, facts } = start();
    await time.settle();
    api.put('a', { color: 'poison' });
    await time.settle();
    expect([...reflector.values()].map(({ key }) => key)).toEqual(['a', 'b']);
    expect(facts.length).toBe(1);
  });

  it('survives a subscriber that throws', async () => {
    const reported: unknown[] = [];
    config.onUnhandledError = (error) => reported.push(error);
    onTestFinished(() => {
      config.onUnhandledError = null;
    });
    const { time, api, start } = reflectorBed();
    const { reflector, facts } = start();
    reflector.facts.subscribe(() => {
      throw new Error('subscriber');
    });
    await time.settle();
    api.put('a');
    api.put('b');
    await time.settle();
    expect(facts).toEqual(['listed ', 'present a none', 'present b none']);
    await expect.poll(() => reported.length).toBe(3);
  });

  it('sends the complete list to a late subscriber first', async () => {
    const { time, api, start } = reflectorBed();
    api.put('a');
    const { reflector } = start();
    await time.settle();
    const late: string[] = [];
    reflector.facts.subscribe((fact) => late.push(factText(fact)));
    api.put('b');
    await time.settle();
    expect(late).toEqual(['listed a', 'present b none']);
  });

  it('restarts with a list after a defect, and keeps its cache', async () => {
    const { time, api, start } = reflectorBed();
    api.put('a');
    const { reflector, facts } = start();
    await time.settle();
    const first = reflector.actor;
    api.chunk([{
      type: 'ADDED',
      get object(): unknown {
        throw new Error('planted defect');
      },
    }]);
    await time.settle();
    expect(first?.getSnapshot().status).toBe('error');
    expect(reflector.size).toBe(1);
    await time.advance(1000);
    expect(reflector.actor?.getSnapshot().status).toBe('active');
    expect(facts).toEqual(['listed a', 'listed a']);
  });

  it('closes its watch when it is stopped', async () => {
    const { time, api, start } = reflectorBed();
    const { reflector } = start();
    await time.settle();
    expect(api.openWatches()).toBe(1);
    reflector.stop();
    await time.settle();
    expect(api.openWatches()).toBe(0);
    expect(time.pending()).toBe(0);
  });

  it('agrees with the server after a thousand random changes, cuts, ends and compactions', async () => {
    const { time, api, start } = reflectorBed();
    const { reflector } = start();
    let seed = 1;
    const draw = (below: number): number => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      return (seed >>> 8) % below;
    };
    const truth = new Map<string, string>();
    for (let step = 0; step < 1000; step += 1) {
      const name = `n${draw(8)}`;
      const what = draw(12);
      if (what < 6) {
        api.put(name, { color: `c${step}` });
        truth.set(name, `c${step}`);
      } else if (what < 8) {
        api.delete(name);
        truth.delete(name);
      } else if (what === 8) api.endWatches('eof');
      else if (what === 9) api.endWatches('cut');
      else if (what === 10) api.compact();
      else await time.advance(draw(3000));
      if (draw(3) === 0) await time.settle();
    }
    await time.advance(120_000);
    const seen = new Map([...reflector.values()].map(({ key, color }) => [String(key), color]));
    expect(new Map([...seen].sort())).toEqual(new Map([...truth].sort()));
  });
});
