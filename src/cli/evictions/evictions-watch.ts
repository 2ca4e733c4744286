/** The EvictionRequests that a command watches. */
import type { ActorEnvironment } from '../../actors/actor-environment.ts';
import {
  JoinedRequests,
  type RequestCollection,
} from '../../actors/eviction-requests/followed-requests.ts';
import { type Informer, startInformer } from '../../actors/informers/informer.ts';
import {
  type ObservedRequest,
  projectEvictionRequest,
} from '../../domain/eviction-requests/observed-request.ts';
import type { Identity } from '../../domain/facts.ts';
import type { EvictionsApi } from '../../domain/native-evictions/evictions-api.ts';
import {
  projectNativeEviction,
  projectNativeRequest,
} from '../../domain/native-evictions/objects.ts';
import type { KubeApi } from '../../effects/kube-api.ts';
import { type RequestScope, selectionsOf } from '../../effects/request-reads.ts';
import { settledChanges } from '../../streams/settled-changes.ts';
import type { Watched } from '../terminal/record-following.ts';

/** Watched requests. */
export interface EvictionsWatch extends Watched {
  readonly requests: () => readonly ObservedRequest[];
}

/** Which requests, in which API. */
export interface WatchedRequests {
  readonly api: EvictionsApi;
  readonly scope: RequestScope;
}

interface Followed {
  readonly requests: RequestCollection;
  readonly informers: readonly Pick<Informer<Identity>, 'whenSynced' | 'stop'>[];
}

const followed = (
  environment: ActorEnvironment<KubeApi>,
  selections: ReturnType<typeof selectionsOf>,
): Followed => {
  if (selections._tag === 'Own') {
    const requests = startInformer(environment, {
      id: 'evictionrequests',
      ...selections.requests,
      project: projectEvictionRequest,
    });
    return { requests, informers: [requests] };
  }
  const evictions = startInformer(environment, {
    id: 'nativeevictions',
    ...selections.evictions,
    project: projectNativeEviction,
  });
  const requests = startInformer(environment, {
    id: 'nativeevictionrequests',
    ...selections.requests,
    project: projectNativeRequest,
  });
  return {
    requests: new JoinedRequests(evictions, requests, () => true),
    informers: [evictions, requests],
  };
};

/** Starts to follow the requests of a selection. */
export const startEvictionsWatch = (
  environment: ActorEnvironment<KubeApi>,
  { api, scope }: WatchedRequests,
): EvictionsWatch => {
  const { requests, informers } = followed(environment, selectionsOf(api, scope));
  const changes = settledChanges([requests.facts], environment.scheduler);
  return {
    whenReady: Promise.all(informers.map(({ whenSynced }) => whenSynced)).then(() => {}),
    requests: () => [...requests.values()],
    onChange: (show) => {
      const subscription = changes.subscribe(show);
      return () => subscription.unsubscribe();
    },
    stop: () => informers.forEach(({ stop }) => stop()),
  };
};
