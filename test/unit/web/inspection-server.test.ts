/** The server of the live page: its content, its clients, and its policy. */
import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { ActorBoard } from '../../../src/api/actor-board.ts';
import { eventually } from '../../support/eventually.ts';
import { boardOf } from '../../support/page/fed-board.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import {
  type InspectionOptions,
  startInspectionServer,
} from '../../../src/web/inspection-server.ts';

const NOBODY: ActorBoard = {
  rows: () => [],
  row: () => undefined,
  detail: () => undefined,
  context: () => undefined,
  subscribe: () => () => {},
};

const FILES = {
  html: '<!doctype html>',
  script: 'let page;',
  style: 'p{}',
  catalogue: '{}',
  charts: { nodeDrain: '<svg/>' },
};

const served = async (more: Partial<InspectionOptions> = {}) => {
  const server = await startInspectionServer({
    address: { host: '', port: 0 },
    board: NOBODY,
    time: simulatedTime(),
    files: FILES,
    access: { names: [], token: undefined },
    ...more,
  });
  onTestFinished(server.close);
  return server;
};

/** Uses `node:http`, because `fetch` sets the host header itself. */
const ask = (
  url: string,
  options: {
    readonly method?: string;
    readonly host?: string;
    readonly path?: string;
    readonly authorization?: string;
  } = {},
) =>
  new Promise<{ readonly status: number; readonly policy: string; readonly body: string }>(
    (resolve, reject) => {
      const asked = request(url, {
        method: options.method ?? 'GET',
        ...(options.path === undefined ? {} : { path: options.path }),
        headers: {
          ...(options.host === undefined ? {} : { host: options.host }),
          ...(options.authorization === undefined ? {} : { authorization: options.authorization }),
        },
      }, (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => (body += text));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            policy: String(response.headers['content-security-policy']),
            body,
          }));
      });
      asked.on('error', reject);
      asked.end();
    },
  );

test('the page, its files and its charts are served under a policy that loads nothing else', async () => {
  const { url } = await served();
  expect(new URL(url).hostname).toBe('127.0.0.1');
  const bodies = await Promise.all(
    ['', 'page.js', 'page.css', 'catalogue.json', 'charts/nodeDrain.svg'].map((path) =>
      ask(url + path)
    ),
  );
  expect(bodies.map(({ body }) => body)).toEqual([
    FILES.html,
    FILES.script,
    FILES.style,
    FILES.catalogue,
    FILES.charts.nodeDrain,
  ]);
  for (const { policy } of bodies) {
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
  }
});

test('missing pages and write methods are refused with a sentence', async () => {
  const { url } = await served();
  expect(await ask(`${url}charts/toString.svg`)).toMatchObject({ status: 404 });
  expect(await ask(`${url}../../etc/passwd`)).toMatchObject({ status: 404 });
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    const body = expect.stringContaining('use GET');
    expect(await ask(url, { method })).toMatchObject({ status: 405, body });
  }
});

test('a page of another host name cannot read it', async () => {
  const { url } = await served();
  const { port } = new URL(url);
  expect(await ask(url, { host: `evil.example:${port}` })).toMatchObject({ status: 403 });
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
    expect(await ask(url, { host })).toMatchObject({ status: 200 });
  }
});

test.each(['0.0.0.0', '::', '127.0.0.1'])(
  'a page that listens on %s is read only under names that it is meant for',
  async (host) => {
    const access = { names: ['tidegate.example'], token: undefined };
    const { url } = await served({ address: { host, port: 0 }, access });
    const { port } = new URL(url);
    const reached = `http://127.0.0.1:${port}/`;
    for (const site of ['evil.example', '10.1.2.3', '[fd00::1]', 'tidegate.example.evil', '']) {
      const asked = await ask(reached, { host: `${site}:${port}` });
      expect(asked, site).toMatchObject({ status: 403 });
    }
    for (const own of ['localhost', '127.0.0.1', 'tidegate.example', 'TIDEGATE.example']) {
      expect(await ask(reached, { host: `${own}:${port}` }), own).toMatchObject({ status: 200 });
    }
  },
);

test('with a token nothing is served without it', async () => {
  const { url } = await served({ access: { names: [], token: 'secret' } });
  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
  for (const path of ['', 'page.js', 'live', 'nowhere']) {
    for (const authorization of ['', 'Bearer', 'Bearer wrong', 'secret', basic('secret:x')]) {
      expect(await ask(url + path, { authorization })).toMatchObject({ status: 401 });
    }
  }
  for (const authorization of ['Bearer secret', basic(':secret'), basic('me:secret')]) {
    expect(await ask(url, { authorization })).toMatchObject({ status: 200 });
  }
});

