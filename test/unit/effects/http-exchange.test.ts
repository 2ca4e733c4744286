/** One HTTP request, on a dispatcher whose steps the test takes. */
import { Effect, Fiber, Result } from 'effect';
import { Dispatcher } from 'undici';
import { describe, expect, test } from 'vitest';
import { type Exchange, exchange } from '../../../src/effects/http-exchange.ts';

const REQUEST: Exchange = {
  method: 'GET',
  origin: 'https://api.example.com',
  path: '/version',
  headers: {},
  timeoutMs: 60_000,
};

type Handler = Dispatcher.DispatchHandler;

/** A dispatcher, and the steps of the one request that it gets. */
const scripted = () => {
  const aborted: string[] = [];
  let handler: Handler | undefined;
  const controller: Dispatcher.DispatchController = {
    aborted: false,
    paused: false,
    reason: null,
    rawHeaders: null,
    rawTrailers: null,
    abort: (why) => {
      aborted.push(why.message);
      handler?.onResponseError?.(controller, why);
    },
    pause: () => {},
    resume: () => {},
  };
  const steps = {
    starts: () => handler?.onRequestStart?.(controller, {}),
    answers: (status: number) => handler?.onResponseStart?.(controller, status, {}, 'OK'),
    sends: (bytes: Uint8Array) => handler?.onResponseData?.(controller, Buffer.from(bytes)),
    ends: () => handler?.onResponseEnd?.(controller, {}),
    fails: (why: string) => handler?.onResponseError?.(controller, new Error(why)),
  };
  class Scripted extends Dispatcher {
    override dispatch(_options: Dispatcher.DispatchOptions, given: Handler): boolean {
      handler = given;
      return true;
    }
  }
  return { dispatcher: new Scripted(), steps, aborted };
};

/** Sends the request and takes `steps`; the answer, or the failure. */
const outcome = async (
  take: (steps: ReturnType<typeof scripted>['steps']) => void,
  request: Partial<Exchange> = {},
) => {
  const { dispatcher, steps, aborted } = scripted();
  const fiber = Effect.runFork(Effect.result(exchange(dispatcher, { ...REQUEST, ...request })));
  take(steps);
  const result = await Effect.runPromise(Fiber.join(fiber));
  return { result: Result.isSuccess(result) ? result.success : result.failure, aborted };
};

describe('an exchange', () => {
  test('that fails before the request is written was not sent', async () => {
    const { result } = await outcome(({ fails }) => fails('connection refused'));
    expect(result).toMatchObject({ _tag: 'NotSent', why: 'connection refused' });
  });

  test('that fails once the request is written has lost its answer', async () => {
    const { result } = await outcome(({ starts, fails }) => {
      starts();
      fails('connection reset');
    });
    expect(result).toMatchObject({
      _tag: 'AnswerLost',
      why: 'connection reset',
      isTooLarge: false,
    });
  });

  test('whose precondition no longer holds when it could be written is not sent', async () => {
    const { result, aborted } = await outcome(({ starts }) => starts(), { mayLeave: () => false });
    expect(result).toMatchObject({ _tag: 'NotSent' });
    expect(aborted).toEqual(['the precondition of the request no longer holds']);
  });

  test('puts a character together whose bytes come apart', async () => {
    const [first = expect.fail(), ...rest] = new TextEncoder().encode('é');
    const { result } = await outcome(({ starts, answers, sends, ends }) => {
      starts();
      answers(200);
      sends(Uint8Array.of(first));
      sends(Uint8Array.from(rest));
      ends();
    });
    expect(result).toMatchObject({ status: 200, text: 'é' });
  });

  test('ends at the first byte that is too much', async () => {
    const { result, aborted } = await outcome(({ starts, answers, sends }) => {
      starts();
      answers(200);
      sends(new Uint8Array(4));
      sends(new Uint8Array(1));
    }, { answerBytesMax: 4 });
    expect(result).toMatchObject({ _tag: 'AnswerLost', isTooLarge: true });
    expect(aborted).toEqual(['the answer is too large']);
  });

  test('that is interrupted before it could be written is not sent', async () => {
    const { dispatcher, steps, aborted } = scripted();
    const fiber = Effect.runFork(exchange(dispatcher, REQUEST));
    await Effect.runPromise(Fiber.interrupt(fiber));
    expect(aborted).toEqual([]);
    steps.starts();
    expect(aborted).toEqual(['the precondition of the request no longer holds']);
  });

  test('that is interrupted while it waits for its answer is aborted', async () => {
    const { dispatcher, steps, aborted } = scripted();
    const fiber = Effect.runFork(exchange(dispatcher, REQUEST));
    steps.starts();
    await Effect.runPromise(Fiber.interrupt(fiber));
    expect(aborted).toEqual(['abandoned']);
  });
});
