/**
 * At most N actors write at once, each for as long as it is `acting`.
 *
 * Promises: an actor has one turn at a time; those who ask get their turn in the order of asking;
 * a turn starts only when the actor that asked has come to rest. Asking twice is asking once.
 */
import { EMPTY, finalize, Observable, Subject } from 'rxjs';
import { latestPerKey } from '../streams/latest-per-key.ts';

/** What a turn needs of an actor: it hears `turn.granted`, and its tag `acting` says how long. */
export interface LimitedActor {
  readonly getSnapshot: () => { readonly hasTag: (tag: 'acting') => boolean };
  readonly subscribe: (
    observer: {
      readonly next: () => void;
      readonly error: () => void;
      readonly complete: () => void;
    },
  ) => { readonly unsubscribe: () => void };
  readonly send: (event: { readonly type: 'turn.granted' }) => void;
}

/** Who takes turns, and how many at once. */
export interface ConcurrencyLimitOptions<Member> {
  readonly atOnce: number;
  readonly name: (member: Member) => string;
  /** The member's actor, woken if it slept; `undefined` when there is nothing to do any more. */
  readonly wake: (member: Member) => LimitedActor | undefined;
  /** Told how many turns are being taken. */
  readonly onTaking?: (turns: number) => void;
}

/** The queue for turns. */
export interface ConcurrencyLimit<Member> {
  readonly ask: (member: Member) => void;
  /** Resolves when nobody has or wants a turn. */
  readonly idle: () => Promise<void>;
  /** Gives no more turns. Those that are being taken end by themselves. */
  readonly stop: () => void;
}

/** Completes when the actor is not acting any more. */
const turnOf = (actor: LimitedActor): Observable<never> =>
  new Observable<never>((subscriber) => {
    const look = (): void => {
      if (!actor.getSnapshot().hasTag('acting')) subscriber.complete();
    };
    const end = (): void => subscriber.complete();
    const subscription = actor.subscribe({ next: look, error: end, complete: end });
    actor.send({ type: 'turn.granted' });
    look();
    return () => subscription.unsubscribe();
  });

/** Starts to give turns. */
export const startConcurrencyLimit = <Member>(
  options: ConcurrencyLimitOptions<Member>,
): ConcurrencyLimit<Member> => {
  const { name, wake, atOnce, onTaking } = options;
  const asked = new Subject<Member>();
  const wanting = new Set<string>();
  let batch: Member[] = [];
  let whenIdle: (() => void)[] = [];
  let taking = 0;

  const show = (change: number): void => {
    taking += change;
    onTaking?.(taking);
  };
  const end = (member: Member): void => {
    wanting.delete(name(member));
    show(-1);
    if (wanting.size > 0) return;
    for (const resolve of whenIdle) resolve();
    whenIdle = [];
  };
  const work = (member: Member): Observable<never> => {
    show(1);
    const actor = wake(member);
    return (actor === undefined ? EMPTY : turnOf(actor)).pipe(finalize(() => end(member)));
  };
  const subscription = asked
    .pipe(latestPerKey({ key: name, concurrency: atOnce, work }))
    .subscribe();
  const flush = (): void => {
    const members = batch;
    batch = [];
    for (const member of members) asked.next(member);
  };

  return {
    ask: (member) => {
      if (wanting.has(name(member))) return;
      wanting.add(name(member));
      batch.push(member);
      if (batch.length === 1) queueMicrotask(flush);
    },
    idle: () =>
      wanting.size === 0 ? Promise.resolve() : new Promise((resolve) => whenIdle.push(resolve)),
    stop: () => subscription.unsubscribe(),
  };
};
