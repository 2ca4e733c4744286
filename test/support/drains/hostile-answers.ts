/** Hostile responses to evictions, by pod name. */
import type { KubeAnswer } from '../../../src/effects/kube-api.ts';

/** A response in the API server's terms. */
export const failure = (status: number, more: object = {}): KubeAnswer => ({
  status,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, ...more },
});

const withRetryAfter = (answer: KubeAnswer): KubeAnswer => ({ ...answer, retryAfterSeconds: 1 });

/**
 * Pods whose evictions always get this response, and the reason that each must be reported with.
 */
export const REFUSED: Readonly<
  Record<string, { readonly answer: KubeAnswer; readonly reason: string }>
> = {
  hook: {
    answer: failure(429, {
      message: 'admission webhook "keep.example.com" denied the request: no',
    }),
    reason: 'PolicyRefused',
  },
  pair: {
    answer: failure(500, {
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource ' +
        'does not support.',
    }),
    reason: 'TwoBudgets',
  },
  broken: {
    answer: failure(403, { message: 'pod disruption budget disruptions allowed is negative' }),
    reason: 'BudgetBroken',
  },
  odd: { answer: failure(418, { message: 'I am a teapot' }), reason: 'EvictionRefused' },
  failing: { answer: failure(503, { message: 'not now' }), reason: 'EvictionFailing' },
};

/** Pods whose first eviction gets this response; then they leave. */
export const TROUBLED: Readonly<Record<string, KubeAnswer>> = {
  conflict: failure(409, { message: 'the object has been modified' }),
  internal: failure(500, { message: 'something went wrong' }),
  unknown: failure(504, { message: 'Timeout: request did not complete' }),
  throttled: withRetryAfter(failure(429, { message: 'too many' })),
  unsettled: withRetryAfter(
    failure(429, {
      message: 'Cannot evict pod',
      details: { causes: [{ reason: 'DisruptionBudget' }] },
    }),
  ),
  stranger: failure(401, { message: 'Unauthorized' }),
};
