/** The options of the role evictions, and its settings. */
import type { InterceptorTiming } from '../domain/eviction-requests/interceptor-deadline.ts';
import {
  EVICTIONS_APIS,
  type EvictionsApiOption,
} from '../domain/native-evictions/evictions-api.ts';
import { SURGE } from '../domain/eviction-requests/qualified-name.ts';
import type { RoleName } from '../domain/operator-roles.ts';
import { choice, defaulted, duration, optional } from './option-kinds.ts';
import type { Decoded } from './options.ts';

const NO_DEFAULTS = 'none';

/** Values of `--default-interceptors`. */
export const DEFAULT_INTERCEPTORS = [SURGE, NO_DEFAULTS] as const;

/** Values of `--without-surge`. */
const WITHOUT_SURGE = ['evict', 'wait'] as const;

/** The options of the role, by the name of the setting. */
export const EVICTION_REQUEST_OPTIONS = {
  evictionsApi: defaulted(choice(EVICTIONS_APIS), {
    name: 'eviction-request-api',
    help: 'Which API has the requests: tidegate (lifecycle.tidegate.dev), native ' +
      '(lifecycle.k8s.io of Kubernetes), or auto: native where only that is served',
    default: 'auto',
  }),
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
  defaultInterceptors: optional(choice(DEFAULT_INTERCEPTORS), {
    name: 'default-interceptors',
    help:
      'Interceptors of pods whose Deployment would lose availability, besides those that they ' +
      `register; without it, ${SURGE} with the role interceptors, else ${NO_DEFAULTS}`,
  }),
  withoutSurge: defaulted(choice(WITHOUT_SURGE), {
    name: 'without-surge',
    help:
      'What becomes of a pod whose Deployment allows no replacement beside it, by its strategy ' +
      'or volume: evict, within its budgets, or wait until a person accepts the downtime',
    default: 'evict',
  }),
} as const;

/** The interceptors that pods have by default: those that this process runs, or a person names. */
export const defaultInterceptorsOf = (
  { defaultInterceptors }: Pick<Decoded<typeof EVICTION_REQUEST_OPTIONS>, 'defaultInterceptors'>,
  roles: readonly RoleName[],
): readonly string[] => {
  const name = defaultInterceptors ?? (roles.includes('interceptors') ? SURGE : NO_DEFAULTS);
  return name === NO_DEFAULTS ? [] : [name];
};

/** The settings of the role. */
export interface EvictionSettings {
  readonly timing: InterceptorTiming;
  /** Null: EvictionRequests are never deleted. */
  readonly ttlMs: number | null;
  readonly api: EvictionsApiOption;
  readonly defaultInterceptors: readonly string[];
}

/** The settings of the role interceptors. */
export interface InterceptorSettings {
  readonly withoutSurge: (typeof WITHOUT_SURGE)[number];
}

/** The settings from the options. */
export const evictionPolicyOf = (
  options: Decoded<typeof EVICTION_REQUEST_OPTIONS>,
  roles: readonly RoleName[],
): EvictionSettings => ({
  timing: {
    deadlineMs: options.interceptorDeadlineMs,
    warningMs: options.interceptorWarningMs,
    skewMs: options.clockSkewMs,
  },
  ttlMs: options.evictionRequestTtlMs ?? null,
  api: options.evictionsApi,
  defaultInterceptors: defaultInterceptorsOf(options, roles),
});
