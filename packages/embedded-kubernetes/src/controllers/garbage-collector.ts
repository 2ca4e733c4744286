/**
 * The garbage collector: deletes objects whose owners are all gone, completes foreground deletion
 * after the blocking dependents, and orphans dependents on request.
 */
import { type JsonRecord, listOrEmptyAt, textAt } from '../values/json.ts';
import { keyQueue } from './key-queue.ts';
import { blocks, type OwnedThing, ownership, ownerUids } from './ownership.ts';
import { isTerminating } from './pod-reading.ts';
import { type Controller, type ControllerEnvironment, within } from './controller-environment.ts';

const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';

const finalizersOf = (object: JsonRecord): readonly unknown[] =>
  listOrEmptyAt(object, 'metadata', 'finalizers');

const deletes = (
  environment: ControllerEnvironment,
  { uid, path }: OwnedThing,
  policy: string,
): void => {
  environment.call({
    method: 'DELETE',
    path,
    body: {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid },
      propagationPolicy: policy,
    },
  });
};

const patch = (
  environment: ControllerEnvironment,
  { uid, path }: OwnedThing,
  metadata: JsonRecord,
): void => {
  environment.call({ method: 'PATCH', path, body: { metadata: { uid, ...metadata } } });
};

const dropFinalizer = (
  environment: ControllerEnvironment,
  thing: OwnedThing,
  finalizer: string,
): void =>
  patch(environment, thing, {
    finalizers: finalizersOf(thing.object).filter((one) => one !== finalizer),
  });

/** Starts the collector. */
export const startGarbageCollector = (environment: ControllerEnvironment): Controller => {
  const book = ownership();

  const inForeground = (owner: OwnedThing): void => {
    const holding = book.dependentsOf(owner.uid)
      .filter(({ object }) => blocks(object, owner.uid));
    if (holding.length === 0) return dropFinalizer(environment, owner, FOREGROUND);
    for (const thing of holding) {
      const own = book.dependentsOf(thing.uid).length > 0 ? 'Foreground' : 'Background';
      if (!isTerminating(thing.object)) deletes(environment, thing, own);
    }
  };
  const orphan = (owner: OwnedThing): void => {
    for (const thing of book.dependentsOf(owner.uid)) {
      const ownerReferences = listOrEmptyAt(thing.object, 'metadata', 'ownerReferences')
        .filter((reference) => textAt(reference, 'uid') !== owner.uid);
      patch(environment, thing, { ownerReferences });
    }
    dropFinalizer(environment, owner, ORPHAN);
  };
  const look = (uid: string): void => {
    const thing = book.get(uid);
    if (thing === undefined) return;
    const finalizers = finalizersOf(thing.object);
    if (isTerminating(thing.object)) {
      if (finalizers.includes(ORPHAN)) orphan(thing);
      else if (finalizers.includes(FOREGROUND)) inForeground(thing);
      return;
    }
    const owners = ownerUids(thing.object);
    const living = owners.filter((owner) => book.get(owner) !== undefined);
    if (living.length === owners.length) return;
    if (living.length === 0) return deletes(environment, thing, 'Background');
    const ownerReferences = listOrEmptyAt(thing.object, 'metadata', 'ownerReferences')
      .filter((reference) => living.includes(textAt(reference, 'uid') ?? ''));
    patch(environment, thing, { ownerReferences });
  };
  const queue = keyQueue(environment.time, look);
  const unsubscribe = environment.subscribe((change) => {
    const concerned = book.put(change);
    const { object, type } = change;
    const own = ownerUids(object).length > 0 || isTerminating(object);
    const uid = textAt(object, 'metadata', 'uid') ?? '';
    for (const one of type !== 'DELETED' && own ? [uid, ...concerned] : concerned) {
      const subject = book.get(one);
      if (subject !== undefined && (one === uid || type === 'DELETED')) {
        queue.schedule(one, within(environment, environment.timing.controllerMs));
      }
    }
  });
  return {
    stop: () => {
      unsubscribe();
      queue.stop();
    },
  };
};
