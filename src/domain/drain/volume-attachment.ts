/** A VolumeAttachment as the end of a drain names it: which volume is still on which node. */
import type { Identity } from '../facts.ts';
import { textAt } from '../json.ts';
import { identityOf } from '../object-meta.ts';

/** What the cache keeps of a VolumeAttachment. */
export interface VolumeAttachment extends Identity {
  readonly node: string;
  /** The PersistentVolume; the attachment's own name for a volume that is written in a pod. */
  readonly volume: string;
}

/** Reads a VolumeAttachment as the API server gives it. Total. */
export const projectVolumeAttachment = (raw: unknown): VolumeAttachment | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  return {
    ...identity,
    node: textAt(raw, 'spec', 'nodeName') ?? '',
    volume: textAt(raw, 'spec', 'source', 'persistentVolumeName') ?? identity.key,
  };
};
