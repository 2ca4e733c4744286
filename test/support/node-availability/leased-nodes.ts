/**
 * Kubelets of a real control plane that run nothing: they renew the Leases of their Nodes, report
 * pods as running, ready once their readiness gates are True, and let them go.
 *
 * Promises: a Node that fails has renewed its Lease in that moment, so that Nodes which fail
 * together are silent for equally long; its pods stay as they are.
 */
import { type JsonRecord, listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { type ClusterClient, COLLECTIONS, nameOf } from '../api/cluster-client.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const PODS = '/api/v1/namespaces/default/pods';
const HEARTBEAT_MS = 5000;
const LOOK_MS = 500;
const KUBELET_CONDITIONS = ['Initialized', 'ContainersReady', 'Ready'];
const RESOURCES = { cpu: '8', memory: '16Gi', pods: '110' };

/** Sends a request; fails when it is refused. */
export const must = async (
  cluster: ClusterClient,
  ...[method, path, body]: Parameters<ClusterClient['call']>
): Promise<JsonRecord> => {
  const answer = await cluster.call(method, path, body);
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

/** A pod that has a deletion timestamp. */
export const isLeaving = (pod: unknown): boolean =>
  textAt(pod, 'metadata', 'deletionTimestamp') !== undefined;

const rfc3339 = (): string => new Date(realTime.now()).toISOString();

const conditionIn = (pod: unknown, type: string): string | undefined => {
  const conditions = listOrEmptyAt(pod, 'status', 'conditions');
  return textAt(conditions.find((one) => textAt(one, 'type') === type), 'status');
};

const isServing = (pod: unknown): boolean =>
  listOrEmptyAt(pod, 'spec', 'readinessGates')
    .every((gate) => conditionIn(pod, textAt(gate, 'conditionType') ?? '') === 'True');

/** An address that no other pod of the test is likely to have; EndpointSlices need one. */
const addressOf = (uid: string): string => {
  const [one = 0, two = 0] = [uid.slice(0, 2), uid.slice(2, 4)].map((part) => parseInt(part, 16));
  return `10.99.${one}.${two}`;
};

const running = (pod: unknown) => ({
  phase: 'Running',
  podIPs: [{ ip: addressOf(textAt(pod, 'metadata', 'uid') ?? '') }],
  podIP: addressOf(textAt(pod, 'metadata', 'uid') ?? ''),
  conditions: [
    ...listOrEmptyAt(pod, 'status', 'conditions')
      .filter((one) => !KUBELET_CONDITIONS.includes(textAt(one, 'type') ?? '')),
    ...KUBELET_CONDITIONS.map((type) => ({
      type,
      status: type !== 'Ready' || isServing(pod) ? 'True' : 'False',
      lastTransitionTime: rfc3339().replace(/\.\d+Z/, 'Z'),
    })),
  ],
});

/** Its readiness is not what its gates say. */
const isOutdated = (pod: unknown): boolean =>
  textAt(pod, 'status', 'phase') === 'Running' &&
  listOrEmptyAt(pod, 'spec', 'readinessGates').length > 0 &&
  (conditionIn(pod, 'Ready') === 'True') !== isServing(pod);

/** The kubelets; `stop` ends them. */
export class LeasedNodes {
  readonly #cluster: ClusterClient;
  readonly #endsPods: boolean;
  readonly #answering = new Set<string>();
  #cancels: readonly (() => void)[] = [];
  #isStopped = false;

  /** With `endsPods: false`, pods that are to leave do not stop. */
  constructor(cluster: ClusterClient, { endsPods = true }: { readonly endsPods?: boolean } = {}) {
    this.#cluster = cluster;
    this.#endsPods = endsPods;
    this.#every(HEARTBEAT_MS, () => this.#renewAll([...this.#answering]));
    this.#every(LOOK_MS, this.#tend);
  }

  readonly join = async (names: readonly string[]): Promise<void> => {
    for (const name of names) {
      const metadata = { name, labels: { 'kubernetes.io/hostname': name } };
      await must(this.#cluster, 'POST', COLLECTIONS.nodes, { metadata });
      await must(this.#cluster, 'POST', LEASES, {
        metadata: { name },
        spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: this.#microTime() },
      });
      await this.go(name);
    }
  };

  /** Reports Ready, and answers from now on. */
  readonly go = async (name: string): Promise<void> => {
    this.#answering.add(name);
    await this.#renewAll([name]);
    const path = `${COLLECTIONS.nodes}/${name}`;
    const node = await must(this.#cluster, 'GET', path);
    const others = listOrEmptyAt(node, 'status', 'conditions')
      .filter((one) => textAt(one, 'type') !== 'Ready');
    const now = rfc3339().replace(/\.\d+Z/, 'Z');
    const times = { lastHeartbeatTime: now, lastTransitionTime: now };
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', ...times };
    await must(this.#cluster, 'PATCH', `${path}/status`, {
      status: { capacity: RESOURCES, allocatable: RESOURCES, conditions: [...others, ready] },
    });
  };

  /** They renew their Leases for the last time; the moment, on the monotonic clock. */
  readonly fail = async (names: readonly string[]): Promise<number> => {
    for (const name of names) this.#answering.delete(name);
    await this.#renewAll(names);
    return realTime.monotonic();
  };

  readonly stop = (): void => {
    this.#isStopped = true;
    for (const cancel of this.#cancels) cancel();
  };

  readonly #microTime = (): string => rfc3339().replace('Z', '000Z');

  readonly #renewAll = async (names: readonly string[]): Promise<void> => {
    await Promise.all(
      names.map((name) =>
        this.#cluster.call('PATCH', `${LEASES}/${name}`, { spec: { renewTime: this.#microTime() } })
      ),
    );
  };

  /** Pods of Nodes that answer start at once, and stop at once. */
  readonly #tend = async (): Promise<void> => {
    for (const pod of await this.#cluster.list(PODS)) {
      if (!this.#answering.has(textAt(pod, 'spec', 'nodeName') ?? '')) continue;
      const path = `${PODS}/${nameOf(pod)}`;
      const uid = textAt(pod, 'metadata', 'uid') ?? '';
      if (isLeaving(pod)) {
        if (!this.#endsPods) continue;
        const preconditions = { uid };
        await this.#cluster.call('DELETE', path, { gracePeriodSeconds: 0, preconditions });
      } else if (textAt(pod, 'status', 'phase') === 'Pending' || isOutdated(pod)) {
        // At this version only: another client may set a gate meanwhile.
        const resourceVersion = textAt(pod, 'metadata', 'resourceVersion') ?? '';
        await this.#cluster.call('PATCH', `${path}/status`, {
          metadata: { uid, resourceVersion },
          status: running(pod),
        });
      }
    }
  };

  #every(ms: number, work: () => Promise<void>): void {
    const again = (): void => {
      // A request that is under way when the test ends has no answer.
      void work().catch(() => {}).finally(() => this.#isStopped || this.#schedule(ms, again));
    };
    this.#schedule(ms, again);
  }

  #schedule(ms: number, run: () => void): void {
    this.#cancels = [...this.#cancels.slice(-1), realTime.schedule(ms, run)];
  }
}
