/** The trace behind ARCHITECTURE.md: instrumented code behaves the same, and causes are found. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Call,
  type CallTrace,
  causesOf,
  makeCallTrace,
} from '../../../tools/architecture/call-trace.ts';
import { instrumented, TRACE_NAME } from '../../../tools/architecture/instrumented-source.ts';

let trace: CallTrace;

beforeEach(() => {
  trace = makeCallTrace();
  Object.defineProperty(globalThis, TRACE_NAME, { value: trace, configurable: true });
});

afterEach(() => {
  Reflect.deleteProperty(globalThis, TRACE_NAME);
});

/** The exports of a module that reports its calls. */
const loaded = async (
  source: string,
): Promise<Record<string, (...given: unknown[]) => unknown>> => {
  const { text, functions } = instrumented('src/domain/x.ts', source, trace.functions.length);
  trace.functions.push(...functions);
  return await import(`data:text/javascript,${encodeURIComponent(text)}`);
};

const nameOf = ({ what }: Call): string => {
  if (typeof what === 'number') return trace.functions[what]?.name ?? '';
  return 'actor' in what ? what.event : what.message;
};

/** The causes of the last call of a function, nearest first, by the first cause of each. */
const chainOf = (name: string, calls: readonly Call[]): readonly string[] => {
  const chain: string[] = [];
  let call = calls.findLast((one) => nameOf(one) === name);
  for (; call !== undefined; [call] = causesOf(call)) chain.push(nameOf(call));
  return chain;
};

describe('code that reports its calls', () => {
  test.each([
    ['an arrow', 'export const run = () => 1;', 1],
    ['an arrow that gives a literal', 'export const run = () => ({ a: 1 });', { a: 1 }],
    [
      'arrows that give arrows',
      'const add = (a) => (b) => a + b; export const run = () => add(1)(2);',
      3,
    ],
    ['a block', 'export const run = () => { const a = 1; return a; };', 1],
    [
      'a declaration that is used before it',
      'export const run = () => f(); function f() { return 2; }',
      2,
    ],
    ['functions in defaults', 'export const run = (f = () => 3) => f();', 3],
    [
      'methods',
      'class A { #a = 4; get a() { return this.#a; } } export const run = () => new A().a;',
      4,
    ],
    [
      'subclasses',
      'class A { constructor() { this.a = 5; } } class B extends A { constructor() { super(); } } export const run = () => new B().a;',
      5,
    ],
    [
      'generators',
      'function* two() { const a = yield 1; yield* [a, 3]; } export const run = () => { const g = two(); g.next(); return [g.next(2).value, ...g]; };',
      [2, 3],
    ],
    [
      'what a generator cleans up',
      'let a = 0; function* f() { try { yield 1; } finally { a = 6; } } export const run = () => { for (const _ of f()) break; return a; };',
      6,
    ],
    [
      'async functions',
      'const f = async (a) => (await a) + 1; export const run = async () => await f(Promise.resolve(6));',
      7,
    ],
    [
      'async functions that throw',
      'const f = async () => { throw new Error("x"); }; export const run = () => f().catch((e) => e.message);',
      'x',
    ],
    ['text beyond ASCII', 'export const run = () => /* ä😀 */ "é";', 'é'],
  ])('behaves the same: %s', async (_title, source, wanted) => {
    const { run } = await loaded(source);
    expect(await run?.()).toEqual(wanted);
    expect(trace.current()).toBeUndefined();
  });

  test('keeps its line numbers', () => {
    const source = 'const a = (\n) => {\n  return b;\n};\n\nfunction* c() {\n  yield 1;\n}\n';
    const { text, functions } = instrumented('src/domain/x.ts', source, 0);
    expect(text.split('\n').length).toBe(source.split('\n').length);
    expect(functions).toEqual([
      { file: 'src/domain/x.ts', name: 'a', line: 1 },
      { file: 'src/domain/x.ts', name: 'c', line: 6 },
    ]);
  });
});

describe('the cause of a call', () => {
  test('is its caller', async () => {
    const { run } = await loaded(
      'const b = () => 1; const a = () => b(); export const run = () => a();',
    );
    run?.();
    expect(chainOf('b', trace.drain())).toEqual(['b', 'a', 'run']);
  });

  test('is its caller after the caller has awaited', async () => {
    const { run } = await loaded(
      'const b = () => 1; export const run = async () => { await null; b(); };',
    );
    await run?.();
    expect(chainOf('b', trace.drain())).toEqual(['b', 'run']);
  });

  test('is the enqueuing call, and then the one that drains the queue', async () => {
    const { put, empty } = await loaded(
      'const queue = []; const b = () => 1; export const put = () => queue.push(() => b());' +
        'export const empty = () => queue.forEach((run) => run());',
    );
    put?.();
    empty?.();
    const calls = trace.drain();
    expect(chainOf('b', calls)).toEqual(['b', 'put:1', 'put']);
    const queued = calls.find((call) => nameOf(call) === 'put:1');
    expect(queued && causesOf(queued).map(nameOf)).toEqual(['put', 'empty:1']);
  });

  test('is the caller of a closure that runs many times', async () => {
    const { subscribe, send } = await loaded(
      'let next; const b = () => 1; export const subscribe = () => { next = () => b(); };' +
        'export const send = () => next();',
    );
    subscribe?.();
    send?.();
    send?.();
    expect(chainOf('b', trace.drain())).toEqual(['b', 'subscribe:1', 'send']);
  });

  test('is the start of the turn for work that waited since an earlier one', async () => {
    const { wait, resume } = await loaded(
      'let resolve; const b = () => 1; export const resume = () => resolve();' +
        'export const wait = async () => { await new Promise((done) => { resolve = done; }); b(); };',
    );
    const waiting = wait?.();
    resume?.();
    await waiting;
    expect(chainOf('b', trace.drain())).toEqual(['b', 'wait', 'resume']);
  });

  test('is the sender of an event that an actor processes later', () => {
    let sender: Call | undefined;
    trace.step({ actor: 'nodeDrain/a', event: 'first' }, undefined, () => {
      trace.step({ actor: 'podEviction/b', event: 'second' }, undefined, () => {
        sender = trace.current();
      });
      trace.step({ actor: 'nodeDrain/a', event: 'third' }, sender, () => {});
    });
    expect(chainOf('third', trace.drain())).toEqual(['third', 'second', 'first']);
  });
});
