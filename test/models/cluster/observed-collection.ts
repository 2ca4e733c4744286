/** Collections as the operator observes them, to wait until it has seen a change. */
import { type Informer, startInformer } from '../../../src/actors/informers/informer.ts';
import type { ActorEnvironment } from '../../../src/actors/actor-environment.ts';
import type { Identity } from '../../../src/domain/facts.ts';
import type { KubeApi } from '../../../src/effects/kube-api.ts';

/** A collection that is watched. */
export interface ObservedCollection<T extends Identity> {
  readonly get: Informer<T>['get'];
  readonly values: Informer<T>['values'];
  /** Resolves with the first defined result of `look`. */
  readonly until: <Seen>(look: () => Seen | undefined) => Promise<Seen>;
  /** Resolves with the last state of the object with that key when it is deleted. */
  readonly absence: (key: T['key']) => Promise<T>;
  readonly stop: () => void;
}

/** Watches the collection at `path`; resolves when it is known. */
export const observeCollection = async <T extends Identity>(
  world: ActorEnvironment<KubeApi>,
  path: string,
  project: (raw: unknown) => T | undefined,
): Promise<ObservedCollection<T>> => {
  const reflector = startInformer(world, { id: path, path, project });
  await reflector.whenSynced;
  return {
    get: reflector.get,
    values: reflector.values,
    until: (look) =>
      new Promise((resolve, reject) => {
        const subscription = reflector.facts.subscribe({ next: again, error: reject });
        function again(): void {
          const seen = look();
          if (seen === undefined) return;
          resolve(seen);
          queueMicrotask(() => subscription.unsubscribe());
        }
        again();
      }),
    absence: (key) =>
      new Promise((resolve, reject) => {
        const subscription = reflector.facts.subscribe({
          next: (fact) => {
            if (fact._tag !== 'Absent' || fact.key !== key) return;
            resolve(fact.last);
            queueMicrotask(() => subscription.unsubscribe());
          },
          error: reject,
        });
      }),
    stop: reflector.stop,
  };
};
