/**
 * The circuit breaker of connections to the API server, for writes of all classes (DR-37).
 *
 * Promises: closed, writes pass; open, none does; half-open, one write probes and the others wait
 * for its result; an answer to any write closes the circuit, a failed connection opens it. Pure
 * arithmetic on the time that it is given: the write budget sleeps for as long as it says.
 *
 * The circuit of evictions (`src/machines/eviction-circuit.ts`) is another one: what opens it
 * besides, throttling and rejected credentials, must not hold up other writes (ADR 6).
 */

/** Between a failed connection and the next probe. */
const OPEN_MS = 500;
/** How soon to look again at a probe that is in flight, and when it is not waited for any more. */
const LOOK_MS = 50;
const PROBE_MS_MAX = 20_000;

/** What became of a write that was admitted. */
export type WriteTrial =
  /** It left: the API server can be reached, even when the answer was lost. */
  | 'Left'
  /** The connection failed. */
  | 'Unconnected'
  /** This process withheld it: it shows nothing. */
  | 'HeldBack';

/** Called once, when an admitted write has ended. */
export type TrialEnd = (trial: WriteTrial, nowMs: number) => void;

/** State of the circuit; times are monotonic. */
type ConnectionState =
  | { readonly _tag: 'Closed' }
  | { readonly _tag: 'Open'; readonly probeAtMs: number }
  | {
    readonly _tag: 'HalfOpen';
    readonly probe: TrialEnd;
    readonly sinceMs: number;
    /** When the next probe may leave if this one shows nothing. */
    readonly probeAtMs: number;
  };

const CLOSED: ConnectionState = { _tag: 'Closed' };

/** One circuit for all writes of a process; closed at first. */
export class ConnectionCircuit {
  #state: ConnectionState = CLOSED;

  /** How long the next write has to wait; 0 when it may leave now. */
  waitMs(nowMs: number): number {
    const state = this.#state;
    if (state._tag === 'Closed') return 0;
    const isProbing = state._tag === 'HalfOpen' && nowMs - state.sinceMs < PROBE_MS_MAX;
    return isProbing ? LOOK_MS : Math.max(0, state.probeAtMs - nowMs);
  }

  /** A write leaves, as the probe unless the circuit is closed; gives what to call at its end. */
  admit(sinceMs: number): TrialEnd {
    const end: TrialEnd = (trial, nowMs) => this.#ended(end, trial, nowMs);
    if (this.#state._tag !== 'Closed') {
      const { probeAtMs } = this.#state;
      this.#state = { _tag: 'HalfOpen', probe: end, sinceMs, probeAtMs };
    }
    return end;
  }

  #ended(write: TrialEnd, trial: WriteTrial, nowMs: number): void {
    if (trial === 'Left') {
      this.#state = CLOSED;
      return;
    }
    const state = this.#state;
    const isOtherProbe = state._tag === 'HalfOpen' && state.probe !== write;
    if (trial === 'Unconnected') {
      const probeAtMs = nowMs + OPEN_MS;
      this.#state = isOtherProbe ? { ...state, probeAtMs } : { _tag: 'Open', probeAtMs };
    } else if (state._tag === 'HalfOpen' && !isOtherProbe) {
      this.#state = { _tag: 'Open', probeAtMs: state.probeAtMs };
    }
  }
}
