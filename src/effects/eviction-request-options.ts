/** The options of the role evictions, and its settings. */
import type { InterceptorTiming } from '../domain/eviction-requests/interceptor-deadline.ts';
import { defaulted, duration, optional } from './option-kinds.ts';
import type { Decoded } from './options.ts';

/** The options of the role, by the name of the setting. */
export const EVICTION_REQUEST_OPTIONS = {
  interceptorDeadlineMs: defaulted(duration(1000), {
    name: 'interceptor-deadline',
    help: 'How long an interceptor may be silent before the next one takes over',
    default: '20m',
  }),
  interceptorWarningMs: defaulted(duration(1000), {
    name: 'interceptor-warning',
    help: 'How long an interceptor may be silent before a warning',
    default: '1m',
  }),
  evictionRequestTtlMs: optional(duration(1000), {
    name: 'eviction-request-ttl',
    help: 'How long a Canceled or Evicted EvictionRequest is kept; without it, nothing deletes it',
  }),
  clockSkewMs: defaulted(duration(1), {
    name: 'clock-skew',
    help: 'Difference of clocks that heartbeats of interceptors may have',
    default: '10s',
  }),
} as const;

/** The settings of the role. */
export interface EvictionSettings {
  readonly timing: InterceptorTiming;
  /** Null: EvictionRequests are never deleted. */
  readonly ttlMs: number | null;
}

/** The settings from the options. */
export const evictionPolicyOf = (
  options: Decoded<typeof EVICTION_REQUEST_OPTIONS>,
): EvictionSettings => ({
  timing: {
    deadlineMs: options.interceptorDeadlineMs,
    warningMs: options.interceptorWarningMs,
    skewMs: options.clockSkewMs,
  },
  ttlMs: options.evictionRequestTtlMs ?? null,
});
