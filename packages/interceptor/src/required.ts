/** Placeholders for the logic that a statechart declares and this package provides elsewhere. */
import { fromPromise, type PromiseActorLogic } from 'xstate';

/** Fails with its name until it is provided. */
export const required = <Output, Input>(name: string): PromiseActorLogic<Output, Input> =>
  fromPromise<Output, Input>(() => Promise.reject(new Error(`Actor "${name}" is not provided`)));
