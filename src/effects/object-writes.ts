/**
 * Writes of one kind of custom resource, each folded into an outcome that a statechart can act on.
 *
 * Promises: nothing fails and nothing is retried here; an object that already exists is looked at
 * instead of created, so an answer that was lost on the way does no harm; a deletion names the UID
 * that it means.
 */
import { Effect } from 'effect';
import { textAt } from '../domain/json.ts';
import type { WriteOutcome } from '../domain/object-write.ts';
import type { KubeAnswer, KubeApi, KubeCall } from './kube-api.ts';
import type { WriteClass, WriteFault, Writes } from './writes.ts';

/** From sending to the last byte of the answer. */
const WRITE_TIMEOUT_MS = 15_000;
const MERGE_PATCH = 'application/merge-patch+json';

/** How a write ended, as `bigfleet_operator_upcoming_node_writes_total` counts it. */
export type WriteResult = 'success' | 'conflict' | 'error';

/** What is written, and by which means. */
export interface ObjectWritesOptions<Shown> {
  /** `/apis/<group>/<version>/<plural>`. */
  readonly path: string;
  readonly api: KubeApi['Service'];
  readonly writes: Writes['Service'];
  readonly project: (raw: unknown) => Shown | undefined;
  /** Its place in the write budget; default `phase`. */
  readonly writeClass?: WriteClass;
}

/** One write with the word that counts it. */
export interface CountedOutcome<Shown> {
  readonly outcome: WriteOutcome<Shown>;
  readonly result: WriteResult;
}

type Act<Shown> = Effect.Effect<CountedOutcome<Shown>>;

export interface ObjectWrites<Shown> {
  readonly create: (object: object, name: string) => Act<Shown>;
  readonly patch: (name: string, patch: object) => Act<Shown>;
  readonly patchStatus: (name: string, patch: object) => Act<Shown>;
  readonly remove: (name: string, uid: string) => Act<Shown>;
  /** Looks at the object instead of writing, after a write that came too late. */
  readonly look: (name: string) => Act<Shown>;
}

/** Answers that will be the same next time; a 409 or 429 is none of them. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 405, 406, 413, 415, 422]);

const reasonIn = ({ status, body }: KubeAnswer): string =>
  `${status} ${textAt(body, 'message') ?? ''}`.trim();

const fault = <Shown>(why: string, result: WriteResult = 'error'): CountedOutcome<Shown> => ({
  outcome: { _tag: 'Fault', why },
  result,
});

const isGood = (status: number): boolean => status >= 200 && status < 300;

/** The writes of one kind of object. */
export const objectWrites = <Shown>(
  { path, api, writes, project, writeClass = 'phase' }: ObjectWritesOptions<Shown>,
): ObjectWrites<Shown> => {
  const judge = (answer: KubeAnswer): CountedOutcome<Shown> => {
    if (isGood(answer.status)) {
      const shown = project(answer.body);
      return shown === undefined
        ? fault('the API server answered with something that is no such object')
        : { outcome: { _tag: 'Written', shown }, result: 'success' };
    }
    if (answer.status === 404) return { outcome: { _tag: 'Absent' }, result: 'error' };
    if (REFUSALS.has(answer.status)) {
      return { outcome: { _tag: 'Refused', why: reasonIn(answer) }, result: 'error' };
    }
    return fault(reasonIn(answer), answer.status === 409 ? 'conflict' : 'error');
  };

  const send = (call: KubeCall): Effect.Effect<KubeAnswer, WriteFault> =>
    writes.send(writeClass, { ...call, timeoutMs: WRITE_TIMEOUT_MS });

  const folded = (act: Effect.Effect<CountedOutcome<Shown>, WriteFault>): Act<Shown> =>
    Effect.catch(act, (failure) => Effect.succeed(fault<Shown>(failure.why)));

  const look = (name: string): Effect.Effect<CountedOutcome<Shown>, WriteFault> =>
    api.call({ method: 'GET', path: `${path}/${name}`, timeoutMs: WRITE_TIMEOUT_MS }).pipe(
      Effect.map((answer) => ({ ...judge(answer), result: 'conflict' })),
    );

  const patchAt = (target: string, patch: object): Act<Shown> =>
    folded(
      send({ method: 'PATCH', path: target, body: patch, contentType: MERGE_PATCH })
        .pipe(Effect.map(judge)),
    );

  return {
    create: (object, name) =>
      folded(
        send({ method: 'POST', path, body: object }).pipe(
          Effect.flatMap((answer) => {
            if (answer.status === 409) return look(name);
            // The path itself is missing: the CRD is not installed.
            if (answer.status !== 404) return Effect.succeed(judge(answer));
            return Effect.succeed(fault<Shown>(reasonIn(answer)));
          }),
        ),
      ),
    look: (name) => folded(look(name)),
    patch: (name, patch) => patchAt(`${path}/${name}`, patch),
    patchStatus: (name, patch) => patchAt(`${path}/${name}/status`, patch),
    remove: (name, uid) =>
      folded(
        send({
          method: 'DELETE',
          path: `${path}/${name}`,
          body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
        }).pipe(Effect.map((answer): CountedOutcome<Shown> => {
          const done = isGood(answer.status);
          if (!done && answer.status !== 404) return judge(answer);
          return { outcome: { _tag: 'Absent' }, result: done ? 'success' : 'error' };
        })),
      ),
  };
};
