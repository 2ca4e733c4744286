/**
 * The `servingGate` statechart with its writes of the pod and its reads of EndpointSlices (RS-14).
 *
 * Promises: an answer reaches the actor that asked, and none that began later for the same pod; a
 * read of an earlier closing says nothing of this one; an act that throws is logged and made again.
 */
import type { Telemetry } from '../../api/telemetry.ts';
import { servingGatePatch } from '../../domain/drain/serving-gate.ts';
import { ServingGates } from '../../effects/serving-gates.ts';
import {
  servingGate,
  type ServingGateContext,
  type ServingGateEvent,
} from '../../machines/serving-gate.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type ActingActor, newestAttempts, startAct, type WriteInFlight } from '../actor-logic.ts';

/** What the acts need to know of the pods. */
export interface ServingGateActions {
  /** Where the pod of the gate is; `undefined` when its gate is followed no more. */
  readonly podOf: (
    uid: string,
  ) => { readonly namespace: string; readonly name: string } | undefined;
  /** This process does not lead (any more): the gate was not written. */
  readonly onNotLeader: (uid: string) => void;
}

/** What an act is begun with. */
interface Begun {
  readonly context: ServingGateContext;
  readonly self: ActingActor<ServingGateEvent>;
}

/** What a write that threw counts as, and a read: both are made again. */
const WRITE_THREW = { type: 'gate.written', outcome: 'Fault' } as const;
const READ_THREW = { type: 'backends.read', isListed: true } as const;

type GateEnvironment = Pick<ActorEnvironment<ServingGates>, 'runtime' | 'time' | 'telemetry'>;

/** The event that answers an act; none when nothing needs it. */
type Answer = Promise<ServingGateEvent | undefined>;

const gateRequests = (
  { runtime, time, telemetry }: GateEnvironment,
  { podOf, onNotLeader }: ServingGateActions,
  inFlight: WriteInFlight,
) => {
  const write = async ({ context, self }: Begun, isOpen: boolean): Answer => {
    const { uid, key } = context;
    const pod = podOf(uid);
    if (pod === undefined) return undefined;
    const { namespace, name } = pod;
    const body = servingGatePatch(uid, { isOpen, nowMs: time.now() });
    const answer = await runtime.runPromise(
      inFlight(ServingGates.use((gates) => gates.write({ namespace, name, body }))),
    );
    const outcome = typeof answer === 'string' ? answer : 'Fault';
    // The next leader has the same facts; a later term begins anew.
    if (outcome === 'NotLeader') {
      if (self.getSnapshot().status === 'active') onNotLeader(uid);
      return undefined;
    }
    if (outcome === 'Refused') {
      telemetry.log('warn', 'Cannot write the serving gate of a pod: refused', { pod: key });
    }
    return { type: 'gate.written', outcome };
  };
  /** The read that an actor began last. */
  const reads = newestAttempts();
  const read = async ({ context: { uid }, self }: Begun): Answer => {
    const pod = podOf(uid);
    if (pod === undefined) return undefined;
    const isLast = reads(self);
    const isListed = await runtime.runPromise(
      ServingGates.use((gates) => gates.isListed(pod.namespace, uid)),
    );
    return isLast() ? { type: 'backends.read', isListed } : undefined;
  };
  return { write, read };
};

const starter =
  (telemetry: Telemetry) =>
  (begun: Begun, act: (begun: Begun) => Answer, failed: ServingGateEvent): void =>
    startAct(begun.self, () => act(begun), (problem) => {
      telemetry.log('error', 'Cannot move the serving gate: it threw', {
        pod: begun.context.key,
        problem,
      });
      return failed;
    });

/** The statechart with its implementations; `inFlight` counts each write. */
export const provideServingGate = (
  environment: GateEnvironment,
  actions: ServingGateActions,
  inFlight: WriteInFlight,
): typeof servingGate => {
  const { write, read } = gateRequests(environment, actions, inFlight);
  const start = starter(environment.telemetry);
  return servingGate.provide({
    actions: {
      writeGate: ({ context, self }, { isOpen }) =>
        start({ context, self }, (begun) => write(begun, isOpen), WRITE_THREW),
      readBackends: ({ context, self }) => start({ context, self }, read, READ_THREW),
    },
  });
};
