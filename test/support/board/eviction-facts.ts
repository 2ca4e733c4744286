/** The facts of a pod that one budget covers and nothing else holds up. */
export const FACTS = {
  terminating: false,
  finalizers: false,
  kubeletSilent: false,
  intercepted: false,
  serving: false,
  need: { _tag: 'One', budget: 'ns/b' },
} as const;
