/** x */
import type { OwnAttack } from './attack.ts';

export const SHARD_ATTACKS: readonly OwnAttack[] = [];
