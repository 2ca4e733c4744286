/** The kubelet of a Node of a test bed: it reports Ready, renews its Lease, and runs no pod. */
import { type JsonRecord, listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { type ClusterClient, COLLECTIONS } from '../api/cluster-client.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const HEARTBEAT_MS = 5000;
const RESOURCES = { cpu: '8', memory: '16Gi', pods: '110' };

/** The body of the answer; throws when the request fails. */
export const must = async (
  cluster: ClusterClient,
  ...[method, path, body]: Parameters<ClusterClient['call']>
): Promise<JsonRecord> => {
  const answer = await cluster.call(method, path, body);
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

const microTime = (): string => new Date(realTime.now()).toISOString().replace('Z', '000Z');

/** A kubelet that renews its Lease and runs nothing. */
export class StandInKubelet {
  readonly #cluster: ClusterClient;
  readonly #name: string;
  #cancel = (): void => {};
  #renewedMs = 0;

  constructor(cluster: ClusterClient, name: string) {
    this.#cluster = cluster;
    this.#name = name;
  }

  /** When the Lease was renewed last, on the monotonic clock. */
  get renewedMs(): number {
    return this.#renewedMs;
  }

  readonly join = async (): Promise<void> => {
    const metadata = { name: this.#name, labels: { 'kubernetes.io/hostname': this.#name } };
    await must(this.#cluster, 'POST', COLLECTIONS.nodes, { metadata });
    await must(this.#cluster, 'POST', LEASES, {
      metadata: { name: this.#name },
      spec: {
        holderIdentity: this.#name,
        leaseDurationSeconds: 40,
        renewTime: microTime(),
      },
    });
    await this.go();
  };

  /** Reports Ready, and renews the Lease from now on. */
  readonly go = async (): Promise<void> => {
    await this.#renew();
    const path = `${COLLECTIONS.nodes}/${this.#name}`;
    const node = await must(this.#cluster, 'GET', path);
    const others = listOrEmptyAt(node, 'status', 'conditions')
      .filter((one) => textAt(one, 'type') !== 'Ready');
    const now = new Date(realTime.now()).toISOString().replace(/\.\d+Z/, 'Z');
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'KubeletReady',
      lastHeartbeatTime: now,
      lastTransitionTime: now,
    };
    await must(this.#cluster, 'PATCH', `${path}/status`, {
      status: { capacity: RESOURCES, allocatable: RESOURCES, conditions: [...others, ready] },
    });
  };

  readonly stop = (): void => this.#cancel();

  readonly #renew = async (): Promise<void> => {
    await must(this.#cluster, 'PATCH', `${LEASES}/${this.#name}`, {
      spec: { renewTime: microTime() },
    });
    this.#renewedMs = realTime.monotonic();
    this.#cancel = realTime.schedule(HEARTBEAT_MS, () => void this.#renew());
  };
}
