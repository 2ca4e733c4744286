/** Handles the answer of an invoked actor: an action stores it, and a state evaluates it. */

/**
 * `onDone` and `onError` of actors that answer with an `Output`: `action` stores the outcome, a
 * fault when the actor threw, and `target` evaluates it.
 */
export const answersOf =
  <Output>() =>
  <const Target extends string, const Action extends string>(target: Target, action: Action) => ({
    onDone: {
      target,
      actions: {
        type: action,
        params: ({ event }: { readonly event: { readonly output: Output } }) => event.output,
      },
    },
    onError: {
      target,
      actions: {
        type: action,
        params: ({ event }: { readonly event: { readonly error: unknown } }) => ({
          _tag: 'Fault' as const,
          why: String(event.error),
        }),
      },
    },
  });
