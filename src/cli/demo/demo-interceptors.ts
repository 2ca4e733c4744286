/**
 * The scenario of EvictionRequests: an interceptor that answers, one that does not, and the
 * eviction.
 *
 * Promises: what requester and interceptor write is what they would write in a cluster, each under
 * its own field manager.
 */
import { INTERCEPTORS_ANNOTATION } from '../../domain/eviction-requests/interceptor-list.ts';
import { IMPERATIVE_EVICTION } from '../../domain/eviction-requests/qualified-name.ts';
import { requesterManager, wantedBody } from '../../domain/eviction-requests/requester.ts';
import { LIFECYCLE_GROUP_VERSION } from '../../domain/api-group.ts';
import { listOrEmptyAt, textAt } from '../../domain/json.ts';
import { rfc3339Seconds } from '../../domain/time.ts';
import { EVICTION_REQUESTS_PATH, evictionRequestPath } from '../../effects/evictions-api.ts';
import { realTime } from '../../effects/real-time.ts';
import type { DemoScene } from '../../view/demo-scene.ts';
import type { DemoSite } from './demo-site.ts';
import { allRun, budget, create, type DemoScenario } from './demo-step.ts';

const NAMESPACE = 'default';
const REPLICAS = 2;
const REQUESTER = 'upgrade.nodes.example.com';
const BACKUP = 'backup.db.example.com';
const SWITCHOVER = 'switchover.db.example.com';
/** In a cluster these are minutes; here there is time to look at the silence. */
const WARNING = '3s';
const DEADLINE = '15s';
/** Long enough to be read, and short of the warning. */
const LOOK_MS = 1000;

const active = ({ evictions: [eviction] }: DemoScene): string | undefined =>
  eviction?.active ?? undefined;

const request = ({ apply, list }: DemoSite): void | Promise<void> => {
  const [first] = list(`/api/v1/namespaces/${NAMESPACE}/pods`);
  const [uid = '', name = ''] = [
    textAt(first, 'metadata', 'uid'),
    textAt(first, 'metadata', 'name'),
  ];
  const body = wantedBody({ namespace: NAMESPACE, name, uid }, REQUESTER);
  return apply(evictionRequestPath(NAMESPACE, uid), body, requesterManager(REQUESTER));
};

const now = (): string => rfc3339Seconds(realTime.now());

/** When the interceptor reported first: it sends its heartbeat again with its end. */
const heartbeatIn = (raw: unknown): string | undefined =>
  textAt(
    listOrEmptyAt(raw, 'status', 'interceptors').find((one) => textAt(one, 'name') === BACKUP),
    'heartbeatTime',
  );

/** The interceptor reports to the only request. */
const report = (
  { apply, list }: DemoSite,
  end: { readonly completionTime?: string } = {},
): void | Promise<void> => {
  const [raw] = list(EVICTION_REQUESTS_PATH);
  const name = textAt(raw, 'metadata', 'name') ?? '';
  const heartbeatTime = heartbeatIn(raw) ?? now();
  const entry = { name: BACKUP, message: 'the last changes are copied', heartbeatTime, ...end };
  return apply(`${evictionRequestPath(NAMESPACE, name)}/status`, {
    apiVersion: LIFECYCLE_GROUP_VERSION,
    kind: 'EvictionRequest',
    metadata: { name, namespace: NAMESPACE },
    status: { interceptors: [entry] },
  }, BACKUP);
};

/** Interceptors in turn, then the eviction. */
export const INTERCEPTORS: DemoScenario = {
  title: 'Ask before evicting',
  about: 'A pod is asked to leave: one interceptor answers, one is silent, then it is evicted.',
  conclusion:
    'The pod was evicted only after its interceptors had their turn: the first reported and ' +
    'finished, the second was passed over at its deadline. Nobody waited for it forever.',
  operatorFlags: [
    '--roles=fleet,evictions',
    '--with-pods',
    `--interceptor-warning=${WARNING}`,
    `--interceptor-deadline=${DEADLINE}`,
  ],
  steps: [
    create('db', REPLICAS, {
      budgets: [budget('db', 1)],
      annotations: { [INTERCEPTORS_ANNOTATION]: `${BACKUP},${SWITCHOVER}` },
    }),
    {
      announcement: ['you', `tidegate evict ${NAMESPACE}/db-… --requester=${REQUESTER}`],
      act: request,
      waitsFor: `${BACKUP} to be asked`,
      until: (scene) => active(scene) === BACKUP,
      lastsMs: LOOK_MS,
    },
    {
      announcement: ['backup', 'reports: the last changes are copied'],
      act: (site) => report(site),
      waitsFor: 'its report in the status',
      until: ({ evictions: [eviction] }) => (eviction?.heartbeat ?? null) !== null,
      lastsMs: LOOK_MS,
    },
    {
      announcement: ['backup', 'has finished'],
      act: (site) => report(site, { completionTime: now() }),
      waitsFor: `${SWITCHOVER} to be asked`,
      until: (scene) => active(scene) === SWITCHOVER,
    },
    {
      announcement: ['switchover', `does not run; the deadline is ${DEADLINE}`],
      act: () => {},
      waitsFor: 'the hand-over to the imperative eviction',
      until: (scene) => {
        const [eviction] = scene.evictions;
        return eviction?.processed.includes(SWITCHOVER) === true ||
          active(scene) === IMPERATIVE_EVICTION;
      },
    },
    {
      announcement: ['operator', 'evicts the pod within its budget'],
      act: () => {},
      waitsFor: 'the pod to be replaced',
      until: (scene) => scene.evictions[0]?.phase === 'Evicted' && allRun(REPLICAS)(scene),
    },
  ],
};
