/**
 * Which pods of DaemonSets the interceptor `daemonset.tidegate.dev` may remove: those that a
 * maintenance in Drain has reached.
 *
 * Promises: while the maintenances are not listed, or the cache is behind, none may be removed.
 */
import { audit, merge } from 'rxjs';
import { projectPod } from '../../domain/drain/pod.ts';
import { daemonSetRemoval } from '../../domain/node-maintenance/daemon-set-removal.ts';
import type { ObservedMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import type { RemovalGate } from '@tidegate/interceptor';
import type { Informer } from '../informers/informer.ts';
import { isBehind } from '../informers/shared-informers.ts';

/** The gate over these maintenances. */
export const daemonSetGate = (
  maintenances: Pick<
    Informer<ObservedMaintenance>,
    'actor' | 'facts' | 'progress' | 'synced' | 'values'
  >,
): RemovalGate => ({
  verdictOf: (raw) => {
    const pod = projectPod(raw);
    const isKnown = maintenances.synced && !isBehind(maintenances);
    const verdict = pod && daemonSetRemoval(pod, isKnown ? maintenances.values() : []);
    if (verdict === undefined) throw new Error('the pod belongs to no DaemonSet');
    return verdict;
  },
  subscribe: (onChange) => {
    // A bookmark may be the first answer after a failure: it has no fact. In a microtask, because
    // facts are published before their list or watch counts as working.
    const subscription = merge(maintenances.facts, maintenances.progress)
      .pipe(audit(() => Promise.resolve()))
      .subscribe(onChange);
    return () => subscription.unsubscribe();
  },
});
