/**
 * Writes CapacityRequests of pods. Promises: every write passes the write budget in class `demand`,
 * is counted, and sends only what changed; creation and first phase are two writes, because
 * creation cannot set a status; an existing phase is not overwritten; a request of that name that
 * is not the pod's is left alone, and the creation refused.
 */
import { Clock, Context, Effect, Layer } from 'effect';
import type { Telemetry } from '../api/telemetry.ts';
import { GROUP_PATH } from '../domain/api-group.ts';
import { pendingPatch } from '../domain/demand/request-status.ts';
import type { WriteOutcome } from '../domain/object-write.ts';
import type { RequestWrite } from '../domain/pod-demand/demand-facts.ts';
import {
  newPodRequest,
  type OwnedRequest,
  podRequestPatch,
  projectOwnedRequest,
  type RequestedPod,
} from '../domain/pod-demand/owned-request.ts';
import { OWNED_BY_POD, requestName } from '../domain/pod-demand/pod-request.ts';
import type { RequestText } from '../domain/pod-demand/request-text.ts';
import type { Intern } from '../domain/text-pool.ts';
import { KubeApi } from './kube-api.ts';
import {
  type CountedOutcome,
  type ObjectRequest,
  type ObjectWrites,
  objectWrites,
} from './object-writes.ts';
import { Writes } from './writes.ts';

/** The pod, the wanted spec, and the current request; null for a creation. */
export interface PodRequestWrite {
  readonly pod: RequestedPod;
  readonly text: RequestText;
  readonly request: OwnedRequest | null;
}

type Outcome = WriteOutcome<OwnedRequest>;
type Act = (write: PodRequestWrite) => Effect.Effect<Outcome>;
type Counted = Effect.Effect<CountedOutcome<OwnedRequest>>;

/** Writes CapacityRequests of pods. */
export class PodRequests extends Context.Service<PodRequests, {
  readonly create: Act;
  readonly update: Act;
  readonly stamp: Act;
  readonly remove: Act;
}>()('tidegate/PodRequests') {}

/** The dependencies of the live layer besides the API server. */
export interface PodRequestsOptions {
  readonly telemetry: Telemetry;
  /** Interns the text of equal specs; see `src/domain/text-pool.ts`. */
  readonly intern: Intern;
}

const NOTHING_TO_WRITE: CountedOutcome<OwnedRequest> = {
  outcome: { _tag: 'Fault', why: 'there was nothing to write' },
  result: 'error',
};

const pathIn = (namespace: string): string =>
  `${GROUP_PATH}/namespaces/${encodeURIComponent(namespace)}/capacityrequests`;

/** `metadata.name` of an existing request. */
const nameOf = ({ key }: OwnedRequest): string => key.slice(key.indexOf('/') + 1);

/** Of a deleted pod only the requests are known, perhaps in more than one namespace. */
const namespaceOf = ({ key }: OwnedRequest): string => key.slice(0, key.indexOf('/'));

/** The writes of one namespace, and how they are sent. */
interface PodRequestWrites extends ObjectWrites<OwnedRequest> {
  readonly send: (write: ObjectRequest<CountedOutcome<OwnedRequest>>) => Counted;
}

/** An object of the same name with another UID: the refusal is about the request before it. */
const replaced =
  ({ look }: PodRequestWrites, request: OwnedRequest) =>
  (answer: CountedOutcome<OwnedRequest>): Counted => {
    if (answer.outcome._tag !== 'Refused') return Effect.succeed(answer);
    return Effect.map(look(nameOf(request)), (looked) => {
      const { outcome } = looked;
      const isOther = outcome._tag === 'Written' && outcome.current.uid !== request.uid;
      return isOther || outcome._tag === 'Absent' ? looked : answer;
    });
  };

