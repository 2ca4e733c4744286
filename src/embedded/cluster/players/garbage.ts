/**
 * Plays the garbage collector: objects go when all their owners are gone, owners that were deleted
 * in the foreground go after those that hold them up, orphans are let go of.
 */
import { type JsonRecord, listOrEmptyAt, textAt } from '../../../domain/json.ts';
import { keyQueue } from './key-queue.ts';
import { blocks, type OwnedThing, ownership, ownerUids } from './ownership.ts';
import { isTerminating } from './pod-reading.ts';
import { type Player, type Stage, within } from './stage.ts';

const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';

const finalizersOf = (object: JsonRecord): readonly unknown[] =>
  listOrEmptyAt(object, 'metadata', 'finalizers');

const deletes = (stage: Stage, { uid, path }: OwnedThing, policy: string): void => {
  stage.call({
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

const patch = (stage: Stage, { uid, path }: OwnedThing, metadata: JsonRecord): void => {
  stage.call({ method: 'PATCH', path, body: { metadata: { uid, ...metadata } } });
};

const dropFinalizer = (stage: Stage, thing: OwnedThing, finalizer: string): void =>
  patch(stage, thing, {
    finalizers: finalizersOf(thing.object).filter((one) => one !== finalizer),
  });

/** Starts the collector. */
export const startGarbage = (stage: Stage): Player => {
  const book = ownership();

  const inForeground = (owner: OwnedThing): void => {
    const holding = book.dependentsOf(owner.uid)
      .filter(({ object }) => blocks(object, owner.uid));
    if (holding.length === 0) return dropFinalizer(stage, owner, FOREGROUND);
    for (const thing of holding) {
      const own = book.dependentsOf(thing.uid).length > 0 ? 'Foreground' : 'Background';
      if (!isTerminating(thing.object)) deletes(stage, thing, own);
    }
  };
  const orphan = (owner: OwnedThing): void => {
    for (const thing of book.dependentsOf(owner.uid)) {
      const ownerReferences = listOrEmptyAt(thing.object, 'metadata', 'ownerReferences')
        .filter((reference) => textAt(reference, 'uid') !== owner.uid);
      patch(stage, thing, { ownerReferences });
    }
    dropFinalizer(stage, owner, ORPHAN);
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
    if (living.length === 0) return deletes(stage, thing, 'Background');
    const ownerReferences = listOrEmptyAt(thing.object, 'metadata', 'ownerReferences')
      .filter((reference) => living.includes(textAt(reference, 'uid') ?? ''));
    patch(stage, thing, { ownerReferences });
  };
  const queue = keyQueue(stage.time, look);
  const silence = stage.hear((change) => {
    const concerned = book.put(change);
    const { object, type } = change;
    const own = ownerUids(object).length > 0 || isTerminating(object);
    const uid = textAt(object, 'metadata', 'uid') ?? '';
    for (const one of type !== 'DELETED' && own ? [uid, ...concerned] : concerned) {
      const subject = book.get(one);
      if (subject !== undefined && (one === uid || type === 'DELETED')) {
        queue.wake(one, within(stage, stage.pace.controllerMs));
      }
    }
  });
  return {
    stop: () => {
      silence();
      queue.stop();
    },
  };
};
