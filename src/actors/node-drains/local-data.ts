/**
 * Which drains keep pods whose data is on their Node only, and which pods these are (RS-11).
 *
 * Promises: a drain of a disabled Node always keeps them; others do when `--local-volumes` says so;
 * what may change the answer for a Node is a change of that Node.
 */
import { merge, type Observable, Subject, Subscription } from 'rxjs';
import type { DrainOwner } from '../../domain/drain/cordon.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import {
  acknowledgedPods,
  isUncertain,
  keptData,
  type LocalVolumes,
} from '../../domain/drain/kept-pods.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import type { Fact } from '../../domain/facts.ts';
import { objectKey } from '../../domain/ids.ts';
import type {
  Volume,
  VolumeClaim,
  VolumeLookup,
} from '../../domain/node-availability/local-volumes.ts';
import type { Informer } from '../informers/informer.ts';

/** The pods that a drain keeps. */
export interface KeptData {
  /** The data that is on the Node only; empty for a pod that may leave. */
  readonly dataOf: (pod: DrainPod) => readonly string[];
  /** UIDs of the pods that a person lets stay. */
  readonly acknowledged: () => ReadonlySet<string>;
}

/** What the answer follows from. */
export interface LocalDataOptions {
  /** `--local-volumes`: of drains of reclaims and maintenances. */
  readonly localVolumes: LocalVolumes;
  readonly nodes: Pick<Informer<DrainedNode>, 'facts' | 'get'>;
  readonly claims: Pick<Informer<VolumeClaim>, 'facts' | 'get'>;
  readonly volumes: Pick<Informer<Volume>, 'facts' | 'get'>;
}

/** The local data of all Nodes. */
export class LocalData {
  readonly #options: LocalDataOptions;
  readonly #lookup: VolumeLookup;
  /** The acknowledgement of each Node that has one. */
  readonly #acknowledged = new Map<string, string>();
  /** Nodes with a pod whose volume is not known. */
  readonly #uncertain = new Set<string>();
  readonly #changes = new Subject<string>();
  readonly #subscription = new Subscription();

  constructor(options: LocalDataOptions) {
    this.#options = options;
    const { nodes, claims, volumes } = options;
    this.#lookup = {
      claim: (namespace, name) => claims.get(objectKey(name, namespace)),
      volume: (name) => volumes.get(objectKey(name)),
    };
    this.#subscription.add(nodes.facts.subscribe((fact) => this.#onNodes(fact)));
    const storage = merge<readonly Fact<VolumeClaim | Volume>[]>(claims.facts, volumes.facts);
    this.#subscription.add(storage.subscribe(() => this.#onStorage()));
  }

  /** Nodes whose kept pods may have changed. */
  readonly changes: Observable<string> = this.#changes;

  /** What the drain keeps; `undefined` when all pods leave. */
  readonly of = (node: string, owner: DrainOwner): KeptData | undefined => {
    const { localVolumes, nodes } = this.#options;
    if (owner !== 'disabled' && localVolumes !== 'keep') return undefined;
    return {
      dataOf: this.#dataOf,
      acknowledged: () => acknowledgedPods(nodes.get(objectKey(node)), owner),
    };
  };

  readonly stop = (): Promise<void> => Promise.resolve(this.#subscription.unsubscribe());

  readonly #dataOf = (pod: DrainPod): readonly string[] => {
    const data = keptData(pod, this.#lookup);
    if (data.length > 0 && isUncertain(pod, this.#lookup)) this.#uncertain.add(pod.node);
    return data;
  };

  #onStorage(): void {
    const nodes = [...this.#uncertain];
    this.#uncertain.clear();
    for (const node of nodes) this.#changes.next(node);
  }

  #onNodes(fact: Fact<DrainedNode>): void {
    if (fact._tag === 'Absent') return void this.#acknowledged.delete(fact.last.name);
    const nodes = fact._tag === 'Listed' ? fact.objects : [fact.object];
    for (const { name, acknowledged } of nodes) {
      if (this.#acknowledged.get(name) === acknowledged) continue;
      if (acknowledged === undefined) this.#acknowledged.delete(name);
      else this.#acknowledged.set(name, acknowledged);
      this.#changes.next(name);
    }
  }
}
