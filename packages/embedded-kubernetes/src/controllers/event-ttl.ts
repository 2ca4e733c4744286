/**
 * Deletes Events one hour after their last write, like `--event-ttl`.
 *
 * Promises: arms no timer: expired Events are deleted when the next Event arrives, so an idle
 * cluster stays idle.
 */
import type { ApiServerState } from '../api-server-state.ts';
import type { StoredChange } from '../storage/collection.ts';

const RESOURCE = 'events';
const TTL_MS = 3_600_000;

interface Written {
  readonly at: StoredChange['at'];
  readonly revision: number;
  readonly dueMs: number;
}

/** Starts the expiry of Events; returns a function that stops it. */
export const expireEvents = ({ store, time }: ApiServerState): () => void => {
  /** Oldest first; a rewritten Event appears twice, and its first entry is ignored. */
  let written: Written[] = [];
  const newest = new Map<string, number>();

  const expire = (): void => {
    const nowMs = time.monotonic();
    const kept = written.findIndex(({ dueMs }) => dueMs > nowMs);
    const due = kept < 0 ? written : written.slice(0, kept);
    written = kept < 0 ? [] : written.slice(kept);
    for (const { at, revision } of due) {
      if (newest.get(`${at.namespace}/${at.name}`) === revision) store.remove(RESOURCE, at);
    }
  };

  return store.subscribe(({ resource, type, at, revision }) => {
    if (resource !== RESOURCE) return;
    const key = `${at.namespace}/${at.name}`;
    if (type === 'DELETED') {
      newest.delete(key);
      return;
    }
    newest.set(key, revision);
    written.push({ at, revision, dueMs: time.monotonic() + TTL_MS });
    if ((written[0]?.dueMs ?? 0) <= time.monotonic()) expire();
  });
};
