/** The options of the role availability, and its settings. */
import { DEGRADED_CONDITIONS_DEFAULT } from '../domain/node-availability/available-node.ts';
import { STORM_LIMITS } from '../domain/node-availability/offline-storm.ts';
import type { DrainSettings } from './drain-settings.ts';
import { defaulted, duration, type Kind, whole } from './option-kinds.ts';
import type { Decoded } from './options.ts';

const CONDITION_TYPE = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z][-A-Za-z0-9_.]*$/;

/** Types of conditions, such as `MemoryPressure,DiskPressure`. */
const conditionTypes: Kind<readonly string[]> = {
  placeholder: 'TYPE,…',
  read: (given) => {
    const types = given.split(',').map((type) => type.trim());
    const bad = types.find((type) => !CONDITION_TYPE.test(type));
    return bad === undefined ? { _tag: 'Read', value: types } : {
      _tag: 'Unreadable',
      why: `"${bad}" is not a type of a condition`,
      remedy: 'write types such as MemoryPressure, separated by commas',
    };
  },
};

/** The options of the role, by the name of the setting. */
export const NODE_AVAILABILITY_OPTIONS = {
  offlineAfterMs: defaulted(duration(10_000), {
    name: 'offline-after',
    help: 'How long a Node that is not Ready may leave its Lease unrenewed before it is offline',
    default: '1m',
  }),
  offlineStormLimit: defaulted(whole(1, 100), {
    name: 'offline-storm-limit',
    help: 'Percentage of Nodes that may go offline within five minutes; of more than three ' +
      'beyond it no pod is deleted; 100 turns this guard off',
    default: `${STORM_LIMITS.percent}`,
  }),
  degradedBy: defaulted(conditionTypes, {
    name: 'degraded-conditions',
    help: 'Conditions that make a Node degraded when they are True',
    default: DEGRADED_CONDITIONS_DEFAULT.join(', '),
  }),
  degradedAfterMs: defaulted(duration(1000), {
    name: 'degraded-after',
    help: 'How long such a condition must last before the Node is degraded',
    default: '30s',
  }),
  cleanAfterMs: defaulted(duration(1000), {
    name: 'degraded-clear-after',
    help: 'How long a degraded Node must be without such a condition before it is active again',
    default: '1m',
  }),
} as const;

/** The settings of the role. */
export interface NodeAvailabilitySettings {
  readonly policy: {
    readonly offlineAfterMs: number;
    readonly degradedAfterMs: number;
    readonly cleanAfterMs: number;
    readonly degradedBy: readonly string[];
    readonly stormLimitPercent: number;
  };
  /** How disabled Nodes drain. */
  readonly drains: DrainSettings;
}

/** The settings from the options. */
export const nodeAvailabilitySettings = (
  options: Decoded<typeof NODE_AVAILABILITY_OPTIONS>,
  drains: DrainSettings,
): NodeAvailabilitySettings => ({
  policy: {
    offlineAfterMs: options.offlineAfterMs,
    degradedAfterMs: options.degradedAfterMs,
    cleanAfterMs: options.cleanAfterMs,
    degradedBy: options.degradedBy,
    stormLimitPercent: options.offlineStormLimit,
  },
  drains,
});
