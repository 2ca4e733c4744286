/** The EvictionRequests that a command watches. */
import type { ActorEnvironment } from '../actors/actor-environment.ts';
import { type Informer, startInformer } from '../actors/informers/informer.ts';
import {
  type ObservedRequest,
  projectEvictionRequest,
} from '../domain/eviction-requests/observed-request.ts';
import type { KubeApi } from '../effects/kube-api.ts';
import type { Selection } from '../effects/watches.ts';
import { settledChanges } from '../streams/settled-changes.ts';
import type { Watched } from './record-following.ts';

/** Watched requests. */
export interface EvictionsWatch extends Watched {
  readonly requests: () => readonly ObservedRequest[];
}

/** Starts to follow the requests of a selection. */
export const startEvictionsWatch = (
  environment: ActorEnvironment<KubeApi>,
  selection: Selection,
): EvictionsWatch => {
  const informer: Informer<ObservedRequest> = startInformer(environment, {
    id: 'evictionrequests',
    ...selection,
    project: projectEvictionRequest,
  });
  const changes = settledChanges([informer.facts], environment.scheduler);
  return {
    whenReady: informer.whenSynced,
    requests: () => [...informer.values()],
    onChange: (show) => {
      const subscription = changes.subscribe(show);
      return () => subscription.unsubscribe();
    },
    stop: informer.stop,
  };
};
