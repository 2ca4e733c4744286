/**
 * Where answers to the shard wait their turn.
 *
 * Promises: replies leave one after another in the order of their coming; at most `limit` wait, and
 * the newest is turned away when there is no room, because the shard asks again by itself
 * (WIRE-03); nothing waits while nobody drains it: a reply belongs to the stream that asked.
 */
import { concatMap, defer, Observable, type ObservableInput, Subject } from 'rxjs';

/** A bounded queue of replies. */
export interface ReplyOutbox<Reply> {
  /** Puts a reply into the queue; false when it was turned away. */
  readonly offer: (reply: Reply) => boolean;
  /** How many wait; the one that is being written does not. */
  readonly waiting: () => number;
  /**
   * Writes replies one at a time for as long as it is subscribed; unsubscribing forgets the rest.
   */
  readonly drain: (write: (reply: Reply) => ObservableInput<unknown>) => Observable<unknown>;
}

/** An outbox with room for `limit` replies; `onDropped` gets each one that was turned away. */
export const replyOutbox = <Reply>(
  limit: number,
  onDropped: (reply: Reply) => void = () => {},
): ReplyOutbox<Reply> => {
  const offered = new Subject<Reply>();
  let waiting = 0;
  return {
    offer: (reply) => {
      if (!offered.observed || waiting >= limit) {
        onDropped(reply);
        return false;
      }
      waiting += 1;
      offered.next(reply);
      return true;
    },
    waiting: () => waiting,
    drain: (write) =>
      defer(() => {
        waiting = 0;
        return offered.pipe(concatMap((reply) => {
          waiting -= 1;
          return write(reply);
        }));
      }),
  };
};
