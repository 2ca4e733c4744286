/** All attacks, by attacker. */
import type { Attack, Attacker, OwnAttack } from './attack.ts';
import { KUBELET_ATTACKS } from './kubelet.ts';
import { NETWORK_ATTACKS } from './network.ts';
import { SHARD_ATTACKS } from './shard.ts';
import { TENANT_ATTACKS } from './tenant.ts';
import { VISITOR_ATTACKS } from './visitor.ts';

const by = (who: Attacker, attacks: readonly OwnAttack[]): readonly Attack[] =>
  attacks.map((attack) => ({ ...attack, who }));

/** In the order in which they are played. */
export const ATTACKS: readonly Attack[] = [
  ...by('tenant', TENANT_ATTACKS),
  ...by('shard', SHARD_ATTACKS),
  ...by('kubelet', KUBELET_ATTACKS),
  ...by('visitor', VISITOR_ATTACKS),
  ...by('network', NETWORK_ATTACKS),
];
