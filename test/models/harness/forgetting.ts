/** A machine that forgets a fact: it hears one kind of event and keeps nothing of it. */
import { type AnyStateMachine, createMachine } from 'xstate';
import { statesBelow, transitionsOf } from './coverage.ts';

/**
 * The machine without what it would store or decide on events of this type. A timer or an answer is
 * named by the end of its type, such as `actor.queueAck`.
 */
export const forgetting = (machine: AnyStateMachine, type: string): AnyStateMachine => {
  const { config, implementations } = machine;
  const forgetful: AnyStateMachine = createMachine({ ...config }, implementations);
  const transitions = statesBelow(forgetful.root).flatMap(transitionsOf)
    .filter(({ eventType }) => String(eventType) === type);
  if (transitions.length === 0) throw new Error(`${machine.id} never hears "${type}"`);
  for (const transition of transitions) {
    if (transition.actions.length > 0) Object.assign(transition, { actions: [] });
    else Object.assign(transition, { target: undefined });
  }
  return forgetful;
};
