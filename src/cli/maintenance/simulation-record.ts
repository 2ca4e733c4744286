/**
 * Records what happens in a simulated cluster during a maintenance.
 *
 * Promises: sees every change of pods, budgets and of the maintenance, from the moment at which it
 * was made; durations are of simulated time.
 */
import { firstLowWater, type LowWater, nextLowWater } from '../../domain/low-water.ts';
import { hasPodsLeft } from '../../domain/node-maintenance/progress-text.ts';
import { rawConditionOf } from '../../domain/condition.ts';
import { type JsonRecord, listOrEmptyAt, numberAt, textAt } from '../../domain/json.ts';
import {
  type NodeStatus,
  type ObservedMaintenance,
  projectMaintenance,
} from '../../domain/node-maintenance/observed-maintenance.ts';
import { type DrainPod, projectPod } from '../../domain/drain/pod.ts';
import type { Time } from '../../domain/time.ts';
import { MAINTENANCES_RESOURCE } from '../../effects/maintenance-lists.ts';
import type {
  SimulatedNode,
  SimulatedShortfall,
  SimulatedUnplaced,
} from '../../view/maintenance-simulation.ts';
import type { EmbeddedCluster } from '../on-demand-packages.ts';

interface NodeTimes {
  readonly wave: number;
  readonly beganMs: number;
  endedMs: number | null;
}

interface Wait {
  readonly owner: string;
  readonly sinceMs: number;
  readonly message: string;
  untilMs: number | null;
}

interface Tracked {
  readonly wanted: number;
  water: LowWater;
}

type Store = EmbeddedCluster['store'];

const seconds = (ms: number): number => Math.round(ms / 1000);

const COLLECTIONS = {
  ReplicaSet: 'replicasets.apps',
  StatefulSet: 'statefulsets.apps',
  Deployment: 'deployments.apps',
} as const;

type Scaled = keyof typeof COLLECTIONS;

const isScaled = (kind: string): kind is Scaled => Object.hasOwn(COLLECTIONS, kind);

const ownerIn = (
  store: Store,
  pod: DrainPod,
): { readonly name: string; readonly wanted: number } => {
  const { controller, namespace } = pod;
  if (controller === null) return { name: `Pod ${pod.key}`, wanted: 1 };
  if (!isScaled(controller.kind)) {
    return { name: `${controller.kind} ${namespace}/${controller.name}`, wanted: 0 };
  }
  const found = store.collection(COLLECTIONS[controller.kind])
    .get({ namespace, name: controller.name });
  const above = listOrEmptyAt(found, 'metadata', 'ownerReferences')
    .find((owner) => textAt(owner, 'kind') === 'Deployment');
  const name = textAt(above, 'name') ?? '';
  const deployment = above === undefined
    ? undefined
    : store.collection(COLLECTIONS.Deployment).get({ namespace, name });
  return {
    name: deployment === undefined
      ? `${controller.kind} ${namespace}/${controller.name}`
      : `Deployment ${namespace}/${name}`,
    wanted: numberAt(deployment ?? found, 'spec', 'replicas') ?? 1,
  };
};

const isAvailable = ({ ready, terminating, finished }: DrainPod): boolean =>
  ready && !terminating && !finished;

const unschedulable = (raw: JsonRecord): string | undefined => {
  const condition = rawConditionOf(raw, 'PodScheduled');
  return textAt(condition, 'reason') === 'Unschedulable'
    ? textAt(condition, 'message') ?? ''
    : undefined;
};

/** Ready pods of workloads, and healthy pods of budgets. */
class Availability {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #tracked = new Map<string, Tracked>();
  readonly #available = new Map<string, string>();

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  #set(name: string, value: number, wanted: number): void {
    const known = this.#tracked.get(name);
    if (known === undefined) {
      this.#tracked.set(name, { wanted, water: firstLowWater(value, this.#now()) });
    } else if (known.water.value !== value) {
      known.water = nextLowWater(known.water, value, this.#now());
    }
  }