/** Writes the phase unless the object changed concurrently: then reads it instead. */
const stamped = (writes: PodRequestWrites, request: OwnedRequest): Counted =>
  Clock.currentTimeMillis.pipe(
    Effect.map((nowMs) => writes.patchStatus(nameOf(request), pendingPatch(request, nowMs))),
    Effect.flatMap(writes.send),
    Effect.flatMap((answer): Counted =>
      answer.result === 'conflict'
        ? writes.look(nameOf(request))
        : replaced(writes, request)(answer)
    ),
  );

const updated = (
  writes: PodRequestWrites,
  { pod, text }: PodRequestWrite,
  request: OwnedRequest,
): Counted => {
  const body = podRequestPatch(pod, request, text);
  return body === undefined
    ? Effect.succeed(NOTHING_TO_WRITE)
    : Effect.flatMap(writes.send(writes.patch(nameOf(request), body)), replaced(writes, request));
};

/** What exists under the name of a request and is not the pod's is no answer to its creation. */
const refusedUnlessOwned =
  (pod: RequestedPod, name: string) =>
  (answer: CountedOutcome<OwnedRequest>): CountedOutcome<OwnedRequest> => {
    const { outcome } = answer;
    if (outcome._tag !== 'Written' || outcome.current.pod === pod.uid) return answer;
    const why = `CapacityRequest "${name}" exists, without the label "${OWNED_BY_POD}": ` +
      'delete it or give it the label with the UID of the pod';
    return { outcome: { _tag: 'Refused', why }, result: 'conflict' };
  };

/** The write's name on existing dashboards; updates are not counted. */
const reconciledBy = (op: RequestWrite, outcome: Outcome): 'cr_created' | 'error' | undefined => {
  if (outcome._tag === 'Refused' || outcome._tag === 'Fault') return 'error';
  return op === 'create' ? 'cr_created' : undefined;
};

/** Requests of pods on a real API server. */
export const podRequestsLayer = (
  { telemetry, intern }: PodRequestsOptions,
): Layer.Layer<PodRequests, never, KubeApi | Writes> =>
  Layer.effect(
    PodRequests,
    Effect.gen(function* () {
      const [api, writes] = [yield* KubeApi, yield* Writes];
      const project = (raw: unknown) => projectOwnedRequest(raw, intern);
      const writesIn = (namespace: string): PodRequestWrites => ({
        ...objectWrites({ path: pathIn(namespace), api, project }),
        send: ({ call, outcomeOf }) => outcomeOf(writes.send('demand', call)),
      });
      const counted = (op: RequestWrite, act: Counted): Effect.Effect<Outcome> =>
        Effect.map(act, ({ outcome, result }) => {
          telemetry.count('tidegate_pod_request_writes_total', 1, { op, outcome: result });
          const reconciled = reconciledBy(op, outcome);
          if (reconciled !== undefined) {
            telemetry.count('bigfleet_unschedulable_pod_controller_reconciles_total', 1, {
              outcome: reconciled,
            });
          }
          return outcome;
        });
      const about = (
        op: RequestWrite,
        act: (writes: PodRequestWrites, request: OwnedRequest) => Counted,
        { request }: PodRequestWrite,
      ): Effect.Effect<Outcome> =>
        counted(
          op,
          request === null
            ? Effect.succeed(NOTHING_TO_WRITE)
            : act(writesIn(namespaceOf(request)), request),
        );
      return {
        create: ({ pod, text }) => {
          const name = requestName(pod.name, pod.uid);
          const { send, create } = writesIn(pod.namespace);
          const answer = send(create(newPodRequest(pod, name, text), name));
          return counted('create', Effect.map(answer, refusedUnlessOwned(pod, name)));
        },
        update: (write) =>
          about('update', (objects, request) => updated(objects, write, request), write),
        stamp: (write) => about('stamp', stamped, write),
        remove: (write) =>
          about(
            'delete',
            ({ send, remove }, request) => send(remove(nameOf(request), request.uid)),
            write,
          ),
      };
    }),
  );
