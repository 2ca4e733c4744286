/**
 * The blockers of drains, one actor per drain and cause, so that each is recorded once when it
 * lasts (DR-42).
 *
 * Promises: a drain is reviewed after a change, at most once a second, and when a termination
 * becomes overdue or a budget has given no slot for long; without a change nothing is computed.
 */
import { auditTime, defer, Subject, type Subscription } from 'rxjs';
import { defectText } from '../../api/telemetry.ts';
import {
  blockedCondition,
  type DrainCondition,
  missedEnd,
} from '../../domain/drain/drain-condition.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import { type ConditionWrite, Cordons } from '../../effects/cordons.ts';
import { latestPerKey } from '../../streams/latest-per-key.ts';
import type { BlockedPods } from '../../domain/drain/blocker.ts';
import {
  blockedText,
  blockedVerdict,
  chiefVerdict,
  type DrainVerdict,
} from '../../domain/drain/verdict.ts';
import { drainBlocker } from '../../machines/drain-blocker.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type ActorRegistry, actorRegistry } from '../actor-registry.ts';
import type { BlockerReview } from './drain-pods.ts';
import { blockersOf, type DrainTargets, type NodeDrainActors } from './node-drain-actor.ts';

/** Between two reviews. */
const REVIEW_MS = 1000;
/** What changes with time has changed after the last millisecond. */
const NEXT_MS = 1;

/** How blockers are computed and recorded. */
export interface DrainBlockersOptions {
  /** `undefined` when there is no such drain any more. */
  readonly review: (drain: string) => BlockerReview | undefined;
  readonly record: (drain: string, blocked: BlockedPods) => void;
  /** The recorded blockers that still block, whenever that changes; as they were recorded. */
  readonly show: (drain: string, blocked: readonly BlockedPods[]) => void;
}

/** One cause that blocks pods of a drain, now or from a known time. */
interface BlockerEntry {
  readonly key: string;
  readonly drain: string;
  readonly cause: string;
  readonly startsInMs: number | null;
  readonly verdict: DrainVerdict | null;
}

/** Nodes whose conditions are written at once; Events share their place in the write budget. */
const CONDITIONS_AT_ONCE = 4;

/** Writes the conditions of Nodes: the latest of each, one at a time. */
export class NodeConditions {
  readonly #writes = new Subject<ConditionWrite>();
  readonly #subscription: Subscription;
  readonly #now: () => number;

  constructor({ runtime, telemetry, time }: ActorEnvironment<Cordons>) {
    this.#now = time.now;
    this.#subscription = this.#writes.pipe(latestPerKey({
      key: ({ node }) => node,
      concurrency: CONDITIONS_AT_ONCE,
      work: (write) =>
        defer(() => runtime.runPromise(Cordons.use(({ setCondition }) => setCondition(write)))),
      onDefect: (cause, { node }) =>
        telemetry.log('error', 'Cannot write the condition of a Node: its write threw', {
          node,
          problem: defectText(cause),
        }),
    })).subscribe();
  }

  readonly show = (node: string, condition: DrainCondition): void =>
    this.#writes.next({ node, condition, nowMs: this.#now() });

  readonly stop = (): Promise<void> => Promise.resolve(this.#subscription.unsubscribe());
}

const NEXT = 'next';

const causeOf = ({ blocker: { reason, subject } }: BlockedPods): string => `${reason} ${subject}`;

/** The blockers of all drains. */
export class DrainBlockers {
  readonly #options: DrainBlockersOptions;
  readonly #registry: ActorRegistry<typeof drainBlocker, BlockerEntry>;
  readonly #keysOf = new Map<string, Set<string>>();
  /** Recorded blockers by drain and cause, as they were recorded. */
  readonly #recorded = new Map<string, Map<string, BlockedPods>>();
  readonly #changes = new Subject<void>();
  readonly #changed = new Set<string>();
  readonly #subscription: Subscription;

