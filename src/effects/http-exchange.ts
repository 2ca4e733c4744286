/**
 * One HTTP request with its whole answer, over an undici dispatcher.
 *
 * Promises: failures tell whether the request was sent. Until undici writes the request to a
 * connected socket nothing has happened (`NotSent`); from then on it may have been processed
 * (`AnswerLost`). `mayLeave` is called in the step that writes the first byte, after every wait for
 * a connection. An interrupted exchange is aborted on the socket.
 */
import { Effect } from 'effect';
import type { Dispatcher } from 'undici';
import { AnswerLost, type KubeFault, NotSent } from './kube-api.ts';
import { sentenceOf } from './api-credentials.ts';

/** The request. */
export interface Exchange {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  /** The largest answer; without it, what fits one string. */
  readonly answerBytesMax?: number;
  readonly mayLeave?: () => boolean;
}

/** The answer. */
export interface RawAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** The clock of the server, as it printed it. */
  readonly date: string | undefined;
  readonly text: string;
}

/** A larger answer does not fit one string. */
const ANSWER_BYTES_MAX = 400 * 1024 * 1024;

const HELD_BACK = 'the precondition of the request no longer holds';

/** The progress of an exchange. */
interface Progress {
  left: boolean;
  abandoned: boolean;
  isTooLarge: boolean;
  abort: ((why: Error) => void) | undefined;
}

const faultOf = (progress: Progress, why: string, cause?: unknown): KubeFault =>
  progress.left
    ? new AnswerLost({ why, cause, isTooLarge: progress.isTooLarge })
    : new NotSent({ why, cause });

/** The first value of a header. */
export const headerText = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

const collector = (
  progress: Progress,
  { mayLeave = () => true, answerBytesMax = ANSWER_BYTES_MAX }: Exchange,
  done: (answer: Effect.Effect<RawAnswer, KubeFault>) => void,
): Dispatcher.DispatchHandler => {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  let status = 0;
  let retryAfter: string | undefined;
  let date: string | undefined;
  return {
    onRequestStart: (controller) => {
      progress.abort = (why) => controller.abort(why);
      if (progress.abandoned || !mayLeave()) controller.abort(new Error(HELD_BACK));
      else progress.left = true;
    },
    onResponseStart: (_controller, statusCode, headers) => {
      status = statusCode;
      retryAfter = headerText(headers['retry-after']);
      date = headerText(headers['date']);
    },
    onResponseData: (controller, chunk) => {
      size += chunk.length;
      progress.isTooLarge = size > answerBytesMax;
      if (progress.isTooLarge) controller.abort(new Error('the answer is too large'));
      else text += decoder.decode(chunk, { stream: true });
    },
    onResponseEnd: () =>
      done(Effect.succeed({ status, retryAfter, date, text: text + decoder.decode() })),
    onResponseError: (_controller, error) =>
      done(Effect.fail(faultOf(progress, sentenceOf(error), error))),
  };
};

/** Sends `request` and waits for the last byte of the answer. */
export const exchange = (
  dispatcher: Dispatcher,
  request: Exchange,
): Effect.Effect<RawAnswer, KubeFault> =>
  Effect.suspend(() => {
    const progress: Progress = {
      left: false,
      abandoned: false,
      isTooLarge: false,
      abort: undefined,
    };
    const sent = Effect.callback<RawAnswer, KubeFault>((resume) => {
      try {
        dispatcher.dispatch({
          origin: request.origin,
          path: request.path,
          method: request.method,
          headers: { ...request.headers },
          body: request.body ?? null,
          headersTimeout: 0,
          bodyTimeout: 0,
        }, collector(progress, request, resume));
      } catch (cause) {
        resume(Effect.fail(new NotSent({ why: sentenceOf(cause), cause })));
      }
      return Effect.sync(() => {
        progress.abandoned = true;
        progress.abort?.(new Error('abandoned'));
      });
    });
    return Effect.timeoutOrElse(sent, {
      duration: request.timeoutMs,
      orElse: () => Effect.fail(faultOf(progress, `no answer within ${request.timeoutMs} ms`)),
    });
  });
