/**
 * The NodeMaintenances of the cluster, one actor each, and the progress of all of them together.
 *
 * Promises: nothing is decided before this process leads and the lists of maintenances, Nodes and
 * pods are complete, and no Node is changed before that of maintenances is current; keys that a
 * maintenance left behind leave their Nodes; what a maintenance drains goes through the drains of
 * the process, beside those of every other owner.
 */
import { from, merge, Subject, Subscription } from 'rxjs';
import type { RecordEvent } from '../../api/event-note.ts';
import type { NodeProjection } from '../../domain/cluster-node.ts';
import type { Budget } from '../../domain/drain/budget.ts';
import { nodePods } from '../../domain/drain/node-pods.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import { maintenanceRequester } from '../../domain/eviction-requests/qualified-name.ts';
import type { Fact } from '../../domain/facts.ts';
import { objectKey } from '../../domain/ids.ts';
import { sameJson } from '../../domain/json-equality.ts';
import {
  type MaintainedNodeFacts,
  type MaintenanceProgress,
  maintenanceProgress,
  NO_PROGRESS,
  nodesDone,
  type ProgressMemory,
  type WorkedMaintenance,
} from '../../domain/node-maintenance/maintenance-progress.ts';
import { type ObservedNodes, storedNodes } from '../../domain/node-maintenance/maintenance-step.ts';
import { advertisedConditions } from '../../domain/node-maintenance/node-conditions.ts';
import { holdsNode } from '../../domain/node-maintenance/node-status.ts';
import { selectsNode } from '../../domain/node-maintenance/node-selector.ts';
import type { ObservedMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import type { UnschedulablePod } from '../../domain/node-maintenance/unschedulable-pod.ts';
import type { Time } from '../../domain/time.ts';
import type { NodeMaintenances } from '../../effects/node-maintenance.ts';
import type { NodeMaintenanceContext } from '../../machines/node-maintenance-context.ts';
import { promptChanges } from '../../streams/settled-changes.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type ConcurrencyLimit, startConcurrencyLimit } from '../concurrency-limit.ts';
import type { DrainRequesters } from '../eviction-requests/drain-requesters.ts';
import type { Informer } from '../informers/informer.ts';
import type { DrainEngine } from '../node-drains/drain-engine.ts';
import { type AdvertisedNode, AdvertisedNodes } from './advertised-nodes.ts';
import { MaintainedDrains, type MaintainedDrainsOptions } from './maintained-drains.ts';
import {
  type MaintenanceEntry,
  maintenanceEntry,
  maintenanceEvents,
  type NodeMaintenanceActors,
  nodeMaintenanceActors,
} from './node-maintenance-actor.ts';
import { MaintenanceMetrics } from './maintenance-metrics.ts';
import { MaintenanceThrottle } from './maintenance-throttle.ts';
import { MaintenancePreviews } from './maintenance-previews.ts';
import { MaintenanceWindows } from './maintenance-windows.ts';
import { SelectionSizes } from './selection-sizes.ts';
import { stayingPods } from './staying-pods.ts';
import { UncordonedNodes } from './uncordoned-nodes.ts';

/** Maintenances that are written at once; the write budget paces them. */
const WRITES_AT_ONCE = 8;

/** A Node as drains and maintenances read it. */
export interface MaintainableNode extends NodeProjection, MaintainedNodeFacts, AdvertisedNode {}

/** What the maintenances follow and act on. */
export interface NodeMaintenancesOptions {
  readonly maintenances: Pick<Informer<ObservedMaintenance>, 'facts' | 'values'>;
  readonly nodes: Pick<Informer<MaintainableNode>, 'facts' | 'get' | 'values'>;
  readonly engine: Pick<DrainEngine, 'maintained'> & {
    readonly drains:
      & MaintainedDrainsOptions['drains']
      & Pick<DrainEngine['drains'], 'staying' | 'events'>;
    readonly localData?: DrainEngine['localData'];
    readonly requested: Pick<DrainRequesters, 'sweep'> | undefined;
    readonly pods: Pick<Informer<DrainPod>, 'facts'>;
    readonly budgets: Pick<Informer<Budget>, 'facts' | 'values'>;
  };
  /** Pods without a Node. */
  readonly unschedulable: Pick<Informer<UnschedulablePod>, 'facts' | 'values'>;
  /** The lists of maintenances, Nodes and pods are complete. */
  readonly isSynced: () => boolean;
  /** Resolves once the maintenances are those of the cluster, as far as is known. */
  readonly whenMaintenancesCurrent: () => Promise<void>;
  /** Nodes or pods could not be read lately. */
  readonly isBehind: () => boolean;
  readonly record: RecordEvent;
}

/** All maintenances of a process; not leading at first. */
export class NodeMaintenanceRegistry {
  readonly #time: Time;
  readonly #options: NodeMaintenancesOptions;
  readonly #actors: NodeMaintenanceActors;
  readonly #drains: MaintainedDrains;
  readonly #slots: ConcurrencyLimit<MaintenanceEntry>;
  readonly #throttle: MaintenanceThrottle;
  readonly #previews: MaintenancePreviews;
  readonly #windows: MaintenanceWindows;
  readonly #advertised: AdvertisedNodes;
  readonly #metrics: MaintenanceMetrics;
  readonly #sizes: SelectionSizes;
  readonly #pods = nodePods();
  readonly #changes = new Subject<void>();
  readonly #subscription = new Subscription();
  #naming = Subscription.EMPTY;
  #progress: ProgressMemory = NO_PROGRESS;
  #isLeading = false;
  /** The maintenances were those of the cluster once since this process leads. */
  #areCurrent = false;

  constructor(environment: ActorEnvironment<NodeMaintenances>, options: NodeMaintenancesOptions) {
    this.#options = options;
    this.#time = environment.time;
    const { maintenances, nodes, engine, unschedulable, record } = options;
    const { drains, maintained, pods, budgets } = engine;
    const events = maintenanceEvents(environment, record);
    this.#sizes = new SelectionSizes(events.recordTooManyNodes);
    const uncordoned = new UncordonedNodes(environment.time, events.recordUncordoned);
    this.#drains = new MaintainedDrains(environment.time, {
      nodes,
      podsOn: this.#podsOn,
      drains,
      maintained,
      onUncordoned: ({ maintenance }, node) => uncordoned.add(maintenance, node),
    });
    this.#throttle = new MaintenanceThrottle(environment.time, environment.scheduler);
    this.#previews = new MaintenancePreviews({
      podsOn: this.#pods.on,
      budgets: () => budgets.values(),
      send: ({ uid }, computed) =>
        this.#actors.get(uid)?.send({ type: 'preview.computed', computed }),
    });
    this.#windows = new MaintenanceWindows(
      environment.time,
      ({ uid }, window) => this.#actors.get(uid)?.send({ type: 'window.observed', window }),
    );
    this.#advertised = new AdvertisedNodes(environment);
    this.#metrics = new MaintenanceMetrics(environment.telemetry);
    this.#slots = startConcurrencyLimit<MaintenanceEntry>({
      atOnce: WRITES_AT_ONCE,
      keyOf: ({ uid }) => uid,
      activate: ({ uid }) => this.#actors.get(uid),
    });
    this.#actors = nodeMaintenanceActors(environment, {
      observedOf: (entry) => this.#storedOf(entry),
      onSnapshot: (entry, { maintenance }) => {
        if (entry.maintenance === maintenance) return;
        entry.maintenance = maintenance;
        this.#metrics.observe(maintenance);
        this.#changes.next();
      },
      actions: {
        ...events,
        requestSlot: (context) => this.#withEntry(context, this.#slots.request),
        cordonNodes: (context) => this.#change(context, { mode: 'Cordon' }),
        drainNodes: (context) => this.#change(context, { mode: 'Drain' }),
        releaseNodes: (context) => this.#change(context, { mode: 'Release' }),
        beginNodes: (context) => this.#setBegins(context, true),
        withholdNodes: (context) => this.#setBegins(context, false),
        drainAgain: () => this.#changes.next(),
        yieldNode: (context) => this.#change(context, { yields: true }),
        requestWindow: (context) => this.#change(context, { wantsWindow: true }),
        requestPreview: (context) =>
          this.#withEntry(context, (entry) => {
            if (this.#previews.request(entry)) this.#changes.next();
          }),
      },
    });
    this.#subscription.add(maintenances.facts.subscribe((fact) => this.#onMaintenances(fact)));
    this.#subscription.add(pods.facts.subscribe((fact) => void this.#pods.observe(fact)));
    const previewed = merge(nodes.facts, pods.facts, budgets.facts);
    this.#subscription.add(previewed.subscribe(this.#previews.changed));
    const facts = [maintenances.facts, previewed, unschedulable.facts];
    const changes = [...facts, this.#changes, drains.events, this.#throttle.due];
    this.#subscription.add(
      promptChanges(changes, environment.scheduler).subscribe(() => this.#review()),
    );
  }

  readonly actors = () => this.#actors.actors();

  /** Maintenances by state. */
  readonly counts = (): Readonly<Record<string, number>> => this.#actors.counts();

  readonly onLeading = (): void => {
    this.#isLeading = true;
    this.#considerAll();
  };

  readonly onLeadershipLost = (): void => {
    this.#isLeading = false;
    this.#areCurrent = false;
    this.#naming.unsubscribe();
    for (const { uid } of [...this.#actors.entries()]) this.#actors.remove(uid);
    this.#options.engine.maintained.clear();
    this.#advertised.clear();
    this.#metrics.clear();
    this.#progress = NO_PROGRESS;
  };

  /** Writes nothing new; resolves when writes in flight have their answers. */
  readonly stop = (): Promise<void> => {
    this.#isLeading = false;
    this.#subscription.unsubscribe();
    this.#slots.stop();
    this.#advertised.stop();
    return this.#actors.stop();
  };

  /** What came back past a cordon stays, or for its data: nothing waits for it. */
  readonly #podsOn: MaintainedDrainsOptions['podsOn'] = (node, owner) => {
    const present = this.#options.nodes.get(objectKey(node));
    const pods = [...this.#pods.on(node)];
    if (present === undefined) return pods;
    const staying = stayingPods(this.#options.engine, { node: present, owner }, pods);
    return pods.filter(({ key }) => !staying.has(key));
  };

  get #isReady(): boolean {
    return this.#isLeading && this.#options.isSynced();
  }

  #withEntry(
    { maintenance }: NodeMaintenanceContext,
    act: (entry: MaintenanceEntry) => void,
  ): void {
    const entry = this.#actors.entry(maintenance.uid);
    if (entry !== undefined) act(entry);
  }

  #change(
    context: NodeMaintenanceContext,
    changes: Partial<Pick<MaintenanceEntry, 'mode' | 'yields' | 'wantsWindow'>>,
  ): void {
    this.#withEntry(context, (entry) => {
      Object.assign(entry, changes);
      this.#changes.next();
    });
  }

  #setBegins(context: NodeMaintenanceContext, begins: boolean): void {
    this.#withEntry(context, (entry) => {
      if (entry.begins === begins) return;
      entry.begins = begins;
      this.#changes.next();
    });
  }

  /** What the status has, until the Nodes are looked at. */
  #storedOf({ owner, maintenance }: MaintenanceEntry): ObservedNodes {
    return storedNodes(maintenance, this.#drains.isReleased(owner));
  }

  #consider(maintenance: ObservedMaintenance): void {
    const { uid } = maintenance;
    const entry = this.#actors.entry(uid) ?? maintenanceEntry(maintenance);
    entry.maintenance = maintenance;
    this.#metrics.observe(maintenance);
    this.#options.engine.maintained.setRequester(
      entry.owner,
      maintenanceRequester(maintenance.name),
    );
    this.#actors.consider(entry);
  }

  #considerAll(): void {
    if (!this.#isReady) return;
    for (const maintenance of [...this.#options.maintenances.values()]) this.#consider(maintenance);
    this.#naming.unsubscribe();
    // By an old list, the requests of a maintenance that began since would be left.
    this.#naming = from(this.#options.whenMaintenancesCurrent()).subscribe(() => {
      this.#options.engine.maintained.setAllNamed();
      this.#options.engine.requested?.sweep();
      this.#areCurrent = true;
      this.#changes.next();
    });
    this.#changes.next();
  }

  #vanished(uid: string): void {
    const entry = this.#actors.entry(uid);
    if (entry === undefined) return;
    this.#actors.get(uid)?.send({ type: 'maintenance.vanished' });
    // Keys that it left behind leave in the review.
    this.#actors.remove(uid);
    this.#metrics.forget(uid);
  }

  #onMaintenances(fact: Fact<ObservedMaintenance>): void {
    if (!this.#isReady) return;
    if (fact._tag === 'Present') return this.#consider(fact.object);
    if (fact._tag === 'Absent') return this.#vanished(fact.last.uid);
    const listed = new Set<string>(fact.objects.map(({ uid }) => uid));
    for (const { uid } of [...this.#actors.entries()]) if (!listed.has(uid)) this.#vanished(uid);
    this.#considerAll();
  }

  #selected({ spec }: ObservedMaintenance): readonly MaintainableNode[] {
    return [...this.#options.nodes.values()]
      .filter((node) => selectsNode(spec.nodeSelector, node))
      .toSorted((left, right) => left.name < right.name ? -1 : 1);
  }

  /** Looks at all maintenances together: targets depend on each other (NM-32). */
  #review(): void {
    if (!this.#isReady) return;
    // Those that were observed before the other lists were complete have no actor yet.
    const isKnown = (this.#areCurrent || !this.#naming.closed) &&
      [...this.#options.maintenances.values()].every(({ uid }) => this.#actors.has(uid));
    if (!isKnown) this.#considerAll();
    const entries = [...this.#actors.entries()];
    const selected = new Map(entries.map(({ uid, maintenance }) => [
      uid,
      this.#selected(maintenance),
    ]));
    for (const entry of entries) this.#windows.renew(entry);
    const reported = this.#observe(entries, selected);
    if (!this.#options.isBehind()) {
      for (const entry of entries) this.#previews.renew(entry, selected.get(entry.uid) ?? []);
    }
    // An old list lacks maintenances, and has work that is done: Nodes stay as they are.
    if (!this.#areCurrent) return;
    for (const entry of entries) {
      if (entry.mode === 'Release') this.#drains.release(entry.owner);
      else if (entry.mode !== 'None') {
        const held = (selected.get(entry.uid) ?? [])
          .filter(({ name }) => holdsNode(entry.maintenance, name));
        const done = nodesDone(entry.maintenance, reported.get(entry.uid));
        this.#drains.cover(entry, held, done);
      }
    }
    this.#drains.releaseOrphans(new Set(entries.map(({ owner }) => owner)));
    const all = entries.map((entry) => ({ ...entry, nodes: selected.get(entry.uid) ?? [] }));
    const moving = new Set(all.flatMap((entry) => this.#drains.moving(entry, entry.nodes)));
    this.#advertised.show(this.#options.nodes.values(), advertisedConditions(all), moving);
  }

  #observe(
    entries: readonly MaintenanceEntry[],
    selected: ReadonlyMap<string, readonly MaintainableNode[]>,
  ): MaintenanceProgress['reported'] {
    const { nodes, isBehind, engine, unschedulable } = this.#options;
    const worked = entries.flatMap((
      { uid, begins, yields, ...entry },
    ): readonly WorkedMaintenance[] =>
      entry.mode === 'Cordon' || entry.mode === 'Drain'
        ? [{
          maintenance: entry.maintenance,
          nodes: selected.get(uid) ?? [],
          drains: entry.mode === 'Drain',
          begins,
          yields,
        }]
        : []
    );
    const progress = maintenanceProgress(worked, entries.map(({ maintenance }) => maintenance), {
      before: this.#progress,
      facts: {
        podsOn: this.#podsOn,
        cordoned: [...nodes.values()].filter(({ cordons }) => Object.keys(cordons).length > 0),
        budgets: engine.budgets.values(),
        unschedulable: unschedulable.values(),
        isBehind: isBehind(),
        isCordoned: this.#drains.isCordoned,
        hasEnded: this.#drains.hasEnded,
        isHeld: this.#drains.isHeld,
      },
    });
    this.#progress = progress;
    const all = [...nodes.values()].length;
    for (const entry of entries) {
      const ofOne = selected.get(entry.uid) ?? [];
      const reported = progress.reported.get(entry.uid);
      entry.yields = false;
      this.#send(entry, {
        ...this.#storedOf(entry),
        drained: false,
        ...reported,
        released: reported === undefined && this.#drains.isReleased(entry.owner),
        selectsAll: all > 0 && ofOne.length === all,
        tooManyNodes: this.#sizes.observe(entry, ofOne.length),
        refused: this.#drains.refusedNode(entry, ofOne),
      });
    }
    return progress.reported;
  }

  #send(entry: MaintenanceEntry, observed: ObservedNodes): void {
    const actor = this.#actors.get(entry.uid);
    if (actor === undefined || sameJson(actor.getSnapshot().context.observed, observed)) return;
    if (!this.#throttle.isDue(entry, observed.nodes.length)) return;
    actor.send({ type: 'nodes.observed', observed, nowMs: this.#time.now() });
  }
}
