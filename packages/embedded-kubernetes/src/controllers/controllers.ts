/** All controllers of the embedded cluster: the control plane and the kubelets. */
import { startBudgets } from './budgets.ts';
import { startDaemonSets } from './daemon-sets.ts';
import { startDeployments } from './deployments.ts';
import { startGarbageCollector } from './garbage-collector.ts';
import { type Kubelets, startKubelets } from './kubelets.ts';
import { startNodeLifecycle } from './node-lifecycle.ts';
import { startOutOfService } from './out-of-service.ts';
import { startReplicaSets } from './replica-sets.ts';
import { startScheduler } from './scheduler.ts';
import type { Controller, ControllerEnvironment } from './controller-environment.ts';
import { startStatefulSets } from './stateful-sets.ts';

/** The running controllers and their controls. */
export interface Controllers extends Controller {
  readonly kubelets: Kubelets;
}

/** The environment of a program that names itself: the manager of what it writes. */
const named = (environment: ControllerEnvironment, agent: string): ControllerEnvironment => ({
  ...environment,
  call: (call) => environment.call({ agent, ...call }),
});

/** Starts every controller. */
export const startControllers = (cluster: ControllerEnvironment): Controllers => {
  const environment = named(cluster, 'kube-controller-manager');
  const kubelets = startKubelets(named(cluster, 'kubelet'));
  const all: readonly Controller[] = [
    startScheduler(named(cluster, 'kube-scheduler')),
    kubelets,
    startReplicaSets(environment),
    startDeployments(environment),
    startStatefulSets(environment),
    startDaemonSets(environment),
    startBudgets(environment),
    startNodeLifecycle(environment),
    startOutOfService(environment),
    startGarbageCollector(environment),
  ];
  return { kubelets, stop: () => all.forEach((controller) => controller.stop()) };
};
