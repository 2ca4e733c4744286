/** A VolumeAttachment as the end of a drain reports it: which volume is still on which node. */
import type { Identity } from '../facts.ts';
import { textAt } from '../json.ts';
import { identityOf } from '../object-meta.ts';

/** The cached fields of a VolumeAttachment. */
export interface VolumeAttachment extends Identity {
  readonly node: string;
  /** The PersistentVolume; for an inline volume, the attachment's own name. */
  readonly volume: string;
}

/** Reads a VolumeAttachment as the API server returns it. Total. */
export const projectVolumeAttachment = (raw: unknown): VolumeAttachment | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  return {
    ...identity,
    node: textAt(raw, 'spec', 'nodeName') ?? '',
    volume: textAt(raw, 'spec', 'source', 'persistentVolumeName') ?? identity.key,
  };
};
