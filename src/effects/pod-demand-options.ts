/**
 * The options about pods as demand, which the operator and the role of its own have in common.
 *
 * Promises: a selector that cannot be read is a problem at start, never one that selects nothing.
 */
import { readSelector } from '../domain/pod-demand/label-selector-text.ts';
import type { Labels } from '../domain/label-condition.ts';
import { file, type Kind, optional } from './option-kinds.ts';
import type { Decoded } from './options.ts';

/** Which labels are meant. */
export type Selects = (labels: Labels) => boolean;

/** A label selector, as `kubectl -l` has it. */
const selector: Kind<Selects> = {
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
    help: 'Penalties by PriorityClass (YAML), for pods without the annotations; read again when ' +
      'it changes',
  }),
  podSelector: optional(selector, {
    name: 'pod-selector',
    help: 'Pods that count as demand, by their labels; without it, all',
  }),
  namespaceSelector: optional(selector, {
    name: 'namespace-selector',
    help: 'Namespaces whose pods count as demand, by their labels; without it, all',
  }),
} as const;

/** Which pods count, and where the penalties of classes are. */
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
