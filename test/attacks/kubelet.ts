/** x */
import type { OwnAttack } from './attack.ts';

export const KUBELET_ATTACKS: readonly OwnAttack[] = [];
