/** A Node as drains read it. */
import { type CordonFacts, cordonsIn } from './cordon.ts';
import { boundedText } from './cordon-limits.ts';
import { drainingStatus } from './drain-condition.ts';
import { ACKNOWLEDGED_KEY } from './kept-pods.ts';
import type { Identity } from '../facts.ts';
import { rawConditionOf } from '../condition.ts';
import { booleanAt, textAt } from '../json.ts';
import { annotationsOf, identityOf } from '../object-meta.ts';

/** The fields of a Node that a drain reads. */
export interface DrainedNode extends Identity, CordonFacts {
  readonly name: string;
  /** Its kubelet stopped reporting: Ready is `Unknown`. */
  readonly kubeletSilent: boolean;
  readonly paused: boolean;
  /** What its condition says: a drain that is or was blocked, or one that ended. */
  readonly showsDraining?: boolean;
  /** Which pods a person lets stay, as written there. */
  readonly acknowledged?: string;
}

const PAUSE_KEY = 'tidegate.dev/pause';

/** Reads a Node as the API server returns it. Total. */
export const projectDrainedNode = (raw: unknown): DrainedNode | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  const showsDraining = drainingStatus(raw);
  const acknowledged = annotationsOf(raw)[ACKNOWLEDGED_KEY];
  const ready = rawConditionOf(raw, 'Ready');
  return {
    ...identity,
    name: identity.key,
    unschedulable: booleanAt(raw, 'spec', 'unschedulable') === true,
    ...cordonsIn(annotationsOf(raw)),
    kubeletSilent: textAt(ready, 'status') === 'Unknown',
    paused: annotationsOf(raw)[PAUSE_KEY] === 'true',
    ...(showsDraining === undefined ? {} : { showsDraining }),
    ...(acknowledged === undefined ? {} : { acknowledged: boundedText(acknowledged) }),
  };
};
