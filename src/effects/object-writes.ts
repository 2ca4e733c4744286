/**
 * Writes one kind of custom resource and folds each result into an outcome for a statechart.
 *
 * Promises: nothing fails and nothing is retried here; an object that already exists is read
 * instead of created, so that a lost answer does no harm; a deletion names the UID; a server-side
 * apply conflict names the managers of the fields.
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

/** How a write ended, as a label of `bigfleet_operator_upcoming_node_writes_total`. */
export type WriteResult = 'success' | 'conflict' | 'error';

/** The resource, and how to write it. */
export interface ObjectWritesOptions<Current> {
  /** `/apis/<group>/<version>/<plural>`. */
  readonly path: string;
  readonly api: KubeApi['Service'];
  readonly writes: Writes['Service'];
  readonly project: (raw: unknown) => Current | undefined;
  /** Its class in the write budget; default `phase`. */
  readonly writeClass?: WriteClass;
}

/** One write with its metric label. */
export interface CountedOutcome<Current> {
  readonly outcome: WriteOutcome<Current>;
  readonly result: WriteResult;
}

type Act<Current> = Effect.Effect<CountedOutcome<Current>>;

/** One server-side apply with its metric label. */
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
  /** Creates the object if it does not exist. */
  readonly apply: Apply<Current>;
  readonly applyStatus: Apply<Current>;
  readonly remove: (name: string, uid: string) => Act<Current>;
  /** Reads the object instead of writing, after a write that came too late. */
  readonly look: (name: string) => Act<Current>;
}

/** Answers that a retry would repeat; excludes 409 and 429. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 405, 406, 413, 415, 422]);

const reasonIn = ({ status, body }: KubeAnswer): string =>
  `${status} ${textAt(body, 'message') ?? ''}`.trim();

const fault = <Current>(why: string, result: WriteResult = 'error'): CountedOutcome<Current> => ({
  outcome: { _tag: 'Fault', why },
  result,
});

const isGood = (status: number): boolean => status >= 200 && status < 300;

type Judge<Current> = (answer: KubeAnswer) => CountedOutcome<Current>;

const judgeBy =
  <Current>(project: ObjectWritesOptions<Current>['project']): Judge<Current> => (answer) => {
    if (isGood(answer.status)) {
      const current = project(answer.body);
      return current === undefined
        ? fault('the answer of the API server is not such an object')
        : { outcome: { _tag: 'Written', current }, result: 'success' };
    }
    if (answer.status === 404) return { outcome: { _tag: 'Absent' }, result: 'error' };
    if (REFUSALS.has(answer.status)) {
      return { outcome: { _tag: 'Refused', why: reasonIn(answer) }, result: 'error' };
    }
    return fault(reasonIn(answer), answer.status === 409 ? 'conflict' : 'error');
  };

/** Where the object may be missing, 404 means that its resource type or namespace is. */
const judgeMaking = <Current>(judge: Judge<Current>): Judge<Current> => (answer) =>
  answer.status === 404 ? fault(reasonIn(answer)) : judge(answer);

const judgeApply =
  <Current>(judge: Judge<Current>) => (answer: KubeAnswer): CountedApply<Current> => {
    const conflicts = fieldConflictsIn(answer);
    return conflicts.length === 0
      ? judge(answer)
      : { outcome: { _tag: 'Conflict', conflicts }, result: 'conflict' };
  };

const judgeRemoval = <Current>(judge: Judge<Current>): Judge<Current> => (answer) => {
  const done = isGood(answer.status);
  if (!done && answer.status !== 404) return judge(answer);
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
  const judge = judgeBy(project);

  const send = (call: KubeCall): Effect.Effect<KubeAnswer, WriteFault> =>
    writes.send(writeClass, { ...call, timeoutMs: WRITE_TIMEOUT_MS });

  const look = (name: string): Effect.Effect<CountedOutcome<Current>, WriteFault> =>
    api.call({ method: 'GET', path: `${path}/${name}`, timeoutMs: WRITE_TIMEOUT_MS }).pipe(
      Effect.map((answer) => ({ ...judge(answer), result: 'conflict' })),
    );

  const patchAt = (target: string, patch: object): Act<Current> =>
    folded(
      send({ method: 'PATCH', path: target, body: patch, contentType: MERGE_PATCH })
        .pipe(Effect.map(judge)),
    );

  const made = (answer: KubeAnswer, name: string) =>
    answer.status === 409 ? look(name) : Effect.succeed(judgeMaking(judge)(answer));

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
          Effect.map(judgeApply(judgeMaking(judge))),
        ),
      ),
    applyStatus: (name, object, options) =>
      folded(
        send(applyCall(`${path}/${name}/status`, object, options)).pipe(
          Effect.map(judgeApply(judge)),
        ),
      ),
    remove: (name, uid) =>
      folded(
        send({
          method: 'DELETE',
          path: `${path}/${name}`,
          body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
        }).pipe(Effect.map(judgeRemoval(judge))),
      ),
  };
};
