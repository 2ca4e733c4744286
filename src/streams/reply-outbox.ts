/**
 * The queue of answers to the shard.
 *
 * Promises: replies are sent in order; at most `limit` are queued, and a further one is rejected,
 * because the shard repeats its request (WIRE-03); nothing is queued without a subscriber: a reply
 * belongs to the stream of its request.
 */
import { concatMap, defer, Observable, type ObservableInput, Subject } from 'rxjs';

/** A bounded queue of replies. */
export interface ReplyOutbox<Reply> {
  /** Queues a reply; false when it was rejected. */
  readonly offer: (reply: Reply) => boolean;
  /** The number of queued replies, without the one being written. */
  readonly waiting: () => number;
  /**
   * Writes replies one at a time while subscribed; unsubscribing drops the rest.
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
