/** Nodes whose pods changed, for drains, and how many pods of each were evicted. */
import { Subject, type Subscription } from 'rxjs';
import type { Telemetry } from '../../api/telemetry.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { EvictionEntry } from '../../domain/drain/eviction-index.ts';
import { objectKey } from '../../domain/ids.ts';
import type { Informer } from '../informers/informer.ts';

/** Nodes with a changed pod, emitted once for simultaneous changes. */
export class NodeChanges {
  /** The status of a pod changed. */
  readonly changes = new Subject<string>();
  /** More than what blocks a pod changed. */
  readonly progressed = new Subject<string>();
  /** Whether more changed, by node. */
  #changed = new Map<string, boolean>();

  readonly add = (node: string): void => this.#add(node, true);

  /** Only what blocks these pods changed. */
  readonly addBlockers = (entries: Iterable<EvictionEntry>): void => {
    for (const { node } of entries) this.#add(node, false);
  };

  #add(node: string, hasProgressed: boolean): void {
    this.#changed.set(node, hasProgressed || this.#changed.get(node) === true);
    if (this.#changed.size === 1) queueMicrotask(this.#flush);
  }

  readonly #flush = (): void => {
    const changed = this.#changed;
    this.#changed = new Map();
    for (const [node, hasProgressed] of changed) {
      this.changes.next(node);
      if (hasProgressed) this.progressed.next(node);
    }
  };
}

/** Counts accepted evictions by Node, while the Node exists (RS-30). */
export class NodeEvictions {
  readonly #telemetry: Telemetry;
  readonly #nodes: Pick<Informer<DrainedNode>, 'facts' | 'get'>;
  readonly subscription: Subscription;

  constructor(telemetry: Telemetry, nodes: Pick<Informer<DrainedNode>, 'facts' | 'get'>) {
    this.#telemetry = telemetry;
    this.#nodes = nodes;
    this.subscription = nodes.facts.subscribe((fact) => {
      if (fact._tag !== 'Absent') return;
      telemetry.forget('tidegate_node_evictions_total', { node: fact.last.name });
    });
  }

  readonly add = (node: string): void => {
    // An answer may come after the Node is gone: nothing would remove its series again.
    if (this.#nodes.get(objectKey(node)) === undefined) return;
    this.#telemetry.count('tidegate_node_evictions_total', 1, { node });
  };
}
