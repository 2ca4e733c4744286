/** An in-memory collection whose changes are delivered late, like those of a watch. */
import { concat, defer, of, Subject } from 'rxjs';
import type { Fact, Identity } from '../../../src/domain/facts.ts';
import { type ObjectKey, type ResourceVersion, resourceVersion } from '../../../src/domain/ids.ts';
import type { Time } from '../../../src/domain/time.ts';

/** One collection, delivered after `lagMs`. */
export const fakeCollection = <T extends Identity>(time: Time, lagMs: number) => {
  const changes = new Subject<Fact<T>>();
  const progress = new Subject<ResourceVersion>();
  const cached = new Map<ObjectKey, T>();
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
    cached.set(object.key, object);
    changes.next({ _tag: 'Present', object });
    progress.next(object.resourceVersion);
  };
  return {
    put: (object: T | undefined) => delayed(() => put(object)),
    remove: (last: T | undefined) =>
      delayed(() => {
        if (last === undefined) return;
        cached.delete(last.key);
        changes.next({ _tag: 'Absent', key: last.key, last });
        progress.next(last.resourceVersion);
      }),
    bookmark: (at: number) => delayed(() => progress.next(resourceVersion(`${at}`))),
    /** Delivers nothing more, not even what is pending. */
    silence: () => {
      deaf = true;
    },
    /** A new list that lacks this object; no watch ever showed its deletion. */
    relistWithout: (last: T | undefined) => {
      if (last === undefined) return;
      cached.delete(last.key);
      changes.next({ _tag: 'Listed', objects: [...cached.values()] });
      changes.next({ _tag: 'Absent', key: last.key, last });
    },
    isFollowed: () => changes.observed,
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
      get: (key: ObjectKey) => cached.get(key),
      values: () => cached.values(),
      facts: defer(() =>
        concat(of<Fact<T>>({ _tag: 'Listed', objects: [...cached.values()] }), changes)
      ),
    },
  };
};
