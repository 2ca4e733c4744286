/** The types of pods that a plan tells apart (KEP-4212, `PodType`). */
import type { DrainPod } from '../drain/pod.ts';

/** In the order in which their pods leave. */
export const POD_TYPES = ['Default', 'DaemonSet', 'Static'] as const;
export type PodType = (typeof POD_TYPES)[number];

/** The type of this name; undefined for another text. */
export const podTypeNamed = (name: string | undefined): PodType | undefined =>
  POD_TYPES.find((type) => type === name);

/** The type of a pod: of a DaemonSet, the mirror of a static pod, or any other (NM-27). */
export const podTypeOf = (
  { mirror, controller }: Pick<DrainPod, 'mirror' | 'controller'>,
): PodType => {
  if (mirror) return 'Static';
  return controller?.kind === 'DaemonSet' ? 'DaemonSet' : 'Default';
};
