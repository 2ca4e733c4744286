/** Where the answer of an act goes: an action takes it, and a state reads it. */

/**
 * `onDone` and `onError` of acts that answer with an `Output`: `action` takes what it was, a fault
 * when the act broke, and `target` reads it.
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
