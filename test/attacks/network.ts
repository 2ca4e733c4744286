/** x */
import type { OwnAttack } from './attack.ts';

export const NETWORK_ATTACKS: readonly OwnAttack[] = [];
