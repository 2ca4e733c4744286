/**
 * The drain of one node by `tidegate drain NODE`, from its NodeMaintenance to its end.
 *
 * Promises: waits for the pods that are on the node when it is cordoned, as kubectl does; what the
 * maintenance leaves there and kubectl would remove is evicted here.
 */
import { Effect } from 'effect';
import { type PodVerdict, podVerdict } from '../../domain/drain/drain-filters.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import { goDuration } from '../../domain/go-duration.ts';
import type { Uid } from '../../domain/ids.ts';
import type { ObservedMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import { listed, quoted } from '../../domain/text.ts';
import type { Time } from '../../domain/time.ts';
import { evictPod, handOverCordon } from '../../effects/drained-pods.ts';
import type { KubeApi } from '../../effects/kube-api.ts';
import {
  createMaintenance,
  deleteMaintenance,
  type MaintenanceOutcome,
} from '../../effects/maintenance-objects.ts';
import {
  hasTerms,
  isAtWork,
  isDrained,
  isEnding,
  maintenanceOf,
  newMaintenance,
} from '../maintenance/maintenance-of-node.ts';
import type { DrainQuestion } from './drain-node-request.ts';
import { drainLines, type FilteredNode, podName } from './drain-node-text.ts';
import type { NodeDrainWatch } from './drain-node-watch.ts';
import { unservedText } from '../maintenance/maintenance-wait.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** An operator that leads takes a maintenance, and lets one go, within seconds. */
const UNSERVED_AFTER_MS = 15_000;
/** Between evictions of one pod, as kubectl. */
const AGAIN_MS = 5000;
const PODS_MAX = 20;
/** Of a maintenance whose operator does not run. */
const STAYS = 'stays until an operator with --roles maintenance has released the node';

/** What a drain works with. */
export interface NodeDrainOptions {
  readonly node: FilteredNode;
  readonly question: DrainQuestion;
  readonly watch: NodeDrainWatch;
  readonly terminal: Pick<Terminal, 'print' | 'report'>;
  readonly time: Pick<Time, 'now' | 'schedule'>;
}

type Ending = 'Drained' | 'TimedOut' | 'Withdrawn';

const LINES = drainLines('none');

/** A refusal, in the place of a fault. */
const asRefusal = ({ why }: { readonly why: string }): Effect.Effect<MaintenanceOutcome> =>
  Effect.succeed({ _tag: 'Refused', why });

const asText = ({ why }: { readonly why: string }): Effect.Effect<string> => Effect.succeed(why);

/** The drain of one node. */
export class NodeDrain {
  readonly #options: NodeDrainOptions;
  readonly #name: string;
  readonly #awaited = new Map<Uid, DrainPod>();
  readonly #leaving = new Set<Uid>();
  readonly #waiters = new Set<() => void>();
  #isCordoned = false;
  /** The cache has had its maintenance. */
  #isFollowed = false;
  #isLate = false;
  #isOver = false;

  constructor(options: NodeDrainOptions) {
    this.#options = options;
    this.#name = maintenanceOf(options.node.name);
  }

  get node(): string {
    return this.#options.node.name;
  }

  /** Its maintenance is deleted. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The pods that are waited for, in one line. */
  get podsLeft(): string {
    const names = [...this.#awaited.values()].map(podName).toSorted();
    return names.length === 0 ? 'no pod' : listed(names, PODS_MAX);
  }

  /** Looks at the pods and the maintenance. */
  readonly onChange = (): void => {
    this.#observe();
    for (const waiter of [...this.#waiters]) waiter();
  };

  /** Drains; false when that failed, which is reported. */
  readonly run = async (): Promise<boolean> => {
    const { question: { timeoutMs }, terminal, time } = this.#options;
    const cancelTimeout = timeoutMs === undefined ? () => {} : time.schedule(timeoutMs, () => {
      this.#isLate = true;
      this.onChange();
    });
    const made = await this.#made();
    if (typeof made === 'string') {
      cancelTimeout();
      terminal.report(`Cannot drain node ${quoted(this.node)}: ${made}`);
      this.#isOver = true;
      return false;
    }
    const ending = await this.#ended(made);
    cancelTimeout();
    return await this.#settled(made, ending);
  };

  /** Resolves with how the drain by its maintenance ended. */
  async #ended(made: ObservedMaintenance): Promise<Ending | undefined> {
    const cancel = this.#options.time.schedule(UNSERVED_AFTER_MS, () => {
      const taken = this.#current?.status.observedGeneration ?? 0;
      if (taken === 0) this.#options.terminal.report(unservedText(this.#name));
    });
    let ending: Ending | undefined;
    await this.#until(() => (ending = this.#endingOf(made)) !== undefined);
    cancel();
    return ending;
  }

  /** Keeps the cordon and cleans up; true when all of it is as it should be. */
  async #settled(made: ObservedMaintenance, ending: Ending | undefined): Promise<boolean> {
    const { node, terminal, time } = this.#options;
    const kept = await this.#perform(
      handOverCordon(node.before, time.now()).pipe(Effect.catch(asText)),
    );
    if (kept !== undefined) {
      terminal.report(`Cannot keep node ${quoted(this.node)} cordoned: ${kept}`);
    }
    const isGone = await this.#removed(made);
    this.#report(ending);
    return ending === 'Drained' && kept === undefined && isGone;
  }

  #report(ending: Ending | undefined): void {
    const { question: { timeoutMs = 0 }, terminal } = this.#options;
    if (ending === 'Drained') return terminal.print(LINES.drained(this.node));
    const left = `${this.podsLeft} left; it stays cordoned`;
    terminal.report(
      ending === 'TimedOut'
        ? `Cannot drain node ${quoted(this.node)} in ${goDuration(timeoutMs)}: ${left}`
        : `Cannot drain node ${quoted(this.node)}: its NodeMaintenance ${quoted(this.#name)} was ` +
          `completed or deleted by others: ${left}`,
    );
  }

  get #current(): ObservedMaintenance | undefined {
    return this.#options.watch.maintenance(this.#name);
  }

  #perform<Value>(effect: Effect.Effect<Value, never, KubeApi>): Promise<Value> {
    return this.#options.watch.environment.runtime.runPromise(effect);
  }

  /** Resolves when it is so; looks after every change. */
  #until(isSo: () => boolean): Promise<void> {
    if (isSo()) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter = (): void => {
      if (!isSo()) return;
      this.#waiters.delete(waiter);
      resolve();
    };
    this.#waiters.add(waiter);
    return promise;
  }

  /** The maintenance of an earlier run, or a new one; a text when there is none. */
  async #made(): Promise<ObservedMaintenance | string> {
    const { question, terminal } = this.#options;
    for (;;) {
      const known = this.#current;
      if (known !== undefined && !isEnding(known)) {
        if (!hasTerms(known, question)) {
          return `NodeMaintenance ${quoted(this.#name)} of an earlier run has another ` +
            '--pod-selector or --grace-period: use the same flags, or end it with ' +
            `"tidegate maintenance complete ${this.#name}"`;
        }
        terminal.report(`Going on with NodeMaintenance ${quoted(this.#name)}`);
        return known;
      }
      // Its name is free then.
      const problem = known === undefined ? undefined : await this.#cleanedUpAfter(known);
      if (problem !== undefined) return problem;
      const outcome = await this.#perform(
        createMaintenance(newMaintenance(this.node, question), { isTrial: false })
          .pipe(Effect.catch(asRefusal)),
      );
      if (outcome._tag === 'Stored') return outcome.maintenance;
      if (outcome._tag === 'Refused') return `its NodeMaintenance is refused: ${outcome.why}`;
      if (!await this.#appears()) {
        return `NodeMaintenance ${
          quoted(this.#name)
        } exists and is not of this command; complete ` +
          'and delete it, or drain by it';
      }
    }
  }

  /** Deletes what an earlier run left, which nobody else does; a text when it stays. */
  async #cleanedUpAfter(earlier: ObservedMaintenance): Promise<string | undefined> {
    const { question: { timeoutMs = 0 }, terminal, time } = this.#options;
    const name = `NodeMaintenance ${quoted(this.#name)} of an earlier run`;
    const refused = earlier.deleting
      ? undefined
      : await this.#perform(deleteMaintenance(earlier).pipe(Effect.catch(asText)));
    if (refused !== undefined) return `${name} cannot be deleted: ${refused}`;
    const cancel = time.schedule(
      UNSERVED_AFTER_MS,
      () => terminal.report(`${name} is deleted, and ${STAYS}; still waiting`),
    );
    await this.#until(() => this.#isLate || this.#current?.uid !== earlier.uid);
    cancel();
    return this.#current?.uid === earlier.uid
      ? `${name} is still there after ${goDuration(timeoutMs)}`
      : undefined;
  }

  /** Whether a maintenance that was in the way is of this command: the cache has those alone. */
  async #appears(): Promise<boolean> {
    let isLate = false;
    const cancel = this.#options.time.schedule(UNSERVED_AFTER_MS / 5, () => {
      isLate = true;
      this.onChange();
    });
    await this.#until(() => isLate || this.#current !== undefined);
    cancel();
    return this.#current !== undefined;
  }

  /** Deletes the maintenance and waits until the operator has released the node. */
  async #removed(made: ObservedMaintenance): Promise<boolean> {
    const { terminal, time } = this.#options;
    const problem = await this.#perform(deleteMaintenance(made).pipe(Effect.catch(asText)));
    this.#isOver = true;
    if (problem !== undefined) {
      terminal.report(`Cannot delete NodeMaintenance ${quoted(this.#name)}: ${problem}`);
      return false;
    }
    let isLate = false;
    const cancel = time.schedule(UNSERVED_AFTER_MS, () => {
      isLate = true;
      this.onChange();
    });
    await this.#until(() => isLate || this.#current?.uid !== made.uid);
    cancel();
    if (this.#current?.uid === made.uid) {
      terminal.report(`NodeMaintenance ${quoted(this.#name)} is deleted, and ${STAYS}`);
    }
    return true;
  }

  #endingOf({ uid }: ObservedMaintenance): Ending | undefined {
    const current = this.#current;
    const isThere = current?.uid === uid;
    // The cache may not have it yet.
    if (isThere ? isEnding(current) : this.#isFollowed) return 'Withdrawn';
    this.#isFollowed = isThere;
    if (this.#isCordoned && this.#awaited.size === 0) return 'Drained';
    return this.#isLate ? 'TimedOut' : undefined;
  }

  #verdict(pod: DrainPod): PodVerdict {
    const { question: { filters }, node: { hasDaemonSet }, time } = this.#options;
    return podVerdict(pod, filters, { hasDaemonSet, nowMs: time.now() });
  }

  #observe(): void {
    const { watch, terminal, node: { wasCordoned } } = this.#options;
    const pods = new Map(watch.podsOn(this.node).map((pod) => [pod.uid, pod]));
    for (const pod of pods.values()) this.#observePod(pod);
    for (const [uid, last] of this.#awaited) {
      const pod = pods.get(uid);
      if (pod !== undefined && this.#verdict(pod)._tag !== 'Stays') continue;
      this.#awaited.delete(uid);
      if (pod !== undefined) continue;
      // It may have gone before it was seen to terminate.
      if (!this.#leaving.has(uid)) terminal.print(LINES.evicting(last));
      terminal.print(LINES.evicted(last));
    }
    const current = this.#current;
    if (this.#isCordoned || current === undefined) return;
    this.#isCordoned = isAtWork(current, this.node) || isDrained(current);
    if (this.#isCordoned) terminal.print(LINES.cordoned(this.node, wasCordoned));
  }

  #observePod(pod: DrainPod): void {
    const { terminal } = this.#options;
    const verdict = this.#verdict(pod);
    if (verdict._tag === 'Stays') return;
    // Pods that come later tolerate the cordon; kubectl does not wait for them either.
    if (!this.#isCordoned) this.#awaited.set(pod.uid, pod);
    if (!this.#awaited.has(pod.uid) || this.#leaving.has(pod.uid)) return;
    const isRemoved = verdict._tag === 'Removed' && this.#isCordoned;
    if (!pod.terminating && !isRemoved) return;
    this.#leaving.add(pod.uid);
    terminal.print(LINES.evicting(pod));
    if (!pod.terminating) void this.#evict(pod);
  }

  async #evict(pod: DrainPod): Promise<void> {
    const { question: { graceSeconds }, terminal, time } = this.#options;
    const problem = await this.#perform(evictPod(pod, graceSeconds).pipe(Effect.catch(asText)));
    if (problem === undefined) return;
    terminal.report(`Cannot evict pod ${quoted(podName(pod))}, trying again: ${problem}`);
    time.schedule(AGAIN_MS, () => {
      this.#leaving.delete(pod.uid);
      this.onChange();
    });
  }
}
