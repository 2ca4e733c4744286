/** A cluster at the other end of a stream: sends what a test wants, keeps what it receives. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { dialMessages, type OperatorFrame, StreamRefused } from '../src/in-process.ts';
import type { Script } from '../src/script.ts';
import type { CapacityNeedSchema } from '../src/gen/bigfleet/v1alpha1/capacity_pb.ts';
import { MachineState } from '../src/gen/bigfleet/v1alpha1/provider_pb.ts';
import type {
  AvailableCapacityUpdate,
  BootstrapRequest,
  NodeStateUpdate,
  ReclaimInstruction,
  ShardMessage,
} from '../src/gen/bigfleet/v1alpha1/shard_pb.ts';

/** What a test writes as a need. */
export type NeedInit = MessageInitShape<typeof CapacityNeedSchema>;

/** How bootstrap pulls are answered: with data, with this error, or not at all. */
export type BootstrapAnswers = 'answers' | 'silent' | { readonly error: string };

/** A cluster on an in-process stream. */
export class FleetCluster {
  readonly received: ShardMessage[] = [];
  bootstraps: BootstrapAnswers = 'answers';
  refused: StreamRefused | undefined;
  ended = false;
  readonly id: string;
  readonly #stream: ReturnType<typeof dialMessages>;

  constructor(script: Script, id: string, certified?: readonly string[]) {
    this.id = id;
    this.#stream = dialMessages(script, certified);
    this.#receive().catch((cause: unknown) => {
      if (!(cause instanceof StreamRefused)) throw cause;
      this.refused = cause;
    }).finally(() => {
      this.ended = true;
    });
  }

  send(frame: OperatorFrame): void {
    this.#stream.send(frame);
  }

  hello(clusterId = this.id): this {
    this.send({ case: 'hello', value: { clusterId, protocolVersion: 'v1alpha1' } });
    return this;
  }

  wants(...needs: readonly NeedInit[]): void {
    this.send({ case: 'rollup', value: { clusterId: this.id, needs: [...needs] } });
  }

  close(): void {
    this.#stream.close();
  }

  acks(echo: 'hello' | 'rollup'): number {
    return this.received.filter(({ payload }) =>
      payload.case === 'ack' && payload.value.echo === echo
    )
      .length;
  }

  updates(): readonly NodeStateUpdate[] {
    return this.received.flatMap(({ payload }) =>
      payload.case === 'nodeStateUpdate' ? [payload.value] : []
    );
  }

  /** The states that were received of a machine, in order. */
  statesOf(machineId: string): readonly string[] {
    return this.updates().filter((update) => update.machineId === machineId)
      .map(({ state }) => stateName(state));
  }

  /** The last state that was received of each machine. */
  machines(): ReadonlyMap<string, string> {
    return new Map(this.updates().map(({ machineId, state }) => [machineId, stateName(state)]));
  }

  /** Ids of the machines that were last received in this state, sorted. */
  machinesIn(state: string): readonly string[] {
    return [...this.machines()].filter(([, last]) => last === state).map(([id]) => id).sort();
  }

  reclaims(): readonly ReclaimInstruction[] {
    return this.received.flatMap(({ payload }) =>
      payload.case === 'reclaimInstruction' ? [payload.value] : []
    );
  }

  pulls(): readonly BootstrapRequest[] {
    return this.received.flatMap(({ payload }) =>
      payload.case === 'bootstrapRequest' ? [payload.value] : []
    );
  }

  capacity(): readonly AvailableCapacityUpdate[] {
    return this.received.flatMap(({ payload }) =>
      payload.case === 'availableCapacity' ? [payload.value] : []
    );
  }

  async #receive(): Promise<void> {
    for await (const message of this.#stream.messages) {
      this.received.push(message);
      if (message.payload.case === 'bootstrapRequest') this.#answer(message.payload.value);
    }
  }

  #answer({ requestId }: BootstrapRequest): void {
    if (this.bootstraps === 'silent') return;
    const answer = this.bootstraps === 'answers'
      ? { userData: new TextEncoder().encode('#cloud-config'), ttlSeconds: 600n }
      : { error: this.bootstraps.error };
    this.send({ case: 'bootstrapResponse', value: { requestId, ...answer } });
  }
}

const stateName = (state: NodeStateUpdate['state']): string =>
  Object.entries(MachineState).find(([, value]) => value === state)?.[0] ?? String(state);

/** A need of so many CPUs, in units of one. */
export const cpus = (count: number | string, more: NeedInit = {}): NeedInit => ({
  aggregateResources: { cpu: String(count) },
  minUnit: { cpu: '1' },
  ...more,
});
