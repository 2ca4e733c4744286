/** JSON views of machines, clusters and sessions for scripts. */
import type { FleetMachine } from './inventory.ts';
import type { FleetMachineState } from './machine.ts';
import type { Script } from './script.ts';

/** A machine as JSON. */
export const machineView = (machine: FleetMachine) => ({
  id: machine.id,
  state: machine.state,
  cluster: machine.cluster,
  need: machine.need,
  providerId: machine.providerId,
  lastError: machine.lastError,
  held: machine.held,
  labels: machine.kind.labels,
  resources: machine.kind.resources,
});

const byState = (
  machines: Iterable<FleetMachine>,
): Readonly<Partial<Record<FleetMachineState, number>>> => {
  const counts: Partial<Record<FleetMachineState, number>> = {};
  for (const { state } of machines) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
};

/** A summary of everything. */
export const overview = ({ shard, admission }: Script) => ({
  cycles: shard.cycles,
  machines: { total: shard.inventory.size(), byState: byState(shard.inventory.values()) },
  clusters: [...shard.clusters.values()].map((cluster) => ({
    id: cluster.id,
    needs: cluster.needs?.length ?? null,
    satisfiedNeeds: cluster.satisfied.size,
    doubtStreak: cluster.doubtStreak,
    liveSession: cluster.live?.report().number ?? null,
    machines: byState(
      [...shard.inventory.boundTo(cluster.id)].flatMap((id) => shard.inventory.get(id) ?? []),
    ),
  })),
  sessions: [...shard.sessions.values()].map((session) => session.report()),
  rollups: shard.rollups.records.total(),
  bootstraps: {
    open: shard.bootstraps.open().length,
    answered: shard.bootstraps.answered.total(),
  },
  reclaims: { sent: shard.reclaims.total(), acks: shard.reclaimAcks.total() },
  faults: { ...shard.rollups.faults, refuseSessions: admission.refuse },
  timing: shard.timing,
});
