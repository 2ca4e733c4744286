/**
 * Writes of one kind of custom resource, each folded into an outcome that a statechart can act on.
 *
 * Promises: nothing fails and nothing is retried here; an object that already exists is looked at
 * instead of created, so an answer that was lost on the way does no harm; a deletion names the UID
 * that it means; a server-side apply that meets another manager's fields says whose they are.
 */
import { Effect } from 'effect';
import { textAt } from '../domain/json.ts';
import type { ApplyOutcome, WriteOutcome } from '../domain/object-write.ts';
import type { KubeAnswer, KubeApi, KubeCall } from './kube-api.ts';
import { applyCall, type ApplyOptions, fieldConflictsIn } from './server-side-apply.ts';
import type { WriteClass, WriteFault, Writes } from './writes.ts';

/** From sending to the last byte of the answer. */
const WRITE_TIMEOUT_MS = 15_000;
const MERGE_PATCH = 'application/merge-patch+json';

/** How a write ended, as `bigfleet_operator_upcoming_node_writes_total` counts it. */
export type WriteResult = 'success' | 'conflict' | 'error';

/** What is written, and by which means. */
export interface ObjectWritesOptions<Current> {
  /** `/apis/<group>/<version>/<plural>`. */
  readonly path: string;
  readonly api: KubeApi['Service'];
  readonly writes: Writes['Service'];
  readonly project: (raw: unknown) => Current | undefined;
  /** Its place in the write budget; default `phase`. */
  readonly writeClass?: WriteClass;
}

/** One write with the word that counts it. */
export interface CountedOutcome<Current> {
  readonly outcome: WriteOutcome<Current>;
  readonly result: WriteResult;
}

type Act<Current> = Effect.Effect<CountedOutcome<Current>>;

/** One server-side apply with the word that counts it. */
export interface CountedApply<Current> {
  readonly outcome: ApplyOutcome<Current>;
  readonly result: WriteResult;
}

type Apply<Current> = (
  name: string,
  object: object,
  options: ApplyOptions,
) => Effect.Effect<CountedApply<Current>>;

export interface ObjectWrites<Current> {
  readonly create: (object: object, name: string) => Act<Current>;
  readonly patch: (name: string, patch: object) => Act<Current>;
  readonly patchStatus: (name: string, patch: object) => Act<Current>;
  /** Creates the object where there is none. */
  readonly apply: Apply<Current>;
  readonly applyStatus: Apply<Current>;
  readonly remove: (name: string, uid: string) => Act<Current>;
  /** Looks at the object instead of writing, after a write that came too late. */
  readonly look: (name: string) => Act<Current>;
}

/** Answers that will be the same next time; a 409 or 429 is none of them. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 405, 406, 413, 415, 422]);

const reasonIn = ({ status, body }: KubeAnswer): string =>
  `${status} ${textAt(body, 'message') ?? ''}`.trim();

const fault = <Current>(why: string, result: WriteResult = 'error'): CountedOutcome<Current> => ({
  outcome: { _tag: 'Fault', why },
  result,
});

const isGood = (status: number): boolean => status >= 200 && status < 300;

type OutcomeOf<Current> = (answer: KubeAnswer) => CountedOutcome<Current>;

const outcomeBy =
  <Current>(project: ObjectWritesOptions<Current>['project']): OutcomeOf<Current> => (answer) => {
    if (isGood(answer.status)) {
      const current = project(answer.body);
      return current === undefined
        ? fault('the API server answered with something that is no such object')
        : { outcome: { _tag: 'Written', current }, result: 'success' };
    }
    if (answer.status === 404) return { outcome: { _tag: 'Absent' }, result: 'error' };
    if (REFUSALS.has(answer.status)) {
      return { outcome: { _tag: 'Refused', why: reasonIn(answer) }, result: 'error' };
    }
    return fault(reasonIn(answer), answer.status === 409 ? 'conflict' : 'error');
  };

/** Where there need be no object, 404 means that its kind or its namespace is missing. */
const outcomeOfCreate = <Current>(outcomeOf: OutcomeOf<Current>): OutcomeOf<Current> => (answer) =>
  answer.status === 404 ? fault(reasonIn(answer)) : outcomeOf(answer);

const outcomeOfApply =
  <Current>(outcomeOf: OutcomeOf<Current>) => (answer: KubeAnswer): CountedApply<Current> => {
    const conflicts = fieldConflictsIn(answer);
    return conflicts.length === 0
      ? outcomeOf(answer)
      : { outcome: { _tag: 'Conflict', conflicts }, result: 'conflict' };
  };

const outcomeOfDelete =
  <Current>(outcomeOf: OutcomeOf<Current>): OutcomeOf<Current> => (answer) => {
    const done = isGood(answer.status);
    if (!done && answer.status !== 404) return outcomeOf(answer);
    return { outcome: { _tag: 'Absent' }, result: done ? 'success' : 'error' };
  };

const folded = <Counted>(
  act: Effect.Effect<Counted, WriteFault>,
): Effect.Effect<Counted | CountedOutcome<never>> =>
  Effect.catch(act, (failure) => Effect.succeed(fault<never>(failure.why)));

/** The writes of one kind of object. */
export const objectWrites = <Current>(
  { path, api, writes, project, writeClass = 'phase' }: ObjectWritesOptions<Current>,
): ObjectWrites<Current> => {
  const outcomeOf = outcomeBy(project);

  const send = (call: KubeCall): Effect.Effect<KubeAnswer, WriteFault> =>
    writes.send(writeClass, { ...call, timeoutMs: WRITE_TIMEOUT_MS });

  const look = (name: string): Effect.Effect<CountedOutcome<Current>, WriteFault> =>
    api.call({ method: 'GET', path: `${path}/${name}`, timeoutMs: WRITE_TIMEOUT_MS }).pipe(
      Effect.map((answer) => ({ ...outcomeOf(answer), result: 'conflict' })),
    );

  const patchAt = (target: string, patch: object): Act<Current> =>
    folded(
      send({ method: 'PATCH', path: target, body: patch, contentType: MERGE_PATCH })
        .pipe(Effect.map(outcomeOf)),
    );

  const made = (answer: KubeAnswer, name: string) =>
    answer.status === 409 ? look(name) : Effect.succeed(outcomeOfCreate(outcomeOf)(answer));

  return {
    create: (object, name) =>
      folded(
        send({ method: 'POST', path, body: object }).pipe(
          Effect.flatMap((answer) => made(answer, name)),
        ),
      ),
    look: (name) => folded(look(name)),
    patch: (name, patch) => patchAt(`${path}/${name}`, patch),
    patchStatus: (name, patch) => patchAt(`${path}/${name}/status`, patch),
    apply: (name, object, options) =>
      folded(
        send(applyCall(`${path}/${name}`, object, options)).pipe(
          Effect.map(outcomeOfApply(outcomeOfCreate(outcomeOf))),
        ),
      ),
    applyStatus: (name, object, options) =>
      folded(
        send(applyCall(`${path}/${name}/status`, object, options)).pipe(
          Effect.map(outcomeOfApply(outcomeOf)),
        ),
      ),
    remove: (name, uid) =>
      folded(
        send({
          method: 'DELETE',
          path: `${path}/${name}`,
          body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
        }).pipe(Effect.map(outcomeOfDelete(outcomeOf))),
      ),
  };
};
