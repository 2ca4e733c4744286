/** Answers that several statecharts share: failures on the way, and refusals. */
import { textAt } from '../../../src/domain/json.ts';
import type { Order } from './fault-line.ts';
import type { PathStep, RunEnvironment, StepSource } from './cluster-harness.ts';

const tagIn = (event: PathStep['event']): string | undefined => textAt(event, 'output', '_tag');

type Way = Pick<RunEnvironment, 'site' | 'line' | 'number'>;

const AWAY = { kind: 'refuse', status: 503, message: 'try again' } as const;

/** After a refused connection, writes pause: few paths have the time. */
const AWAY_EVERY = 16;

/** A request that is passed on as it is, before others that are not. */
export const PASSED: Order = { kind: 'after', act: () => Promise.resolve() };

/** A request that is lost without effect, in one of two ways. */
export const lostRequest = (number: number): Order =>
  number % 2 === 0 ? { kind: 'cut', done: false } : AWAY;

/** Loses the next request, in one of three ways, without effect. */
export const loseRequest = async ({ line, number }: Way): Promise<StepSource> => {
  if (number % AWAY_EVERY === 0) await line.disconnect();
  else line.order(lostRequest(number));
  return 'line';
};

/** Loses the answer to the next request, which is still applied. */
export const loseAnswer = ({ line }: Pick<RunEnvironment, 'line'>): StepSource => {
  line.order({ kind: 'cut', done: true });
  return 'line';
};

/**
 * True when a creation, or an apply that may be one, fails and the next event reports that the same
 * one succeeded: then the failed request may have been applied and only its answer lost.
 */
export const mayBeDone = ({ event, rest }: PathStep): boolean => {
  if (!/^xstate\.done\.actor\.(create|join)/.test(event.type)) return false;
  const next = rest.find((step) => /^(object|request)\.|^xstate\.done\./.test(step.event.type));
  return next?.event.type === event.type && tagIn(next.event) === 'Written';
};

/** Has the next request refused permanently: as another user's, where the server knows users. */
export const refuseRequest = ({ site, line }: Way): StepSource => {
  if (site.strangerToken === '') {
    line.order({ kind: 'refuse', status: 403, message: 'User "x" cannot do that' });
    return 'line';
  }
  line.order({ kind: 'disguise', authorization: `Bearer ${site.strangerToken}` });
  return 'server';
};
