/**
 * Maintenances over nodes whose pods move under budgets: a scheduler, budgets and evictions, step
 * by step, without time. Nodes have room for every pod: only cordons and placements hold pods back.
 */
import { maintenanceOwner } from '../../../src/domain/drain/cordon.ts';
import type { DrainPod } from '../../../src/domain/drain/pod.ts';
import {
  maintenanceProgress,
  NO_PROGRESS,
  type ProgressMemory,
} from '../../../src/domain/node-maintenance/maintenance-progress.ts';
import {
  holdsNode,
  isTargetedBy,
  storedTargets,
} from '../../../src/domain/node-maintenance/node-status.ts';
import type { ObservedMaintenance } from '../../../src/domain/node-maintenance/observed-maintenance.ts';
import {
  projectUnschedulablePod,
  type UnschedulablePod,
} from '../../../src/domain/node-maintenance/unschedulable-pod.ts';
import { type Draw, drawOne } from '../draws.ts';
import { budgetOf, podOf } from '../drains/drain-facts.ts';
import { maintenanceOf } from './maintenance-fixture.ts';

/** Replicas of one app: where each is, or `null` while it is pending. */
export interface CrossedApp {
  readonly name: string;
  readonly minAvailable: number;
  /** Nodes that it may run on. */
  readonly places: readonly string[];
  readonly replicas: (string | null)[];
}

/** A maintenance of the cluster, the older ones first. */
export interface CrossedMaintenance {
  readonly name: string;
  readonly nodes: readonly string[];
  /** Apps whose pods leave first. */
  readonly first?: string;
}

/** What a cluster begins with. */
export interface CrossedPlan {
  readonly nodes: readonly string[];
  readonly apps: readonly CrossedApp[];
  readonly maintenances: readonly CrossedMaintenance[];
}

const maintenanceIn = ({ name, first }: CrossedMaintenance, age: number): ObservedMaintenance => ({
  ...maintenanceOf('1', {
    name,
    uid: `${name}-0000-0000-0000`,
    stage: 'Drain',
    isProtected: true,
    spec: {
      drainPlan: first === undefined
        ? []
        : [{ podPriority: 0, podSelector: { matchLabels: { app: first } } }],
    },
  }),
  createdMs: age,
});

/** A cluster in motion. */
export class CrossedCluster {
  readonly plan: CrossedPlan;
  readonly #draw: Draw;
  #maintenances: ObservedMaintenance[];
  #memory: ProgressMemory = NO_PROGRESS;
  /** Maintenances whose work is over: completed. */
  readonly ended: string[] = [];
  /** What the crossings showed, in order, each once. */
  readonly texts: string[] = [];
  /** Nodes that yielded, in order. */
  readonly yielded: string[] = [];
  /** A budget had fewer healthy pods than it demands. */
  isViolated = false;

  constructor(plan: CrossedPlan, draw: Draw) {
    this.plan = plan;
    this.#draw = draw;
    this.#maintenances = plan.maintenances.map(maintenanceIn);
  }

  get isOver(): boolean {
    return this.#maintenances.length === 0;
  }

