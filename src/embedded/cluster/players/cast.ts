/** All players of the embedded cluster together: what a control plane and its nodes do. */
import { startBudgets } from './budgets.ts';
import { startDaemonSets } from './daemon-sets.ts';
import { startDeployments } from './deployments.ts';
import { startGarbage } from './garbage.ts';
import { type Kubelets, startKubelets } from './kubelets.ts';
import { startNodeLife } from './node-life.ts';
import { startReplicaSets } from './replica-sets.ts';
import { startScheduler } from './scheduler.ts';
import type { Player, Stage } from './stage.ts';
import { startStatefulSets } from './stateful-sets.ts';

/** The players, and what can be done to them. */
export interface Cast extends Player {
  readonly kubelets: Kubelets;
}

/** Starts every player. */
export const startCast = (stage: Stage): Cast => {
  const kubelets = startKubelets(stage);
  const players: readonly Player[] = [
    startScheduler(stage),
    kubelets,
    startReplicaSets(stage),
    startDeployments(stage),
    startStatefulSets(stage),
    startDaemonSets(stage),
    startBudgets(stage),
    startNodeLife(stage),
    startGarbage(stage),
  ];
  return { kubelets, stop: () => players.forEach((player) => player.stop()) };
};
