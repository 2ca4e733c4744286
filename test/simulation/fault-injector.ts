/**
 * Answers or holds some requests in place of the API server: the counterpart of the fault proxy of
 * tests on a real control plane.
 *
 * Promises: a request that was held is executed when it is released, as it was sent; a caller that
 * timed out meanwhile receives no answer.
 */
import type { KubeAnswer, KubeCall } from '../../src/effects/kube-api.ts';
import type { Arrival, RequestInterceptor } from './api-line.ts';

/** Which requests. */
export type Matches = (call: KubeCall) => boolean;

interface CannedAnswer {
  readonly matches: Matches;
  readonly answer: KubeAnswer;
  left: number;
}

/** Makes an injector that passes every request. */
export const faultInjector = () => {
  const canned: CannedAnswer[] = [];
  const held: { readonly call: KubeCall; readonly arrival: Arrival }[] = [];
  let holds: Matches | undefined;
  let answered = 0;
  const interceptor: RequestInterceptor = (call, arrival) => {
    const found = canned.find(({ matches, left }) => left > 0 && matches(call));
    if (found !== undefined) {
      found.left -= 1;
      answered += 1;
      arrival.answer(found.answer);
    } else if (holds?.(call) === true) held.push({ call, arrival });
    else arrival.pass();
  };
  return {
    interceptor,
    /** Answers the next `times` matching requests; all of them by default. */
    answer: (matches: Matches, answer: KubeAnswer, times = Infinity): void => {
      canned.push({ matches, answer, left: times });
    },
    /** Holds matching requests from now on. */
    hold: (matches: Matches): void => {
      holds = matches;
    },
    held: (): readonly KubeCall[] => held.map(({ call }) => call),
    /** How many requests were answered here. */
    answered: (): number => answered,
    /** Passes the held requests in the order of arrival, and every later one. */
    release: (): void => {
      holds = undefined;
      for (const { arrival } of held.splice(0)) arrival.pass();
    },
    /** Clears all faults and passes the held requests. */
    open: (): void => {
      canned.length = 0;
      holds = undefined;
      for (const { arrival } of held.splice(0)) arrival.pass();
    },
  };
};

/** The injector as scenarios use it. */
export type FaultInjector = ReturnType<typeof faultInjector>;
