/** Caches over real sockets to a scripted API server that does what a real one does rarely. */
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type Informer, startInformer } from '../../src/actors/informers/informer.ts';
import type { Identity } from '../../src/domain/facts.ts';
import { identityOf } from '../../src/domain/object-meta.ts';
import { liveEnvironment } from '../support/api/live-environment.ts';
import {
  event,
  json,
  startStubApi,
  type StubApi,
  type StubRequest,
} from '../support/api/stub-api.ts';
import { eventually } from '../support/eventually.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const object = (name: string, resourceVersion: number) => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: `${resourceVersion}` },
});

const list = (resourceVersion: number, ...names: string[]) => ({
  metadata: { resourceVersion: `${resourceVersion}` },
  items: names.map((name) => object(name, resourceVersion)),
});

interface Bed {
  readonly stub: StubApi;
  readonly reflector: Informer<Identity>;
  /** How many lists and watches were requested, and from where the watches started. */
  readonly lists: () => number;
  readonly from: () => readonly (string | null)[];
}

/** A reflector over a server with scripted responses to lists and the nth watch. */
const bed = async (
  onList: (response: ServerResponse, nth: number) => void,
  onWatch: (response: ServerResponse, nth: number, request: StubRequest) => void,
): Promise<Bed> => {
  let lists = 0;
  const from: (string | null)[] = [];
  const stub = await startStubApi((request, response) => {
    if (request.query.get('watch') !== 'true') {
      lists += 1;
      onList(response, lists);
      return;
    }
    from.push(request.query.get('resourceVersion'));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    onWatch(response, from.length, request);
  });
  cleanups.push(stub.stop);
  const live = liveEnvironment(stub.source);
  cleanups.push(live.dispose);
  const reflector = startInformer(live.environment, {
    id: 'things',
    path: '/things',
    project: identityOf,
  });
  cleanups.push(reflector.stop);
  return { stub, reflector, lists: () => lists, from: () => from };
};

const names = (reflector: Informer<Identity>): string =>
  [...reflector.values()].map(({ key }) => key).sort().join(',');

const shows = (reflector: Informer<Identity>, wanted: string): Promise<boolean> =>
  eventually(() => names(reflector) === wanted, { what: wanted, everyMs: 10 });

describe('a reflector over sockets', () => {
  it('resumes a closed watch, without a list', async () => {
    const { reflector, lists, from } = await bed(
      (response) => json(response, 200, list(5, 'a')),
      (response, nth) => {
        event(response, 'ADDED', object(`n${nth}`, 10 + nth));
        if (nth < 3) response.end();
      },
    );
    await shows(reflector, 'a,n1,n2,n3');
    expect([lists(), from()]).toEqual([1, ['5', '11', '12']]);
  });

  it('resumes a watch that was cut in the middle of a line', async () => {
    const { reflector, lists, from } = await bed(
      (response) => json(response, 200, list(5, 'a')),
      (response, nth, { socket }) => {
        event(response, 'ADDED', object(`n${nth}`, 10 + nth));
        if (nth === 1) {
          response.write('{"type":"ADDED","object":{"meta');
          setImmediate(() => socket.destroy());
        }
      },
    );
    await shows(reflector, 'a,n1,n2');
    expect([lists(), from()]).toEqual([1, ['5', '11']]);
  });

  it('lists again after 410 in the stream, and reports deletions', async () => {
    const { reflector, lists } = await bed(
      (response, nth) => json(response, 200, nth === 1 ? list(5, 'a', 'b') : list(20, 'b', 'c')),
      (response, nth) => {
        if (nth === 1) {
          event(response, 'ADDED', object('d', 6));
          event(response, 'ERROR', { kind: 'Status', code: 410, message: 'too old' });
        }
      },
    );
    const absent: string[] = [];
    reflector.facts.subscribe((fact) => fact._tag === 'Absent' && absent.push(fact.key));
    await shows(reflector, 'b,c');
    expect([lists(), absent]).toEqual([2, ['a', 'd']]);
  });

  it('publishes nothing of a list whose later page fails, and lists again', async () => {
    const sizes: number[] = [];
    const { reflector } = await bed(
      (response, nth) => {
        const page = { ...list(5, 'a'), metadata: { resourceVersion: '5', continue: 'more' } };
        if (nth === 1) json(response, 200, page);
        else if (nth === 2) json(response, 500, { message: 'etcd is away' });
        else json(response, 200, list(6, 'b'));
      },
      () => {},
    );
    reflector.facts.subscribe((fact) => fact._tag === 'Listed' && sizes.push(fact.objects.length));
    await shows(reflector, 'b');
    expect(sizes).toEqual([1]);
  });

  it('is not synced by a slow list', async () => {
    let goOn: (() => void) | undefined;
    const { reflector } = await bed(
      (response) => {
        const text = JSON.stringify(list(5, 'a', 'b'));
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write(text.slice(0, 20), () => {
          goOn = () => void response.end(text.slice(20));
        });
      },
      () => {},
    );
    const finish = await eventually(() => goOn, { what: 'half of the list to be sent' });
    expect([reflector.synced, reflector.size]).toEqual([false, 0]);
    finish();
    await shows(reflector, 'a,b');
  });

  it('accepts an event in many pieces, and split characters', async () => {
    const { reflector } = await bed(
      (response) => json(response, 200, list(5)),
      (response) => {
        const line = Buffer.from(
          `${
            JSON.stringify({ type: 'ADDED', object: { ...object('ü-ö', 6), x: 'ä'.repeat(5000) } })
          }\n`,
        );
        let at = 0;
        const drip = (): void => {
          response.write(line.subarray(at, at + 777));
          at += 777;
          if (at < line.length) setImmediate(drip);
        };
        drip();
      },
    );
    await shows(reflector, 'ü-ö');
  });

  it('closes its connection when it is stopped', async () => {
    const closed = Promise.withResolvers<void>();
    const { reflector } = await bed(
      (response) => json(response, 200, list(5, 'a')),
      (response, _nth, { socket }) => {
        socket.on('close', () => closed.resolve());
        event(response, 'ADDED', object('b', 6));
      },
    );
    await shows(reflector, 'a,b');
    reflector.stop();
    await closed.promise;
  });
});
