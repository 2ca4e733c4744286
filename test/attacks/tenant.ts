/** x */
import type { OwnAttack } from './attack.ts';

export const TENANT_ATTACKS: readonly OwnAttack[] = [];
