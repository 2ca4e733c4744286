/** The NodeMaintenance by which `tidegate drain NODE` drains a node. */
import { selectorKey } from '../../domain/label-selector.ts';
import type { ObservedMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import type { NewMaintenance } from '../../effects/maintenance-objects.ts';
import type { DrainQuestion } from '../drain-node/drain-node-request.ts';
import { DRAIN_LABEL } from '../drain-node/drain-node-watch.ts';
import { namedNodes } from './maintenance-question.ts';

/** One for each node, so that a second run finds it. */
export const maintenanceOf = (node: string): string => `drain-${node}`;

/** Which pods leave, and how: what must be the same to go on with an earlier run. */
export type DrainTerms = Pick<DrainQuestion, 'podConditions' | 'graceSeconds'>;

/** What is created. Pods of DaemonSets stay, as with kubectl. */
export const newMaintenance = (
  node: string,
  { podConditions, graceSeconds }: DrainTerms,
): NewMaintenance => ({
  metadata: { name: maintenanceOf(node), labels: DRAIN_LABEL },
  spec: {
    nodeSelector: namedNodes([node]),
    stage: 'Drain',
    podTypes: ['Default'],
    ...(podConditions.length === 0 ? {} : { podSelector: { matchExpressions: podConditions } }),
    ...(graceSeconds === null ? {} : { gracePeriodSeconds: graceSeconds }),
    reason: `tidegate drain ${node}`,
  },
});

/** Whether the pods of both are the same, and leave alike. */
export const hasTerms = (
  { spec }: Pick<ObservedMaintenance, 'spec'>,
  { podConditions, graceSeconds }: DrainTerms,
): boolean =>
  selectorKey(spec.podSelector ?? []) === selectorKey(podConditions) &&
  spec.gracePeriodSeconds === graceSeconds;

/** True once the operator has cordoned the node: only then its status has targets. */
export const isAtWork = ({ status }: ObservedMaintenance, node: string): boolean =>
  status.nodes.some(({ name, drainTargets }) => name === node && drainTargets.length > 0);

/** All pods that it names are gone. */
export const isDrained = ({ status, generation }: ObservedMaintenance): boolean =>
  status.observedGeneration >= generation &&
  status.conditions.some(({ type, status: holds }) => type === 'Drained' && holds === 'True');

/** Its nodes are being released: nothing leaves by it any more. */
export const isEnding = ({ deleting, spec }: ObservedMaintenance): boolean =>
  deleting || spec.stage === 'Complete';
