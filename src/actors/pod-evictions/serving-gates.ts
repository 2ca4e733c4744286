/**
 * The readiness gates `tidegate.dev/serving` of pods: closed before their evictions, and opened
 * when their containers are ready (RS-14).
 *
 * Promises: a pod without the gate costs nothing; a gate has an actor only while it is to be
 * written or watched; gates of pods that nobody evicts are opened only by the process that leads
 * with the role availability.
 */
import { type Observable, Subject, Subscription } from 'rxjs';
import type { DrainPod } from '../../domain/drain/pod.ts';
import type { ServingGate } from '../../domain/drain/serving-gate.ts';
import type { Fact } from '../../domain/facts.ts';
import type { Uid } from '../../domain/ids.ts';
import type { ServingGates } from '../../effects/serving-gates.ts';
import type { servingGate } from '../../machines/serving-gate.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { deferredSends, WRITES_STOPPED } from '../actor-logic.ts';
import { type ActorRegistry, actorRegistry, innermostState } from '../actor-registry.ts';
import type { Informer } from '../informers/informer.ts';
import { provideServingGate } from './serving-gate-actor.ts';

/** A pod with the gate. */
interface GateEntry {
  pod: DrainPod;
  gate: ServingGate;
  /** An eviction keeps it closed. */
  isHeld: boolean;
  state: string;
}

/** What the gates follow. */
export interface ServingGateOptions {
  readonly pods: Pick<Informer<DrainPod>, 'facts' | 'values'>;
}

/** States in which the eviction need not wait for the gate. */
const MAY_LEAVE: ReadonlySet<string> = new Set(['outOfBackends', 'refused']);

/** The gates of a process; it opens none before `onLeading`. */
export class ServingGateRegistry {
  readonly #options: ServingGateOptions;
  readonly #registry: ActorRegistry<typeof servingGate, GateEntry>;
  readonly #changes = new Subject<Uid>();
  readonly #subscription = new Subscription();
  readonly #defer: ReturnType<typeof deferredSends>;
  #isOpener = false;

  constructor(environment: ActorEnvironment<ServingGates>, options: ServingGateOptions) {
    this.#options = options;
    this.#defer = deferredSends(environment.telemetry);
    this.#registry = actorRegistry(environment, {
      name: 'servingGate',
      logic: provideServingGate(
        environment,
        {
          podOf: (uid) => this.#registry.entry(uid)?.pod,
          onNotLeader: (uid) => this.#registry.remove(uid),
        },
        (write) => this.#registry.inFlight(write, WRITES_STOPPED),
      ),
      keyOf: ({ pod }: GateEntry) => pod.uid,
      labelOf: ({ pod }) => pod.key,
      input: ({ pod: { uid, key }, gate }, seed) => ({
        uid,
        key,
        gate,
        isOpener: this.#isOpener,
        seed,
      }),
      onStart: ({ isHeld }, actor) => {
        if (isHeld) actor.send({ type: 'eviction.began' });
      },
      observe: ({ gate }, actor) => actor.send({ type: 'pod.observed', gate }),
      onSnapshot: (entry, { value }) => this.#moved(entry, innermostState(value)),
      onCount: (state, count) =>
        environment.telemetry.gauge('tidegate_serving_gates', count, { state }),
      logFields: ({ pod }) => ({ pod: pod.key }),
    });
    this.#subscription.add(options.pods.facts.subscribe((fact) => this.#onPods(fact)));
  }

  /** Pods whose eviction may have to wait for their gate no more, or again. */
  get changes(): Observable<Uid> {
    return this.#changes;
  }

  readonly actors = () => this.#registry.actors();

  /** Services may send clients to the pod, and its gate can end that. */
  readonly isServing = ({ uid, gate }: DrainPod): boolean =>
    gate !== undefined && !MAY_LEAVE.has(this.#registry.entry(uid)?.state ?? '');

  /** An eviction has closed the gate of the pod. */
  readonly isHeld = ({ uid }: DrainPod): boolean => this.#registry.entry(uid)?.isHeld === true;

  /** The pod is evicted now: its gate closes. */
  readonly close = (pod: DrainPod): void => {
    if (pod.gate === undefined) return;
    const entry = this.#registry.entry(pod.uid);
    if (entry === undefined) {
      return this.#registry.consider({ pod, gate: pod.gate, isHeld: true, state: '' });
    }
    entry.isHeld = true;
    this.#registry.get(pod.uid)?.send({ type: 'eviction.began' });
  };

  /** The pod stays for now: its gate opens again. */
  readonly open = (uid: Uid): void => {
    const entry = this.#registry.entry(uid);
    if (entry?.isHeld !== true) return;
    entry.isHeld = false;
    this.#registry.get(uid)?.send({ type: 'eviction.ended' });
  };

  /** From now on the gates of all pods are opened when their containers are ready. */
  readonly onLeading = (): void => {
    this.#setOpener(true);
    for (const pod of this.#options.pods.values()) this.#observe(pod);
  };

  readonly onLeadershipLost = (): void => this.#setOpener(false);

  readonly stop = (): Promise<void> => {
    this.#subscription.unsubscribe();
    return this.#registry.stop();
  };

  #setOpener(isOpener: boolean): void {
    this.#isOpener = isOpener;
    for (const actor of [...this.#registry.actors()]) {
      actor.send({ type: 'opener.changed', isOpener });
    }
  }

  #onPods(fact: Fact<DrainPod>): void {
    if (fact._tag === 'Absent') return this.#left(fact.last.uid);
    if (fact._tag === 'Present') return this.#observe(fact.object);
    // Those that are listed no more follow as absent.
    for (const pod of fact.objects) this.#observe(pod);
  }

  #observe(pod: DrainPod): void {
    const { gate } = pod;
    if (gate === undefined) return;
    if (pod.terminating || pod.finished) return this.#left(pod.uid);
    const entry = this.#registry.entry(pod.uid);
    if (entry !== undefined) {
      entry.pod = pod;
      entry.gate = gate;
      return this.#registry.consider(entry);
    }
    if (!this.#isOpener || gate.isOpen || !(gate.areContainersReady || gate.isEvicting)) return;
    this.#registry.consider({ pod, gate, isHeld: false, state: '' });
  }

  #left(uid: Uid): void {
    this.#registry.get(uid)?.send({ type: 'pod.left' });
  }

  #moved(entry: GateEntry, state: string): void {
    if (state === entry.state) return;
    entry.state = state;
    const { uid } = entry.pod;
    this.#defer(() => {
      this.#changes.next(uid);
      const isOver = entry.state === 'left' || (entry.state === 'resting' && !entry.isHeld);
      if (isOver && this.#registry.entry(uid) === entry) this.#registry.remove(uid);
    });
  }
}