  /** Where every pod is, for a message. */
  readonly text = (): string =>
    JSON.stringify({
      apps: this.plan.apps,
      left: this.#maintenances.map(({ name, status }) => ({
        name,
        nodes: status.nodes.map((node) => `${node.name} ${node.state} ${node.drainMessage}`),
      })),
    });

  /** One round of everybody; `isPatient` is false when crossings have lasted for long. */
  readonly step = (isPatient: boolean): void => {
    this.#schedule();
    this.#look(isPatient);
    this.#evict();
    for (const { minAvailable, replicas } of this.plan.apps) {
      this.isViolated ||= replicas.filter((place) => place !== null).length < minAvailable;
    }
  };

  /** A maintenance that is drained is completed by whoever made it. */
  readonly complete = (): void => {
    const drained = this.#maintenances.filter(({ status }) =>
      status.conditions.some(({ type, status: value }) => type === 'Drained' && value === 'True')
    );
    const one = drawOne(this.#draw, drained);
    if (one === undefined) return;
    this.ended.push(one.name);
    this.#maintenances = this.#maintenances.filter((other) => other !== one);
  };

  #ownersOf(node: string): readonly ObservedMaintenance[] {
    return this.#maintenances.filter((one) => holdsNode(one, node));
  }

  #schedule(): void {
    for (const { places, replicas } of this.plan.apps) {
      replicas.forEach((place, index) => {
        if (place !== null) return;
        const free = places.filter((node) => this.#ownersOf(node).length === 0);
        replicas[index] = drawOne(this.#draw, free) ?? null;
      });
    }
  }

  #podsOn(node: string): readonly DrainPod[] {
    return this.plan.apps.flatMap(({ name, replicas }) =>
      replicas.flatMap((place, index) =>
        place === node
          ? [podOf({ name: `${name}-${index}`, namespace: 'default', node, labels: { app: name } })]
          : []
      )
    );
  }

  #unschedulable(): readonly UnschedulablePod[] {
    return this.plan.apps.flatMap(({ name, places, replicas }) =>
      replicas.flatMap((place, index) => {
        const pod = place === null && projectUnschedulablePod({
          metadata: {
            name: `${name}-${index}`,
            namespace: 'default',
            uid: `${name}-${index}`,
            resourceVersion: '1',
            labels: { app: name },
          },
          spec: {
            affinity: {
              nodeAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: {
                  nodeSelectorTerms: [{
                    matchExpressions: [{ key: 'name', operator: 'In', values: places }],
                  }],
                },
              },
            },
          },
          status: { conditions: [{ type: 'PodScheduled', reason: 'Unschedulable' }] },
        });
        return pod === undefined || pod === false ? [] : [pod];
      })
    );
  }

  #healthy({ replicas }: CrossedApp): number {
    return replicas.filter((place) => place !== null).length;
  }

  #budgets() {
    return this.plan.apps.map((app) =>
      budgetOf({
        name: app.name,
        namespace: 'default',
        selector: { matchLabels: { app: app.name } },
        status: {
          disruptionsAllowed: Math.max(0, this.#healthy(app) - app.minAvailable),
          currentHealthy: this.#healthy(app),
          desiredHealthy: app.minAvailable,
          expectedPods: app.replicas.length,
        },
      })
    );
  }

  #look(isPatient: boolean): void {
    const { plan } = this;
    const worked = this.#maintenances.map((maintenance) => ({
      maintenance,
      nodes: (plan.maintenances.find(({ name }) => name === maintenance.name)?.nodes ?? [])
        .map((name) => ({ name, labels: { name }, bootId: '', doneFor: '', createdMs: 0 })),
      drains: true,
      begins: true,
      yields: !isPatient,
    }));
    const progress = maintenanceProgress(worked, this.#maintenances, {
      before: this.#memory,
      facts: {
        podsOn: (node) => this.#podsOn(node),
        isCordoned: (node, maintenance) => holdsNode(maintenance, node),
        hasEnded: (node, maintenance) => holdsNode(maintenance, node),
        isHeld: (node, maintenance) => holdsNode(maintenance, node),
        isBehind: false,
        cordoned: plan.nodes.map((name) => ({
          name,
          labels: { name },
          ready: true,
          cordons: Object.fromEntries(
            this.#ownersOf(name).map(({ uid }) => [maintenanceOwner(uid), '{"v":1}']),
          ),
        })),
        budgets: this.#budgets(),
        unschedulable: this.#unschedulable(),
      },
    });
    this.#memory = progress;
    this.#maintenances = this.#maintenances.map((maintenance) => {
      const reported = progress.reported.get(maintenance.uid);
      if (reported === undefined) return maintenance;
      const { nodes, waves, drained, crossing } = reported;
      if (crossing !== null && !this.texts.includes(crossing.text)) this.texts.push(crossing.text);
      for (const { name, state } of nodes) {
        const before = maintenance.status.nodes.find((one) => one.name === name)?.state;
        if (state === 'Yielding' && before !== state) this.yielded.push(name);
      }
      const conditions = drained
        ? [{
          type: 'Drained' as const,
          status: 'True' as const,
          reason: '',
          message: '',
          sinceMs: 0,
        }]
        : [];
      return { ...maintenance, status: { ...maintenance.status, nodes, waves, conditions } };
    });
  }

  /** One eviction of each drain, when its budget allows it. */
  #evict(): void {
    for (const maintenance of this.#maintenances) {
      const pods = maintenance.status.nodes.filter(({ name }) => holdsNode(maintenance, name))
        .flatMap(({ name }) =>
          this.#podsOn(name).filter((pod) => isTargetedBy(storedTargets(maintenance, name), pod))
        )
        .filter((pod) => {
          const app = this.plan.apps.find(({ name }) => name === pod.labels['app']);
          return app !== undefined && this.#healthy(app) > app.minAvailable;
        });
      const pod = drawOne(this.#draw, pods);
      const app = this.plan.apps.find(({ name }) => name === pod?.labels['app']);
      if (pod === undefined || app === undefined) continue;
      app.replicas[Number(pod.name.split('-').at(-1))] = null;
    }
  }
}
