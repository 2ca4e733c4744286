/** Declared, not implemented: what a statechart needs done, which `src/actors/` provides. */
import { fromPromise, type PromiseActorLogic } from 'xstate';

/** Logic that fails by name until somebody provides it. */
export const required = <Output, Input>(name: string): PromiseActorLogic<Output, Input> =>
  fromPromise<Output, Input>(() => Promise.reject(new Error(`Actor "${name}" is not provided`)));
