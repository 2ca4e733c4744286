/** What is remembered of drains after their end, by node and owner. Data only. */
import type { DrainOwner } from '../../domain/drain/cordon.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { ResourceVersion } from '../../domain/ids.ts';
import { isDisabled } from '../../domain/node-availability/disabled-node.ts';

interface PastDrain {
  readonly end: ResourceVersion | undefined;
  readonly isWithdrawn: boolean;
}

const NOTHING: PastDrain = { end: undefined, isWithdrawn: false };

/** The ends that were written, and the owners that have left. */
export class PastDrains {
  readonly #byNode = new Map<string, Map<DrainOwner, PastDrain>>();

  /** The owners of which anything is remembered. */
  readonly owners = (node: string): readonly DrainOwner[] => [
    ...this.#byNode.get(node)?.keys() ?? [],
  ];

  /** The resourceVersion of a written end, until its Node is observed with it. */
  readonly endOf = (node: string, owner: DrainOwner): ResourceVersion | undefined =>
    this.#of(node, owner).end;

  readonly setEnd = (node: string, owner: DrainOwner, end: ResourceVersion | undefined): void =>
    this.#set(node, owner, { ...this.#of(node, owner), end });

  /**
   * The owner has left, and its key may still be on the Node. Only a Node that is enabled again has
   * a key to remove: one that is disabled was disabled after that.
   */
  readonly isWithdrawn = (node: DrainedNode, owner: DrainOwner): boolean =>
    this.#of(node.name, owner).isWithdrawn && !(owner === 'disabled' && isDisabled(node));

  readonly withdraw = (node: string, owner: DrainOwner): void =>
    this.#set(node, owner, { ...this.#of(node, owner), isWithdrawn: true });

  /** Its key is gone, or it drains the node again. */
  readonly forgetWithdrawal = (node: string, owner: DrainOwner): void =>
    this.#set(node, owner, { ...this.#of(node, owner), isWithdrawn: false });

  /** The Node is gone. */
  readonly forget = (node: string): void => void this.#byNode.delete(node);

  readonly clear = (): void => this.#byNode.clear();

  #of(node: string, owner: DrainOwner): PastDrain {
    return this.#byNode.get(node)?.get(owner) ?? NOTHING;
  }

  #set(node: string, owner: DrainOwner, past: PastDrain): void {
    const owners = this.#byNode.get(node) ?? new Map<DrainOwner, PastDrain>();
    if (past.end === undefined && !past.isWithdrawn) owners.delete(owner);
    else owners.set(owner, past);
    if (owners.size === 0) this.#byNode.delete(node);
    else this.#byNode.set(node, owners);
  }
}
