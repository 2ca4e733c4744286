/**
 * Somebody at the API server's door who answers some requests in its place, or keeps them waiting:
 * what the fault proxy is to the tests on a real control plane.
 *
 * Promises: a request that is let in later is done then, as it was asked; whoever gave up meanwhile
 * hears nothing of it.
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

/** The door, open. */
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
    /** Answers the next `times` such requests; all of them, when nothing is said. */
    answer: (matches: Matches, answer: KubeAnswer, times = Infinity): void => {
      canned.push({ matches, answer, left: times });
    },
    /** Keeps such requests waiting from now on. */
    hold: (matches: Matches): void => {
      holds = matches;
    },
    held: (): readonly KubeCall[] => held.map(({ call }) => call),
    /** How many requests were answered here. */
    answered: (): number => answered,
    /** Lets in who waits, in the order of coming, and everybody after them. */
    release: (): void => {
      holds = undefined;
      for (const { arrival } of held.splice(0)) arrival.pass();
    },
    /** No more of anything. */
    open: (): void => {
      canned.length = 0;
      holds = undefined;
      for (const { arrival } of held.splice(0)) arrival.pass();
    },
  };
};

/** The door as stories hold it. */
type FaultInjector = ReturnType<typeof faultInjector>;
