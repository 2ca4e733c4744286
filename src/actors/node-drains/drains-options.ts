/** What the drains of a process follow, and what they act on. */
import type { DrainOwner } from '../../domain/drain/cordon.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { PlanTerms } from '../../domain/drain/plan.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import type { Informer } from '../informers/informer.ts';
import type { PodEvictions } from '../pod-evictions/pod-evictions.ts';
import type { LocalData } from './local-data.ts';
import type { MaintainedNodes } from './maintained-nodes.ts';
import type { DrainTargets } from './node-drain-actor.ts';

/** The inputs of drains. */
export interface DrainsOptions extends DrainTargets {
  readonly nodes: Pick<Informer<DrainedNode>, 'facts' | 'get' | 'values'>;
  readonly pods: Pick<Informer<DrainPod>, 'facts'>;
  /** Resolves once the Nodes are those of the cluster, as far as is known; at once if they are. */
  readonly whenNodesCurrent: () => Promise<void>;
  readonly whenPodsCurrent: () => Promise<void>;
  readonly evictions: Pick<
    PodEvictions,
    'want' | 'bringForward' | 'release' | 'statusOf' | 'progress' | 'changes' | 'progressed'
  >;
  /** The operator's own pod leaves last. */
  readonly own: PlanTerms['own'];
  /** `--tier-wait`. */
  readonly tierWaitMs?: number;
  /** Which pods are kept for their data; without it, none. */
  readonly localData?: Pick<LocalData, 'of' | 'changes'> | undefined;
  /** Whose drains other processes make. */
  readonly leavesTo?: readonly DrainOwner[];
  /** What maintenances drain; without it, all that their keys name. */
  readonly maintained?: Pick<MaintainedNodes, 'resumes' | 'of'>;
}
