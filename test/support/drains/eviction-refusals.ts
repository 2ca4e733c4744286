/** Answers of the API server that refuse an eviction. */
import type { KubeAnswer } from '../../../src/effects/kube-api.ts';

/** A refusal by status, as the API server writes it. */
export const refusal = (
  code: number,
  message: string,
  more: { readonly cause?: string; readonly causeMessage?: string; readonly details?: object } = {},
): KubeAnswer => ({
  status: code,
  body: {
    kind: 'Status',
    status: 'Failure',
    code,
    message,
    details: {
      ...more.details,
      causes: more.cause === undefined
        ? []
        : [{ reason: more.cause, message: more.causeMessage ?? message }],
    },
  },
});

/** No slot of the budget is free. */
export const NO_SLOT = refusal(
  429,
  "Cannot evict pod as it would violate the pod's disruption budget.",
  {
    cause: 'DisruptionBudget',
    causeMessage: 'The disruption budget needs more healthy pods',
  },
);
/** The budget changed, and its controller has not observed it yet. */
export const NOT_PROCESSED: KubeAnswer = { ...NO_SLOT, retryAfterSeconds: 10 };
