/**
 * Reclaims that were lost with a process: the fleet calls a machine DRAINING in a replay, and its
 * Node knows nothing of it (DR-14).
 *
 * Promises: only what a replay said counts, and only five seconds after that replay was proven;
 * whoever is heard of in another state meanwhile is left alone.
 */
import { EMPTY, filter, map, type Observable, switchMap, tap, timer } from 'rxjs';
import type { SessionNews } from '../../domain/frames.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** The shard may be about to give the instruction, and its cordon about to land. */
const PATIENCE_MS = 5000;

/** Says the machines of each proven replay that were DRAINING in it and still are. */
export const drainingMachines = <Services>(
  { scheduler }: ActorEnvironment<Services>,
  news: Observable<SessionNews>,
): Observable<readonly string[]> => {
  let draining = new Set<string>();
  let replaying = false;
  const listen = (item: SessionNews): void => {
    switch (item._tag) {
      case 'StreamOpened':
        draining = new Set();
        replaying = true;
        return;
      case 'MachineObserved': {
        const { machineId, state } = item.machine;
        if (state !== 'Draining') draining.delete(machineId);
        else if (replaying) draining.add(machineId);
        return;
      }
      case 'Resynced':
        replaying = false;
        return;
      default:
        return;
    }
  };
  return news.pipe(
    tap(listen),
    filter(({ _tag }) => ['StreamOpened', 'Resynced', 'StreamEnded'].includes(_tag)),
    switchMap(({ _tag }) => (_tag === 'Resynced' ? timer(PATIENCE_MS, scheduler) : EMPTY)),
    map(() => [...draining]),
  );
};
