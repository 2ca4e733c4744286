/** Everything that is fuzzed. */
import type { FuzzTarget } from './fuzz-target.ts';
import { CAPACITY_REQUESTS } from './targets/capacity-requests.ts';
import { FRAMES } from './targets/frames.ts';
import { KUBECONFIGS } from './targets/kubeconfigs.ts';
import { NODES } from './targets/nodes.ts';
import { PODS } from './targets/pods.ts';
import { TEMPLATES } from './targets/templates.ts';

/** A target, and its share of all inputs. */
export interface FuzzShare {
  readonly target: FuzzTarget;
  readonly share: number;
}

/** All targets. A kubeconfig is read from a file, and nobody but its owner writes it. */
export const FUZZ_SHARES: readonly FuzzShare[] = [
  { target: FRAMES, share: 0.25 },
  { target: CAPACITY_REQUESTS, share: 0.2 },
  { target: NODES, share: 0.2 },
  { target: PODS, share: 0.15 },
  { target: TEMPLATES, share: 0.1 },
  { target: KUBECONFIGS, share: 0.1 },
];
