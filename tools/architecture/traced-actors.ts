/**
 * Traces each event of a statechart as a call caused by its sender, also when the event had to wait
 * in the mailbox.
 */
import { Actor } from 'xstate';
import type { Call, CallTrace } from './call-trace.ts';

type Method = (this: unknown, ...given: readonly unknown[]) => unknown;

const propertyOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

const textOf = (value: unknown, name: string): string | undefined => {
  const text = propertyOf(value, name);
  return typeof text === 'string' ? text : undefined;
};

/** Only statecharts have an id in their logic. */
const isStatechart = (actor: unknown): boolean =>
  textOf(propertyOf(actor, 'logic'), 'id') !== undefined;

/** Replaces a method of XState's actors; its names are those of the pinned version. */
const wrapMethod = (
  name: string,
  wrap: (actor: unknown, event: unknown, run: () => unknown) => unknown,
): void => {
  const original: unknown = Reflect.get(Actor.prototype, name);
  if (typeof original !== 'function') throw new Error(`Cannot trace actors: no method "${name}"`);
  const wrapped: Method = function (...given) {
    const run = (): unknown => Reflect.apply(original, this, given);
    return isStatechart(this) ? wrap(this, given[0], run) : run();
  };
  Reflect.set(Actor.prototype, name, wrapped);
};

/** The event by which the trace recognizes the start of an actor. */
export const START = 'start';

/** Traces every statechart of this process. */
export const traceActors = (trace: CallTrace): void => {
  const senders = new WeakMap<object, Call>();
  wrapMethod('_send', (_actor, event, run) => {
    const sender = trace.current();
    if (sender !== undefined && typeof event === 'object' && event !== null) {
      senders.set(event, sender);
    }
    return run();
  });
  wrapMethod('_process', (actor, event, run) => {
    const sender = typeof event === 'object' && event !== null ? senders.get(event) : undefined;
    const step = { actor: textOf(actor, 'id') ?? '', event: textOf(event, 'type') ?? '' };
    return trace.step(step, sender, run);
  });
  wrapMethod(
    'start',
    (actor, _event, run) =>
      trace.step({ actor: textOf(actor, 'id') ?? '', event: START }, undefined, run),
  );
};
