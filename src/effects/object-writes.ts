/**
 * Writes of one kind of custom resource: what is sent, and the outcome that its answer means to a
 * statechart. Its user sends it through the write budget.
 *
 * Promises: the outcome of an answer never fails, and nothing is retried here; an object that
 * already exists is looked at instead of created, so an answer that was lost on the way does no
 * harm; a deletion names the UID that it means; a server-side apply that meets another manager's
 * fields says whose they are.
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
  readonly project: (raw: unknown) => Current | undefined;
}

/** One write with its metric label. */
export interface CountedOutcome<Current> {
  readonly outcome: WriteOutcome<Current>;
  readonly result: WriteResult;
}

/** One write. */
export interface ObjectRequest<Counted> {
  readonly call: KubeCall;
  /** What becomes of the answer: `outcomeOf(writes.send(writeClass, call))`. */
  readonly outcomeOf: (answer: Effect.Effect<KubeAnswer, WriteFault>) => Effect.Effect<Counted>;
}

type Write<Current> = ObjectRequest<CountedOutcome<Current>>;

/** One server-side apply with its metric label. */
export interface CountedApply<Current> {
  readonly outcome: ApplyOutcome<Current>;
  readonly result: WriteResult;
}

type Apply<Current> = (
  name: string,
  object: object,
  options: ApplyOptions,
) => ObjectRequest<CountedApply<Current>>;

export interface ObjectWrites<Current> {
  readonly create: (object: object, name: string) => Write<Current>;
  readonly patch: (name: string, patch: object) => Write<Current>;
  readonly patchStatus: (name: string, patch: object) => Write<Current>;
  /** Creates the object if it does not exist. */
  readonly apply: Apply<Current>;
  readonly applyStatus: Apply<Current>;
  readonly remove: (name: string, uid: string) => Write<Current>;
  /** Reads the object instead of writing, after a write that came too late. */
  readonly look: (name: string) => Effect.Effect<CountedOutcome<Current>>;
}

/** A field of ours that another manager keeps in spite of force is a fault: it is retried. */
const withoutConflict = <Current>(outcome: ApplyOutcome<Current>): WriteOutcome<Current> =>
  outcome._tag === 'Conflict'
    ? { _tag: 'Fault', why: `another field manager owns ${outcome.conflicts[0]?.field}` }
    : outcome;

/** Sends writes through the write budget in one class; a conflict of fields is a fault. */
export const objectSender = (writes: Writes['Service'], writeClass: WriteClass) =>
<Current>(
  { call, outcomeOf }: ObjectRequest<{ readonly outcome: ApplyOutcome<Current> }>,
): Effect.Effect<WriteOutcome<Current>> =>
  Effect.map(
    outcomeOf(writes.send(writeClass, call)),
    ({ outcome }) => withoutConflict(outcome),
  );

/** Answers that a retry would repeat; excludes 409 and 429. */
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
  { path, api, project }: ObjectWritesOptions<Current>,
): ObjectWrites<Current> => {
  const outcomeOf = outcomeBy(project);

  const request = <Counted>(
    call: KubeCall,
    outcomeOfAnswer: (answer: KubeAnswer) => Counted,
  ): ObjectRequest<Counted | CountedOutcome<never>> => ({
    call: { ...call, timeoutMs: WRITE_TIMEOUT_MS },
    outcomeOf: (answer) => folded(Effect.map(answer, outcomeOfAnswer)),
  });

  const look = (name: string): Effect.Effect<CountedOutcome<Current>, WriteFault> =>
    api.call({ method: 'GET', path: `${path}/${name}`, timeoutMs: WRITE_TIMEOUT_MS }).pipe(
      Effect.map((answer) => ({ ...outcomeOf(answer), result: 'conflict' })),
    );

  const patchAt = (target: string, patch: object): Write<Current> =>
    request({ method: 'PATCH', path: target, body: patch, contentType: MERGE_PATCH }, outcomeOf);

  const made = (answer: KubeAnswer, name: string) =>
    answer.status === 409 ? look(name) : Effect.succeed(outcomeOfCreate(outcomeOf)(answer));

  return {
    create: (object, name) => ({
      call: { method: 'POST', path, body: object, timeoutMs: WRITE_TIMEOUT_MS },
      outcomeOf: (answer) => folded(Effect.flatMap(answer, (given) => made(given, name))),
    }),
    look: (name) => folded(look(name)),
    patch: (name, patch) => patchAt(`${path}/${name}`, patch),
    patchStatus: (name, patch) => patchAt(`${path}/${name}/status`, patch),
    apply: (name, object, options) =>
      request(
        applyCall(`${path}/${name}`, object, options),
        outcomeOfApply(outcomeOfCreate(outcomeOf)),
      ),
    applyStatus: (name, object, options) =>
      request(applyCall(`${path}/${name}/status`, object, options), outcomeOfApply(outcomeOf)),
    remove: (name, uid) =>
      request({
        method: 'DELETE',
        path: `${path}/${name}`,
        body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
      }, outcomeOfDelete(outcomeOf)),
  };
};
