/**
 * The live `Writes`: one token bucket for everything that changes the cluster (DR-36).
 *
 * Promises: writes wait in classes, as `write-queue.ts` orders them; an interrupted write leaves
 * its place; a write that finds its class full is not sent; all writes of a class honour
 * Retry-After, except that a 429 holds up no other eviction. While the circuit to the API server is
 * open all writes wait; half-open, all but one that probes (DR-37). The gate is asked before
 * waiting (nothing waits in vain), after it, and once more in the step that sends the first byte.
 * Follows Effect's clock.
 */
import { Clock, Deferred, Effect, Layer, type Scope } from 'effect';
import type { Telemetry } from '../api/telemetry.ts';
import { ConnectionCircuit, type TrialEnd, type WriteTrial } from './connection-circuit.ts';
import { type KubeAnswer, KubeApi, type KubeCall, NotSent } from './kube-api.ts';
import { WriteGate } from './write-gate.ts';
import { WriteQueue } from './write-queue.ts';
import { NotLeader, type WriteClass, type WriteFault, Writes } from './writes.ts';

/** The rate of writes per second, and the burst after an idle time. */
export interface WriteBudgetOptions {
  readonly qps: number;
  readonly burst: number;
  /** The queue limit of one class. */
  readonly waitingMax?: number;
  readonly telemetry: Telemetry;
}

/** Callers limit themselves far below it. */
const WAITING_WRITES_MAX = 20_000;

/** The longest wait that the API server may ask for. */
const RETRY_AFTER_MS_MAX = 60_000;
/** How soon to look for a write of a class that is not held. */
const HELD_LOOK_MS = 100;

const NANOS_PER_MS = 1e6;

const monotonicMs = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / NANOS_PER_MS);

/** A token bucket: pure arithmetic on the given time. */
interface Bucket {
  /** Takes a token at `nowMs`; otherwise returns the time until there is one. */
  readonly take: (nowMs: number) => number;
}

/** `take` returns 0 when a token was taken, else the wait in milliseconds. */
const makeBucket = (qps: number, burst: number, startMs: number): Bucket => {
  let tokens = burst;
  let filledAtMs = startMs;
  return {
    take: (nowMs) => {
      tokens = Math.min(burst, tokens + Math.max(0, nowMs - filledAtMs) * qps / 1000);
      filledAtMs = nowMs;
      if (tokens >= 1 - 1e-9) {
        tokens -= 1;
        return 0;
      }
      return Math.max((1 - tokens) * 1000 / qps, 0.01);
    },
  };
};

/** The class was full: the write was not queued. */
class QueueFull extends NotSent {}

/** The queue for tokens of the write budget. */
interface TokenQueue {
  /** Waits for a token. */
  readonly acquire: (writeClass: WriteClass) => Effect.Effect<TrialEnd, NotSent>;
  /** The API server asked writes of this class to wait. */
  readonly hold: (writeClass: WriteClass, untilMs: number) => void;
}

const makeTokenQueue = (
  { qps, burst, telemetry, waitingMax = WAITING_WRITES_MAX }: WriteBudgetOptions,
  isOpen: () => boolean,
  scope: Scope.Scope,
): Effect.Effect<TokenQueue> =>
  Effect.map(monotonicMs, (startMs): TokenQueue => {
    const bucket = makeBucket(qps, burst, startMs);
    const queue = new WriteQueue(telemetry, waitingMax);
    const circuit = new ConnectionCircuit();
    let dispensing = false;
    /** Writes that the gate refuses leave the queue at once, and cost no token. */
    const take = (nowMs: number): number =>
      isOpen() ? circuit.waitMs(nowMs) || bucket.take(nowMs) : 0;
    /** Hands out tokens while any write waits, then ends. */
    const dispense = Effect.gen(function* () {
      while (true) {
        if (queue.isEmpty) {
          dispensing = false;
          return;
        }
        const nowMs = yield* monotonicMs;
        // A write of another class may come while all others are held.
        const heldMs = isOpen() ? Math.min(queue.allHeldMs(nowMs), HELD_LOOK_MS) : 0;
        const waitMs = heldMs || take(nowMs);
        if (waitMs > 0) yield* Effect.sleep(waitMs);
        else queue.next(nowMs, isOpen())?.(circuit.admit(nowMs));
      }
    }).pipe(
      // A defect would leave every write waiting: the next one starts over.
      Effect.onError(() =>
        Effect.sync(() => {
          dispensing = false;
        })
      ),
    );
    const startDispensing = Effect.suspend(() => {
      if (dispensing) return Effect.void;
      dispensing = true;
      return Effect.asVoid(Effect.forkIn(dispense, scope));
    });
    const acquire = (writeClass: WriteClass) =>
      Effect.gen(function* () {
        const nowMs = yield* monotonicMs;
        const isHeld = isOpen() && queue.heldMs(writeClass, nowMs) > 0;
        if (!dispensing && !isHeld && take(nowMs) === 0) return circuit.admit(nowMs);
        const token = Deferred.makeUnsafe<TrialEnd>();
        let given: TrialEnd | undefined;
        const waiter = (end: TrialEnd): void => {
          given = end;
          Deferred.doneUnsafe(token, Effect.succeed(end));
        };
        if (!queue.add(writeClass, waiter)) {
          return yield* new QueueFull({
            why: `too many queued writes of class "${writeClass}" wait`,
          });
        }
        return yield* Effect.andThen(startDispensing, Deferred.await(token)).pipe(
          // Interrupted in the moment in which it got its token, it would be awaited as the probe.
          Effect.onInterrupt(() => Effect.map(monotonicMs, (nowMs) => given?.('HeldBack', nowMs))),
          Effect.ensuring(Effect.sync(() => queue.remove(writeClass, waiter))),
        );
      });
    return { acquire, hold: (writeClass, untilMs) => queue.hold(writeClass, untilMs) };
  });

