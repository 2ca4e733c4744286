/**
 * What connects a process of the drain rig to everything outside of it, until it is killed.
 *
 * Promises: from the cut on the process observes nothing, none of its writes, replies and reports
 * arrives, and its calls get no answer; a write that was sent before may still land.
 */
import { Effect, Layer } from 'effect';
import { type Observable, takeWhile } from 'rxjs';
import type { Telemetry } from '../../../src/api/telemetry.ts';
import { Writes } from '../../../src/effects/writes.ts';

/** The wires of one process. */
export const processWires = () => {
  let isCut = false;
  return {
    cut: (): void => {
      isCut = true;
    },
    /** A stream that the process observes. */
    observed: <T>(source: Observable<T>): Observable<T> => source.pipe(takeWhile(() => !isCut)),
    /** A call from the process; after the cut it has no effect and gives `lost`. */
    called: <Arguments extends readonly unknown[], Outcome>(
      call: (...given: Arguments) => Outcome,
      lost: Outcome,
    ) =>
    (...given: Arguments): Outcome => (isCut ? lost : call(...given)),
    /** Writes without an answer after the cut. */
    writes: Layer.effect(
      Writes,
      Effect.map(Writes, ({ send }) => ({
        send: (...given: Parameters<typeof send>) =>
          Effect.suspend(() => (isCut ? Effect.never : send(...given))),
      })),
    ),
    /** Metrics and logs of the process. */
    telemetry: (all: Telemetry): Telemetry => ({
      ...all,
      log: (...given) => {
        if (!isCut) all.log(...given);
      },
      gauge: (name, value, ...labels) => {
        if (!isCut) all.gauge(name, value, ...labels);
      },
      count: (name, by, ...labels) => {
        if (!isCut) all.count(name, by, ...labels);
      },
    }),
  };
};
