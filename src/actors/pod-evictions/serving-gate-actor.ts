/**
 * The `servingGate` statechart with its writes of the pod and its reads of EndpointSlices (RS-14).
 *
 * Promises: an answer reaches the actor that asked, and none that began later for the same pod; a
 * read of an earlier closing says nothing of this one; an act that throws is logged and counts as a
 * fault.
 */
import { defectText } from '../../api/telemetry.ts';
import { servingGatePatch } from '../../domain/drain/serving-gate.ts';
import { ServingGates } from '../../effects/serving-gates.ts';
import {
  servingGate,
  type ServingGateContext,
  type ServingGateEvent,
} from '../../machines/serving-gate.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { WriteInFlight } from '../actor-logic.ts';

/** What the acts need of an actor. */
interface GateActor {
  readonly getSnapshot: () => { readonly status: string };
  readonly send: (event: ServingGateEvent) => void;
}

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
  readonly self: GateActor;
}

/** An actor that has ended needs no answer. */
const send = (actor: GateActor, event: ServingGateEvent): void => {
  if (actor.getSnapshot().status === 'active') actor.send(event);
};

/** The statechart with its implementations; `inFlight` counts each write. */
export const provideServingGate = (
  { runtime, time, telemetry }: Pick<
    ActorEnvironment<ServingGates>,
    'runtime' | 'time' | 'telemetry'
  >,
  { podOf, onNotLeader }: ServingGateActions,
  inFlight: WriteInFlight,
): typeof servingGate => {
  const write = async ({ context, self }: Begun, isOpen: boolean): Promise<void> => {
    const { uid, key } = context;
    const pod = podOf(uid);
    if (pod === undefined) return;
    const { namespace, name } = pod;
    const body = servingGatePatch(uid, { isOpen, nowMs: time.now() });
    const answer = await runtime.runPromise(
      inFlight(ServingGates.use((gates) => gates.write({ namespace, name, body }))),
    );
    const outcome = typeof answer === 'string' ? answer : 'Fault';
    // The next leader has the same facts; a later term begins anew.
    if (outcome === 'NotLeader') {
      if (self.getSnapshot().status === 'active') onNotLeader(uid);
      return;
    }
    if (outcome === 'Refused') {
      telemetry.log('warn', 'Cannot write the serving gate of a pod: refused', { pod: key });
    }
    send(self, { type: 'gate.written', outcome });
  };
  /** The read that an actor began last. */
  const reads = new WeakMap<GateActor, object>();
  const read = async ({ context: { uid }, self }: Begun): Promise<void> => {
    const pod = podOf(uid);
    if (pod === undefined) return;
    const own = {};
    reads.set(self, own);
    const isListed = await runtime.runPromise(
      ServingGates.use((gates) => gates.isListed(pod.namespace, uid)),
    );
    if (reads.get(self) === own) send(self, { type: 'backends.read', isListed });
  };
  /** In a later step: an actor in transition has not the context of its action yet. */
  const start = ({ context, self }: Begun, act: () => Promise<void>): void =>
    queueMicrotask(() =>
      void act().catch((cause: unknown) => {
        telemetry.log('error', 'Cannot move the serving gate: it threw', {
          pod: context.key,
          problem: defectText(cause),
        });
        send(self, { type: 'gate.written', outcome: 'Fault' });
      })
    );
  return servingGate.provide({
    actions: {
      writeGate: ({ context, self }, { isOpen }) =>
        start({ context, self }, () => write({ context, self }, isOpen)),
      readBackends: ({ context, self }) => start({ context, self }, () => read({ context, self })),
    },
  });
};
