/** Nodes whose pods changed, for drains. */
import { Subject } from 'rxjs';
import type { EvictionEntry } from '../../domain/drain/eviction-index.ts';

/** Nodes with a changed pod, emitted once for simultaneous changes. */
export class NodeChanges {
  readonly changes = new Subject<string>();
  #changed = new Set<string>();

  readonly add = (node: string): void => {
    this.#changed.add(node);
    if (this.#changed.size === 1) queueMicrotask(this.#flush);
  };

  readonly addAll = (entries: Iterable<EvictionEntry>): void => {
    for (const { node } of entries) this.add(node);
  };

  readonly #flush = (): void => {
    const changed = this.#changed;
    this.#changed = new Set();
    for (const node of changed) this.changes.next(node);
  };
}
