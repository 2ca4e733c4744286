/**
 * Intercepts requests to the API server: answers or delays them, like the fault proxy of the tests
 * on a real control plane.
 *
 * Promises: a delayed request is processed unchanged when it is released; a caller that gave up
 * meanwhile gets no answer.
 */
import type { KubeAnswer, KubeCall } from '../../src/effects/kube-api.ts';
import type { Arrival, RequestInterceptor } from './api-line.ts';

/** Selects requests. */
export type Matches = (call: KubeCall) => boolean;

interface CannedAnswer {
  readonly matches: Matches;
  readonly answer: KubeAnswer;
  left: number;
}

/** The interceptor, passing everything. */
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
    /** Delays matching requests from now on. */
    hold: (matches: Matches): void => {
      holds = matches;
    },
    held: (): readonly KubeCall[] => held.map(({ call }) => call),
    /** The number of intercepted requests. */
    answered: (): number => answered,
    /** Releases delayed requests in order, and passes all later ones. */
    release: (): void => {
      holds = undefined;
      for (const { arrival } of held.splice(0)) arrival.pass();
    },
    /** Ends all faults. */
    open: (): void => {
      canned.length = 0;
      holds = undefined;
      for (const { arrival } of held.splice(0)) arrival.pass();
    },
  };
};

/** The interceptor for scenarios. */
type FaultInjector = ReturnType<typeof faultInjector>;
