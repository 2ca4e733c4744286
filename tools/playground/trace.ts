/**
 * What was fired in the playground, as the text of an address: `0.4!2.11!0.xstate.after.…`, the
 * place of the actor and that of the case, or the type of an event that has no case.
 */
import { ACTORS, CASES } from './actors.ts';
import type { EventCase } from './event-case.ts';
import { kindInId } from '../../src/api/actor-board.ts';

/** An event that was fired at an actor. */
export interface TraceStep {
  readonly actorId: string;
  readonly type: string;
  /** Undefined for an event that needs no payload. */
  readonly eventCase: EventCase | undefined;
}

/** Longer addresses are cut off by some programs. */
export const STEPS_MAX = 400;
const PARAMETER = 'trace';

const textOf = ({ actorId, type, eventCase }: TraceStep): string => {
  const actor = ACTORS.findIndex(({ id }) => id === actorId);
  const cases = CASES[kindInId(actorId)] ?? [];
  return `${actor}.${eventCase === undefined ? type : cases.indexOf(eventCase)}`;
};

const stepIn = (text: string): TraceStep | undefined => {
  const [, place = '', what = ''] = /^(\d+)\.(.+)$/.exec(text) ?? [];
  const actor = ACTORS[Number(place)];
  if (place === '' || actor === undefined) return undefined;
  if (!/^\d+$/.test(what)) return { actorId: actor.id, type: what, eventCase: undefined };
  const eventCase = CASES[kindInId(actor.id)]?.[Number(what)];
  return eventCase && { actorId: actor.id, type: eventCase.type, eventCase };
};

/** The steps of a text; those up to the first that cannot be read. */
export const traceIn = (text: string): readonly TraceStep[] => {
  const steps: TraceStep[] = [];
  for (const one of text.split('!').slice(0, STEPS_MAX)) {
    const step = stepIn(one);
    if (step === undefined) return steps;
    steps.push(step);
  }
  return steps;
};

/** The text of steps; empty without any. */
export const traceText = (steps: readonly TraceStep[]): string => steps.map(textOf).join('!');

/** The trace in the fragment of an address; empty without one. */
export const traceInHash = (hash: string): string =>
  new URLSearchParams(hash.split('?', 2)[1] ?? '').get(PARAMETER) ?? '';

/** The fragment with this trace. */
export const hashWithTrace = (hash: string, trace: string): string => {
  const [path = '', query = ''] = hash.split('?', 2);
  const asked = new URLSearchParams(query);
  asked.delete(PARAMETER);
  const others = asked.toString();
  const own = trace === '' ? '' : `${PARAMETER}=${encodeURIComponent(trace)}`;
  const both = [others, own].filter((part) => part !== '').join('&');
  return `${path === '' ? '#/' : path}${both === '' ? '' : `?${both}`}`;
};
