/**
 * The options about demand from pods, shared by `tidegate operator` and `tidegate pods`.
 *
 * Promises: an invalid selector is a problem at start and never selects nothing.
 */
import { readSelector } from '../domain/pod-demand/label-selector-text.ts';
import type { Labels } from '../domain/label-condition.ts';
import { file, type Kind, optional } from './option-kinds.ts';
import type { Decoded } from './options.ts';

/** The predicate on labels. */
export type Selects = (labels: Labels) => boolean;

/** A label selector in `kubectl -l` syntax. */
export const selector: Kind<Selects> = {
  placeholder: 'SELECTOR',
  read: (given) => {
    const reading = readSelector(given);
    return reading._tag === 'Selector' ? { _tag: 'Read', value: reading.selects } : {
      _tag: 'Unreadable',
      why: `it ${reading.problem}`,
      remedy: 'write conditions on labels such as "app=web,tier!=test"',
    };
  },
};

/** The options, by the name of their setting. */
export const POD_DEMAND_OPTIONS = {
  penaltyDefaultsFile: optional(file, {
    name: 'priority-class-defaults-file',
    help: 'Penalties by PriorityClass (YAML), for pods without the annotations; reloaded when ' +
      'it changes',
  }),
  podSelector: optional(selector, {
    name: 'pod-selector',
    help: 'Label selector of pods that count as demand; without it, all',
  }),
  namespaceSelector: optional(selector, {
    name: 'namespace-selector',
    help: 'Label selector of namespaces whose pods count as demand; without it, all',
  }),
} as const;

/** Which pods count, and the penalty defaults file. */
export interface PodSettings {
  readonly penaltyDefaultsFile: string | undefined;
  readonly selectsPod: Selects;
  readonly selectsNamespace: Selects | undefined;
}

/** The settings from the options. */
export const podPolicyOf = (options: Decoded<typeof POD_DEMAND_OPTIONS>): PodSettings => ({
  penaltyDefaultsFile: options.penaltyDefaultsFile,
  selectsPod: options.podSelector ?? (() => true),
  selectsNamespace: options.namespaceSelector,
});
