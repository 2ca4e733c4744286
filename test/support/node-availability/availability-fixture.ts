/** Nodes and pods of tests about Nodes that fail. */
import { objectKey, resourceVersion, uid } from '../../../src/domain/ids.ts';
import type { LostPod } from '../../../src/domain/node-availability/lost-pods.ts';
import type {
  AvailabilityLabel,
  AvailableNode,
} from '../../../src/domain/node-availability/node-state.ts';
import type { ReplacedPod } from '../../../src/machines/node-availability-context.ts';

/** How a Node differs from one that is active. */
export interface NodeTraits
  extends Partial<Pick<AvailableNode, 'readyStatus' | 'problem' | 'isDisabled' | 'isDraining'>> {
  readonly label?: AvailabilityLabel;
  readonly isTainted?: boolean;
  readonly isConfirmedGone?: boolean;
  readonly isConfirmedByCommand?: boolean;
}

/** A Node of that version. */
export const nodeWith = (
  version: string,
  { label, isTainted, isConfirmedGone, isConfirmedByCommand, ...traits }: NodeTraits = {},
): AvailableNode => ({
  key: objectKey('node-1'),
  name: 'node-1',
  uid: uid('node-1'),
  resourceVersion: resourceVersion(version),
  readyStatus: 'True',
  problem: 'Absent',
  isDisabled: false,
  wasDisabled: false,
  isDraining: false,
  ...traits,
  availability: {
    label: label ?? null,
    isTainted: isTainted === true,
    isConfirmedGone: isConfirmedGone === true,
    isConfirmedByCommand: isConfirmedByCommand === true,
  },
  taints: [],
});

/** A stateless pod with a claim. */
export const podOn = (node: string, name: string, version = '1'): LostPod => ({
  key: objectKey(name, 'default'),
  uid: uid(name),
  resourceVersion: resourceVersion(version),
  namespace: 'default',
  name,
  node,
  podClass: 'Stateless',
  claims: ['data'],
  showsHomeOffline: false,
});

/** A stateless pod to replace. */
export const lostPod = (name: string): ReplacedPod => ({
  namespace: 'default',
  name,
  uid: uid(`uid-${name}`),
});