  constructor(environment: ActorEnvironment<never>, options: DrainBlockersOptions) {
    this.#options = options;
    this.#registry = actorRegistry(environment, {
      name: 'drainBlocker',
      logic: drainBlocker.provide({
        actions: {
          recordBlocked: ({ context: { drain, cause } }) => this.#record(drain, cause),
          reviewDrain: ({ context: { drain } }) => this.changed(drain),
        },
      }),
      keyOf: ({ key }: BlockerEntry) => key,
      input: ({ drain, cause, startsInMs, verdict }) => ({ drain, cause, startsInMs, verdict }),
      logFields: ({ drain }) => ({ drain }),
    });
    this.#subscription = this.#changes
      .pipe(auditTime(REVIEW_MS, environment.scheduler))
      .subscribe(() => this.#reviewChanged());
  }

  /** A change may have affected the blockers of the drain. */
  readonly changed = (drain: string): void => {
    this.#changed.add(drain);
    if (this.#changed.size === 1) this.#changes.next();
  };

  /** The drain has ended: its records are removed. */
  readonly forget = (drain: string): void => {
    this.#changed.delete(drain);
    for (const key of this.#keysOf.get(drain) ?? []) this.#registry.remove(key);
    this.#keysOf.delete(drain);
    this.#recorded.delete(drain);
  };

  readonly stop = (): Promise<void> => {
    this.#subscription.unsubscribe();
    return this.#registry.stop();
  };

  #reviewChanged(): void {
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const drain of changed) this.#review(drain);
  }

  #review(drain: string): void {
    const review = this.#options.review(drain);
    if (review === undefined) return this.forget(drain);
    const causes = new Set<string>();
    for (const blocked of review.blocked) {
      const cause = causeOf(blocked);
      causes.add(cause);
      this.#showAgain(drain, blocked);
      this.#consider({ drain, cause, startsInMs: null, verdict: blockedVerdict(blocked) });
    }
    this.#removeOthers(drain, causes);
    if (review.isIdle !== true) this.#forgetEnded(drain, causes);
    if (review.nextMs === Number.POSITIVE_INFINITY) return;
    const startsInMs = Math.max(0, review.nextMs) + NEXT_MS;
    this.#consider({ drain, cause: NEXT, startsInMs, verdict: null });
  }

  #show(drain: string): void {
    this.#options.show(drain, [...this.#recorded.get(drain)?.values() ?? []]);
  }

  /** A cause that was recorded, ended, and blocks again: it has its Event already. */
  #showAgain(drain: string, blocked: BlockedPods): void {
    const cause = causeOf(blocked);
    if (this.#registry.stateOf(`${drain} ${cause}`) !== 'recorded') return;
    const recorded = this.#recorded.get(drain) ?? new Map<string, BlockedPods>();
    if (recorded.has(cause)) return;
    this.#recorded.set(drain, recorded.set(cause, blocked));
    this.#show(drain);
  }

  /** A recorded cause that blocks nothing any more is no longer shown; its Event stays. */
  #forgetEnded(drain: string, causes: ReadonlySet<string>): void {
    const recorded = this.#recorded.get(drain);
    const ended = [...recorded?.keys() ?? []].filter((cause) => !causes.has(cause));
    for (const cause of ended) recorded?.delete(cause);
    if (ended.length > 0) this.#show(drain);
  }

  #consider(entry: Omit<BlockerEntry, 'key'>): void {
    const key = `${entry.drain} ${entry.cause}`;
    const keys = this.#keysOf.get(entry.drain) ?? new Set();
    this.#keysOf.set(entry.drain, keys.add(key));
    this.#registry.consider({ ...entry, key });
  }

  /** A cause that disappeared before it was recorded starts over; a recorded one stays recorded. */
  #removeOthers(drain: string, causes: ReadonlySet<string>): void {
    const keys = this.#keysOf.get(drain);
    for (const key of [...keys ?? []]) {
      if (causes.has(key.slice(drain.length + 1))) continue;
      if (this.#registry.stateOf(key) === 'recorded') continue;
      this.#registry.remove(key);
      keys?.delete(key);
    }
  }

  /** A cause that time has ended meanwhile, such as a budget that gave a slot, starts over. */
  #record(drain: string, cause: string): void {
    const review = this.#options.review(drain);
    const blocked = review?.blocked.find((candidate) => causeOf(candidate) === cause);
    if (blocked !== undefined) {
      const recorded = this.#recorded.get(drain) ?? new Map<string, BlockedPods>();
      this.#recorded.set(drain, recorded.set(cause, blocked));
      this.#options.record(drain, blocked);
      return this.#show(drain);
    }
    queueMicrotask(() => {
      this.#registry.remove(`${drain} ${cause}`);
      this.changed(drain);
    });
  }
}

/** Shows what blocks a drain to its statechart and on the UpcomingNode, which outlives Events. */
const showBlocked = (
  drains: Pick<NodeDrainActors, 'entry' | 'get'>,
  key: string,
  { blocked, showOnMachine, showOnNode }: Pick<DrainTargets, 'showOnMachine' | 'showOnNode'> & {
    readonly blocked: readonly BlockedPods[];
  },
): void => {
  const entry = drains.entry(key);
  const verdict = chiefVerdict(blocked) ?? null;
  drains.get(key)?.send({ type: 'verdict.changed', verdict });
  if (entry !== undefined) {
    entry.hasCondition = true;
    showOnNode?.(entry.node.name, blockedCondition(verdict));
  }
  if (entry === undefined || entry.owner !== 'reclaim' || entry.machineId === '') return;
  void showOnMachine(entry.machineId, { _tag: 'Draining', blocked: blockedText(blocked) });
};

/** The blockers of the drains of a registry, recorded as Events about their Nodes. */
export const blockersOfDrains = (
  environment: ActorEnvironment<never>,
  drains: Pick<NodeDrainActors, 'entry' | 'get'>,
  targets: Pick<DrainTargets, 'showOnMachine' | 'showOnNode' | 'events' | 'paused'>,
): DrainBlockers =>
  new DrainBlockers(environment, {
    review: (key) => blockersOf(drains, key, targets.paused),
    record: (key, blocked) => {
      const entry = drains.entry(key);
      if (entry) targets.events.blocked(entry.node, blocked, entry.notedBudgets);
    },
    show: (key, blocked) => showBlocked(drains, key, { ...targets, blocked }),
  });

/** Ends the condition of a Node without a drain that the leader before could not end any more. */
export const showMissedEnd = (
  node: DrainedNode,
  { showOnNode }: Pick<DrainTargets, 'showOnNode'>,
): void => {
  const missed = missedEnd(node);
  if (missed !== undefined) showOnNode?.(node.name, missed);
};