  onPod(pod: DrainPod, isGone: boolean): void {
    const before = this.#available.get(pod.uid);
    const isThere = !isGone && isAvailable(pod);
    if (isThere === (before !== undefined)) return;
    const owner = ownerIn(this.#store, pod);
    if (owner.wanted === 0) return;
    const name = before ?? owner.name;
    if (isThere) this.#available.set(pod.uid, name);
    else this.#available.delete(pod.uid);
    const value = (this.#tracked.get(name)?.water.value ?? 0) + (isThere ? 1 : -1);
    this.#set(name, value, owner.wanted);
  }

  onBudget(raw: JsonRecord): void {
    const healthy = numberAt(raw, 'status', 'currentHealthy');
    if (healthy === undefined) return;
    const name = `${textAt(raw, 'metadata', 'namespace')}/${textAt(raw, 'metadata', 'name')}`;
    const wanted = numberAt(raw, 'status', 'desiredHealthy') ?? 0;
    this.#set(`PodDisruptionBudget ${name}`, healthy, wanted);
  }

  /** From now on, what there is counts as the start. */
  begin(): void {
    const nowMs = this.#now();
    for (const one of this.#tracked.values()) one.water = firstLowWater(one.water.value, nowMs);
  }

  shortfalls(): readonly SimulatedShortfall[] {
    const nowMs = this.#now();
    return [...this.#tracked].map(([object, { wanted, water }]): SimulatedShortfall => {
      const last = nextLowWater(water, water.value, nowMs);
      return {
        object,
        ready: last.first,
        wanted,
        lowest: last.lowest,
        lowestSeconds: seconds(last.lowestMs),
        belowSeconds: seconds(last.belowMs),
      };
    }).filter(({ ready, lowest }) => lowest < ready)
      .toSorted((left, right) => left.object < right.object ? -1 : 1);
  }
}

/** The record of one maintenance. */
export class SimulationRecord {
  readonly #store: Store;
  readonly #time: Time;
  readonly #name: string;
  readonly #beganMs: number;
  readonly #availability: Availability;
  readonly #nodes = new Map<string, NodeTimes>();
  readonly #waits = new Map<string, Wait>();
  readonly #unsubscribe: () => void;
  #maintenance: ObservedMaintenance | undefined;
  #movedMs: number;

  constructor(store: Store, time: Time, name: string) {
    this.#store = store;
    this.#time = time;
    this.#name = name;
    this.#beganMs = time.monotonic();
    this.#movedMs = this.#beganMs;
    this.#availability = new Availability(store, () => time.monotonic() - this.#beganMs);
    for (const raw of store.collection('pods').objects()) this.#onPod(raw, false);
    // Those that wait already are not this maintenance's.
    this.#waits.clear();
    for (const raw of store.collection('poddisruptionbudgets.policy').objects()) {
      this.#availability.onBudget(raw);
    }
    this.#availability.begin();
    this.#unsubscribe = store.subscribe(({ resource, type, object }) => {
      if (resource === 'pods') this.#onPod(object, type === 'DELETED');
      else if (resource === 'poddisruptionbudgets.policy') this.#availability.onBudget(object);
      else if (resource === MAINTENANCES_RESOURCE) this.#onMaintenance(object);
    });
  }

  readonly stop = (): void => this.#unsubscribe();

  /** How long the maintenance has run. */
  get elapsedMs(): number {
    return this.#time.monotonic() - this.#beganMs;
  }

  /** Since when no pod and no node has changed. */
  get stillMs(): number {
    return this.#time.monotonic() - this.#movedMs;
  }

  get maintenance(): ObservedMaintenance | undefined {
    return this.#maintenance;
  }

  get isDrained(): boolean {
    return this.#maintenance?.status.conditions
      .some(({ type, status }) => type === 'Drained' && status === 'True') === true;
  }

  /** Nothing goes on before its window opens. */
  get waitsForWindow(): boolean {
    return this.#maintenance?.status.conditions
      .some(({ type, reason }) => type === 'Drained' && reason === 'WindowClosed') === true;
  }

  get drainedNodes(): number {
    return [...this.#nodes.values()].filter(({ endedMs }) => endedMs !== null).length;
  }

  readonly nodes = (): readonly SimulatedNode[] =>
    [...this.#nodes].map(([node, { wave, beganMs, endedMs }]) => ({
      node,
      wave,
      beganSeconds: seconds(beganMs),
      endedSeconds: endedMs === null ? null : seconds(endedMs),
    }));

  readonly shortfalls = (): readonly SimulatedShortfall[] => this.#availability.shortfalls();

  readonly unplaced = (): readonly SimulatedUnplaced[] =>
    [...Map.groupBy(this.#waits.values(), ({ owner }) => owner)].map(([owner, waits]) => ({
      owner,
      pods: waits.length,
      left: waits.filter(({ untilMs }) => untilMs === null).length,
      seconds: seconds(
        Math.max(...waits.map((one) => (one.untilMs ?? this.elapsedMs) - one.sinceMs)),
      ),
      message: waits.at(-1)?.message ?? '',
    }));

  #moved(): void {
    this.#movedMs = this.#time.monotonic();
  }

  #onPod(raw: JsonRecord, isGone: boolean): void {
    const pod = projectPod(raw);
    if (pod === undefined) return;
    const message = isGone || pod.node !== '' ? undefined : unschedulable(raw);
    const wait = this.#waits.get(pod.uid);
    if (message === undefined) {
      if (wait?.untilMs === null) wait.untilMs = this.elapsedMs;
      // A pod that only fails to find a node does not move anything.
      this.#moved();
    } else if (wait === undefined) {
      const { name: owner } = ownerIn(this.#store, pod);
      this.#waits.set(pod.uid, { owner, sinceMs: this.elapsedMs, message, untilMs: null });
    }
    this.#availability.onPod(pod, isGone);
  }

  #onNode({ name, state, wave, ...rest }: NodeStatus): void {
    if (state === 'Waiting') return;
    const known = this.#nodes.get(name) ?? { wave, beganMs: this.elapsedMs, endedMs: null };
    if (!this.#nodes.has(name)) this.#moved();
    this.#nodes.set(name, known);
    if (state === 'Released') known.endedMs ??= this.elapsedMs;
    else known.endedMs = hasPodsLeft(rest) ? null : known.endedMs ?? this.elapsedMs;
  }

  #onMaintenance(raw: JsonRecord): void {
    if (textAt(raw, 'metadata', 'name') !== this.#name) return;
    this.#maintenance = projectMaintenance(raw);
    for (const node of this.#maintenance?.status.nodes ?? []) this.#onNode(node);
  }
}
