/** A collection of objects in memory that is told late, as a watch tells it. */
import { concat, defer, of, Subject } from 'rxjs';
import type { Fact, Identity } from '../../../src/domain/facts.ts';
import { type ObjectKey, type Revision, revision } from '../../../src/domain/ids.ts';
import type { Time } from '../../../src/domain/time.ts';

/** One collection, told after `lagMs`. */
export const fakeCollection = <T extends Identity>(time: Time, lagMs: number) => {
  const changes = new Subject<Fact<T>>();
  const progress = new Subject<Revision>();
  const shown = new Map<ObjectKey, T>();
  let held: (() => void)[] | undefined;
  let deaf = false;
  const delayed = (run: () => void): void => {
    time.schedule(lagMs, () => {
      if (deaf) return;
      if (held === undefined) run();
      else held.push(run);
    });
  };
  const put = (object: T | undefined): void => {
    if (object === undefined) return;
    shown.set(object.key, object);
    changes.next({ _tag: 'Present', object });
    progress.next(object.revision);
  };
  return {
    put: (object: T | undefined) => delayed(() => put(object)),
    remove: (last: T | undefined) =>
      delayed(() => {
        if (last === undefined) return;
        shown.delete(last.key);
        changes.next({ _tag: 'Absent', key: last.key, last });
        progress.next(last.revision);
      }),
    bookmark: (at: number) => delayed(() => progress.next(revision(`${at}`))),
    /** Nothing arrives any more, and nothing is caught up. */
    silence: () => {
      deaf = true;
    },
    /** Holds events back until they are let through. */
    hold: () => {
      held ??= [];
    },
    letThrough: () => {
      const runs = held ?? [];
      held = undefined;
      for (const run of runs) run();
    },
    reflector: {
      progress,
      get: (key: ObjectKey) => shown.get(key),
      facts: defer(() =>
        concat(of<Fact<T>>({ _tag: 'Listed', objects: [...shown.values()] }), changes)
      ),
    },
  };
};