/**
 * How long writes of a class have to wait after an answer. A 429 to an eviction is the answer of a
 * budget, or of the API server to this pod: the eviction itself waits for it.
 */
const holdMsOf = (writeClass: WriteClass, answer: KubeAnswer): number => {
  const { status, retryAfterSeconds = 0 } = answer;
  const asksToWait = status >= 500 || (status === 429 && writeClass !== 'eviction');
  return asksToWait ? Math.min(retryAfterSeconds * 1000, RETRY_AFTER_MS_MAX) : 0;
};

/** Makes a part of an uninterruptible effect as interruptible as the whole is outside. */
type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>;

/** The outcome of a write, as its metric label. */
const outcomeOf = (fault: WriteFault): string => {
  if (fault._tag === 'NotLeader') return 'not_leader';
  if (fault instanceof QueueFull) return 'queue_full';
  return fault._tag === 'NotSent' ? 'not_sent' : 'answer_lost';
};

const makeWrites = (options: WriteBudgetOptions) =>
  Effect.gen(function* () {
    const api = yield* KubeApi;
    const gate = yield* WriteGate;
    const isOpen = () => gate.permit()._tag === 'Open';
    const tokens = yield* makeTokenQueue(options, isOpen, yield* Effect.scope);
    const { telemetry } = options;
    const permitted = Effect.suspend(() => {
      const permit = gate.permit();
      return permit._tag === 'Open' ? Effect.void : Effect.fail(new NotLeader({ why: permit.why }));
    });
    /** One call, if it is permitted; whatever becomes of it is reported to the circuit. */
    const tried = (call: KubeCall, onEnd: TrialEnd, restore: Restore) => {
      let trial: WriteTrial = 'HeldBack';
      const setTrial = (end: WriteTrial) => Effect.sync(() => void (trial = end));
      const mayLeave = (): boolean => {
        const may = isOpen() && (call.mayLeave?.() ?? true);
        trial = may ? 'Left' : 'HeldBack';
        return may;
      };
      const called = Effect.suspend(() => {
        trial = 'Unconnected';
        const answered = gate.beginRequest();
        return api.call({ ...call, mayLeave }).pipe(
          Effect.tap(() => setTrial('Left')),
          Effect.onInterrupt(() => setTrial('HeldBack')),
          Effect.ensuring(Effect.sync(answered)),
        );
      });
      return Effect.ensuring(
        restore(Effect.andThen(permitted, called)),
        Effect.map(monotonicMs, (nowMs) => onEnd(trial, nowMs)),
      );
    };
    const count = (writeClass: WriteClass, outcome: string) =>
      Effect.sync(() =>
        telemetry.count('tidegate_writes_total', 1, { class: writeClass, outcome })
      );
    const honourRetryAfter = (writeClass: WriteClass, answer: KubeAnswer) =>
      Effect.map(monotonicMs, (nowMs) => {
        const holdMs = holdMsOf(writeClass, answer);
        if (holdMs > 0) tokens.hold(writeClass, nowMs + holdMs);
      });
    const send = (writeClass: WriteClass, call: KubeCall) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          yield* permitted;
          const askedAtMs = yield* monotonicMs;
          const onEnd = yield* restore(tokens.acquire(writeClass));
          const waitedMs = (yield* monotonicMs) - askedAtMs;
          telemetry.observe('tidegate_write_wait_seconds', waitedMs / 1000, { class: writeClass });
          return yield* tried(call, onEnd, restore);
        })
      ).pipe(
        Effect.tap((answer) => honourRetryAfter(writeClass, answer)),
        // A write withheld at the last moment was refused by the gate, not by the network.
        Effect.catchTag('NotSent', (fault) => Effect.andThen(permitted, Effect.fail(fault))),
        Effect.tap(() => count(writeClass, 'answered')),
        Effect.tapError((fault: WriteFault) => count(writeClass, outcomeOf(fault))),
      );
    return { send };
  });

/** The write budget of a process. */
export const writeBudget = (
  options: WriteBudgetOptions,
): Layer.Layer<Writes, never, KubeApi | WriteGate> => Layer.effect(Writes, makeWrites(options));