test('an address that cannot be read is a 400 and no error', async () => {
  const defects: unknown[] = [];
  const { url } = await served({ onDefect: (cause) => defects.push(cause) });
  for (const path of ['//', '//[', 'http://[']) {
    expect(await ask(url, { path }), path).toMatchObject({ status: 400 });
  }
  expect(defects).toEqual([]);
});

/** Opens a stream until it is closed, or the test ends. */
const openedStream = async (address: string) => {
  const asked = new AbortController();
  const answered = fetch(address, { signal: asked.signal });
  onTestFinished(() => {
    asked.abort();
    // Kept until then: a response that is collected as garbage closes its stream.
    void answered;
  });
  const { status, body } = await answered;
  return { status, body, close: () => asked.abort() };
};

test('one peer cannot take the places of all others', async () => {
  const { url } = await served({ address: { host: '0.0.0.0', port: 0 } });
  const { port } = new URL(url);
  const opened = async (host: string): Promise<number> =>
    (await openedStream(`http://${host}:${port}/live`)).status;
  const first = await Promise.all(Array.from({ length: 20 }, () => opened('127.0.0.1')));
  expect(first.filter((status) => status === 200).length).toBe(16);
  expect(first.filter((status) => status === 503).length).toBe(4);
});

test('each opened page is reported, with the number of open pages', async () => {
  const opened: number[] = [];
  const { url } = await served({ onOpened: (pages) => opened.push(pages) });
  for (const path of ['live', 'live?actor=nodeDrain/node-1', 'live']) {
    await openedStream(url + path);
  }
  expect(opened).toEqual([1, 2]);
});

/** Opens a page, which stays open; it is closed by the test or with it. */
const openedPage = (url: string) => openedStream(`${url}live`);

test('the open pages of a server share one drain board, and none is made without a page', async () => {
  const time = simulatedTime();
  const { board, listeners, move, readings } = boardOf({ leadership: {} });
  const { url } = await served({ board, time });
  const pages = [await openedPage(url), await openedPage(url)];
  expect(readings(), 'the actors for each page, and one drain board').toBe(2 + 1);
  move('leadership', 'leading.holding');
  await time.advance(1000);
  expect(readings()).toBe(3 + 1);
  for (const { close } of pages) close();
  await eventually(() => listeners.size === 0, { what: 'the pages to be closed' });
  move('leadership', 'standby');
  await time.advance(1000);
  expect(readings()).toBe(3 + 1);
});

test('a defect of the drain board ends all pages that show it, and not the process', async () => {
  const time = simulatedTime();
  const { board, move } = boardOf({ leadership: {} });
  const defects: unknown[] = [];
  const broken = new Error('no rows any more');
  let isBroken = false;
  const breaking: ActorBoard = {
    ...board,
    rows: () => {
      if (isBroken) throw broken;
      return board.rows();
    },
  };
  const onDefect = (cause: unknown): void => void defects.push(cause);
  const { url } = await served({ board: breaking, time, onDefect });
  const pages = await Promise.all([fetch(`${url}live`), fetch(`${url}live`)]);
  isBroken = true;
  move('leadership', 'leading.holding');
  await time.advance(1000);
  for (const page of pages) await expect(page.text()).rejects.toThrow();
  expect(defects).toEqual([broken, broken]);
  expect((await ask(url)).status).toBe(200);
});

test('a rendering defect ends the page, is reported, and does not end the process', async () => {
  const defects: unknown[] = [];
  const onDefect = (cause: unknown): void => void defects.push(cause);
  const broken = new Error('no rows');
  const board = {
    ...NOBODY,
    rows: () => {
      throw broken;
    },
  };
  const { url } = await served({ board, onDefect });
  await expect(ask(`${url}live`)).rejects.toThrow();
  expect([await ask(url).then(({ status }) => status), defects]).toEqual([200, [broken]]);
});

test('a defect that shows later ends the page as well', async () => {
  const time = simulatedTime();
  const defects: unknown[] = [];
  const listeners: ((id: string) => void)[] = [];
  const broken = new Error('no row');
  const board: ActorBoard = {
    ...NOBODY,
    row: () => {
      throw broken;
    },
    subscribe: (changed) => {
      listeners.push(changed);
      return () => {};
    },
  };
  const { url } = await served({ board, time, onDefect: (cause) => void defects.push(cause) });
  const page = await fetch(`${url}live`);
  for (const changed of listeners) changed('gate/a');
  await time.advance(200);
  await expect(page.text()).rejects.toThrow();
  expect(defects).toEqual([broken]);
});

test('an unavailable address is one sentence', async () => {
  const { url } = await served();
  const port = Number(new URL(url).port);
  const second = startInspectionServer({
    address: { host: '127.0.0.1', port },
    board: NOBODY,
    time: simulatedTime(),
    files: FILES,
    access: { names: [], token: undefined },
  });
  await expect(second).rejects.toThrow(
    new RegExp(`^Cannot listen on "127.0.0.1:${port}" for the live page: `),
  );
});
