/**
 * Writes to each Node what its maintenances mean for it (NM-42).
 *
 * Promises: one request for each change of a Node, and none while it shows what it should; a change
 * that was refused is not tried again before it is another one, because the right to the status of
 * Nodes is optional; one that failed is, with the next look at the Node. Nothing is kept of Nodes
 * that were deleted.
 */
import { defer, Subject, type Subscription } from 'rxjs';
import { defectText } from '../../api/telemetry.ts';
import type { Identity } from '../../domain/facts.ts';
import type { ResourceVersion } from '../../domain/ids.ts';
import { sameJson } from '../../domain/json-equality.ts';
import {
  type AdvertisedConditions,
  type ConditionChanges,
  conditionChanges,
  type NodeConditions,
  nodeConditionsPatch,
} from '../../domain/node-maintenance/node-conditions.ts';
import { isOlder } from '../../domain/resource-versions.ts';
import {
  type NodeConditionsOutcome,
  type NodeConditionsWrite,
  NodeMaintenances,
} from '../../effects/node-maintenance.ts';
import { latestPerKey } from '../../streams/latest-per-key.ts';
import { warningAggregator } from '../../streams/warning-aggregator.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** Nodes that are written at once; Events share their place in the write budget. */
const NODES_AT_ONCE = 4;

/** A Node with what it shows. */
export interface AdvertisedNode extends Pick<Identity, 'uid' | 'resourceVersion'> {
  readonly name: string;
  readonly lifecycle: NodeConditions;
}

interface Change extends NodeConditionsWrite {
  readonly uid: string;
  readonly changes: ConditionChanges;
}

/** What becomes of the last change of a Node. */
interface SentChange {
  readonly changes: ConditionChanges;
  /** Null while there is no answer, and after a refusal. */
  writtenVersion: ResourceVersion | null;
}

/** The conditions of the Nodes of a process. */
export class AdvertisedNodes {
  readonly #environment: ActorEnvironment<NodeMaintenances>;
  readonly #warn: ReturnType<typeof warningAggregator>;
  readonly #changes = new Subject<Change>();
  readonly #subscription: Subscription;
  /** By UID of the Node. */
  readonly #sent = new Map<string, SentChange>();

  constructor(environment: ActorEnvironment<NodeMaintenances>) {
    const { runtime, telemetry, time } = environment;
    this.#environment = environment;
    this.#warn = warningAggregator(telemetry, time, 'Cannot show maintenances on Nodes');
    this.#subscription = this.#changes.pipe(latestPerKey({
      key: ({ uid }) => uid,
      concurrency: NODES_AT_ONCE,
      work: (change) =>
        defer(() =>
          runtime.runPromise(NodeMaintenances.use(({ setConditions }) => setConditions(change)))
            .then((outcome) => this.#onOutcome(change, outcome))
        ),
      onDefect: (cause, { node }) =>
        telemetry.log('error', 'Cannot show maintenances on a Node: its write threw', {
          node,
          problem: defectText(cause),
        }),
    })).subscribe();
  }

  /**
   * Compares Nodes with what they are to show. Those that are about to be cordoned or released wait
   * for that: the two writes would conflict.
   */
  readonly show = (
    nodes: Iterable<AdvertisedNode>,
    advertised: ReadonlyMap<string, AdvertisedConditions>,
    moving: ReadonlySet<AdvertisedNode>,
  ): void => {
    const gone = new Set(this.#sent.keys());
    for (const node of nodes) {
      gone.delete(node.uid);
      if (moving.has(node)) continue;
      const changes = conditionChanges(node.lifecycle, advertised.get(node.name));
      if (changes === undefined) this.#sent.delete(node.uid);
      else if (!this.#isSent(node, changes)) this.#send(node, changes);
    }
    for (const uid of gone) this.#sent.delete(uid);
  };

  /** Another process writes now. */
  readonly clear = (): void => this.#sent.clear();

  readonly stop = (): void => this.#subscription.unsubscribe();

  /** The same change is on its way, was refused, or is not in the cache yet. */
  #isSent({ uid, resourceVersion }: AdvertisedNode, changes: ConditionChanges): boolean {
    const sent = this.#sent.get(uid);
    if (sent === undefined || !sameJson(sent.changes, changes)) return false;
    return sent.writtenVersion === null || isOlder(resourceVersion, sent.writtenVersion);
  }

  #send({ name, uid, lifecycle: { ours } }: AdvertisedNode, changes: ConditionChanges): void {
    const body = nodeConditionsPatch({ uid, ours }, changes, this.#environment.time.now());
    this.#sent.set(uid, { changes, writtenVersion: null });
    this.#changes.next({ node: name, uid, changes, body });
  }

  #onOutcome({ node, uid, changes }: Change, outcome: NodeConditionsOutcome): void {
    const { _tag } = outcome;
    this.#environment.telemetry.count('tidegate_node_writes_total', 1, {
      op: 'lifecycle',
      outcome: _tag,
    });
    if ('why' in outcome) this.#warn({ name: node, reason: _tag, problem: outcome.why });
    const sent = this.#sent.get(uid);
    if (sent?.changes !== changes) return;
    if (_tag === 'Written') sent.writtenVersion = outcome.resourceVersion;
    else if (_tag !== 'Refused') this.#sent.delete(uid);
  }
}
