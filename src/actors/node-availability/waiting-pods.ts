/**
 * Shows on stateful pods, and on their claims, that their Node is offline (RS-21).
 *
 * Promises: one Event for each pod and claim while the Node is offline, and one write of a pod for
 * each change, unless that got no answer; a change that was refused is not tried again, because the
 * right to the status of pods is optional.
 */
import { defer, Subject, type Subscription } from 'rxjs';
import type { RecordEvent } from '../../api/event-note.ts';
import { defectText } from '../../api/telemetry.ts';
import type { Fact } from '../../domain/facts.ts';
import type { VolumeClaim } from '../../domain/node-availability/local-volumes.ts';
import { homeOfflinePatch, type LostPod } from '../../domain/node-availability/lost-pods.ts';
import { NodeAvailabilityApi } from '../../effects/node-availability.ts';
import { latestPerKey } from '../../streams/latest-per-key.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** Pods that are written at once. */
const PODS_AT_ONCE = 4;

/** What they need. */
export interface WaitingPodsOptions {
  readonly record: RecordEvent;
  /** The write of a pod got no answer: its Node is to be looked at again. */
  readonly onFault: (node: string) => void;
}

interface Change {
  readonly pod: LostPod;
  readonly isOffline: boolean;
  /** Its write got no answer. */
  hasFailed: boolean;
}

/** The stateful pods of a process. */
export class WaitingPods {
  readonly #record: RecordEvent;
  readonly #changes = new Subject<Change>();
  readonly #subscription: Subscription;
  /** The last change of each pod, by UID. */
  readonly #sent = new Map<string, Change>();
  /** Pods that show it, by UID. */
  readonly #showing = new Map<string, LostPod>();

  constructor(
    environment: ActorEnvironment<NodeAvailabilityApi>,
    { record, onFault }: WaitingPodsOptions,
  ) {
    const { runtime, telemetry, time } = environment;
    this.#record = record;
    this.#subscription = this.#changes.pipe(latestPerKey({
      key: ({ pod: { uid } }) => uid,
      concurrency: PODS_AT_ONCE,
      work: (change) =>
        defer(async () => {
          const { pod, isOffline } = change;
          const { namespace, name } = pod;
          const body = homeOfflinePatch(pod, { isOffline, nowMs: time.now() });
          const outcome = await runtime.runPromise(
            NodeAvailabilityApi.use((api) => api.showOnPod({ namespace, name, body })),
          );
          if (outcome !== 'Fault' || this.#sent.get(pod.uid) !== change) return;
          change.hasFailed = true;
          onFault(pod.node);
        }),
      onDefect: (cause, { pod: { key } }) =>
        telemetry.log('error', 'Cannot show on a pod that its Node is offline: its write threw', {
          pod: key,
          problem: defectText(cause),
        }),
    })).subscribe();
  }

  /** Its Node is offline; `claims` are those of the pod that exist. */
  readonly add = (pod: LostPod, claims: readonly VolumeClaim[]): void => {
    const known = this.#sent.get(pod.uid);
    if (known?.isOffline === true) return this.#repeat(known);
    this.#send(pod, true);
    const { namespace, name, uid, node } = pod;
    this.#record({
      regarding: { apiVersion: 'v1', kind: 'Pod', name, namespace, uid },
      reason: 'VolumeHomeNodeOffline',
      note: `Node "${node}" is offline; the pod waits for it`,
    });
    for (const claim of claims) {
      this.#record({
        regarding: {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          name: claim.key.split('/').at(-1) ?? '',
          namespace,
          uid: claim.uid,
        },
        reason: 'VolumeHomeNodeOffline',
        note: `Node "${node}" is offline; pod "${name}" waits for it`,
      });
    }
  };

  /** Its Node is not offline. */
  readonly remove = (pod: LostPod): void => {
    const known = this.#sent.get(pod.uid);
    if (known?.isOffline === false) return this.#repeat(known);
    if (known !== undefined || this.#showing.has(pod.uid)) this.#send(pod, false);
  };

  /** Nodes with pods that show it, or were to. */
  readonly nodes = (): ReadonlySet<string> =>
    new Set([
      ...this.#sent.values().map(({ pod }) => pod.node),
      ...this.#showing.values().map(({ node }) => node),
    ]);

  /** No pod shows it. */
  get isEmpty(): boolean {
    return this.#sent.size + this.#showing.size === 0;
  }

  readonly observe = (fact: Fact<LostPod>): void => {
    if (fact._tag === 'Absent') return this.#forget(fact.last.uid);
    if (fact._tag === 'Present') return this.#observePod(fact.object);
    const listed = new Set<string>(fact.objects.map(({ uid }) => uid));
    for (const uid of [...this.#sent.keys(), ...this.#showing.keys()]) {
      if (!listed.has(uid)) this.#forget(uid);
    }
    for (const pod of fact.objects) this.#observePod(pod);
  };

  /** Another process writes now. */
  readonly clear = (): void => {
    this.#sent.clear();
  };

  readonly stop = (): void => this.#subscription.unsubscribe();

  #observePod(pod: LostPod): void {
    if (pod.showsHomeOffline) this.#showing.set(pod.uid, pod);
    else {
      this.#showing.delete(pod.uid);
      if (this.#sent.get(pod.uid)?.isOffline === false) this.#forget(pod.uid);
    }
  }

  #forget(uid: string): void {
    this.#sent.delete(uid);
    this.#showing.delete(uid);
  }

  #send(pod: LostPod, isOffline: boolean): void {
    const former = this.#sent.get(pod.uid);
    const change = { pod, isOffline, hasFailed: false };
    this.#sent.set(pod.uid, change);
    // A former process may have written it.
    if (isOffline && former === undefined && this.#showing.has(pod.uid)) return;
    this.#changes.next(change);
  }

  #repeat(change: Change): void {
    if (!change.hasFailed) return;
    change.hasFailed = false;
    this.#changes.next(change);
  }
}
