/** One pod and its CapacityRequest, walked through every configuration. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect } from 'vitest';
import { providePodDemand } from '../../src/actors/capacity-requests/pod-demand-actor.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import { uid } from '../../src/domain/ids.ts';
import { textAt, valueAt } from '../../src/domain/json.ts';
import type { WriteOutcome } from '../../src/domain/object-write.ts';
import {
  type DemandFacts,
  pendingRequestWrite,
  type RequestsStatus,
} from '../../src/domain/pod-demand/demand-facts.ts';
import {
  type OwnedRequest,
  projectOwnedRequest,
  type RequestedPod,
} from '../../src/domain/pod-demand/owned-request.ts';
import { OWNED_BY_POD, requestName } from '../../src/domain/pod-demand/pod-request.ts';
import { requestText } from '../../src/domain/pod-demand/request-text.ts';
import { isOlder } from '../../src/domain/resource-versions.ts';
import type { KubeCall } from '../../src/effects/kube-api.ts';
import { podRequestsLayer } from '../../src/effects/pod-requests.ts';
import type { PodDemandContext } from '../../src/machines/pod-demand-context.ts';
import { podDemand } from '../../src/machines/pod-demand.ts';
import { answeringApi, answerOf } from '../support/api/fake-api.ts';
import { podDemandHarness } from './cluster/pod-demand-harness.ts';
import type { Received } from './harness/crash.ts';
import { isTimer, must } from './harness/step-invariants.ts';
import { triesOf } from './harness/tries.ts';
import { writerInvariant } from './harness/writer-invariants.ts';
import { describeModel, type InvokedActors } from './model.ts';

const POD: RequestedPod = {
  namespace: 'n',
  name: 'web',
  uid: uid('00000000-0000-4000-8000-000000000001'),
};
const OURS = requestName(POD.name, POD.uid);

const spec = (cpu: string) => ({ resources: { cpu }, priority: 0 });
const TEXT = requestText(spec('1'));

/** What the API server would answer with, by revision. */
const served = new Map<string, object>();

interface Traits {
  readonly name?: string;
  readonly uid?: string;
  readonly phase?: string;
  readonly cpu?: string;
  readonly resourceVersion: string;
}

const request = (
  { name = OURS, uid: id = 'r1', phase = '', cpu = '1', resourceVersion }: Traits,
): OwnedRequest => {
  const raw = {
    metadata: {
      name,
      namespace: 'n',
      uid: id,
      resourceVersion,
      labels: { [OWNED_BY_POD]: POD.uid },
      ownerReferences: [{ kind: 'Pod', uid: POD.uid }],
    },
    spec: spec(cpu),
    ...(phase === '' ? {} : { status: { phase } }),
  };
  const projection = projectOwnedRequest(raw);
  if (projection === undefined) throw new Error('No projection');
  served.set(projection.resourceVersion, raw);
  return projection;
};

const CREATED = request({ resourceVersion: '10' });
const STAMPED = request({ phase: 'Pending', resourceVersion: '11' });
/** A request by another controller: another name, other resources. */
const MADE_BY_OTHER = request({
  name: 'cr-pod-web-x7k2p',
  uid: 'r2',
  phase: 'Acknowledged',
  cpu: '2',
  resourceVersion: '5',
});
const ADOPTED = request({
  name: 'cr-pod-web-x7k2p',
  uid: 'r2',
  phase: 'Acknowledged',
  resourceVersion: '12',
});

/** What outlives the process: the pod, its requests, and those that are known to be deleted. */
interface World {
  readonly status: RequestsStatus;
  readonly requests: readonly OwnedRequest[];
  readonly gone: readonly string[];
}

const ALONE: World = { status: 'Wanted', requests: [], gone: [] };

const textOf = (status: RequestsStatus): string => (status === 'Wanted' ? TEXT : '');

const inputOf = ({ status, requests }: Pick<World, 'status' | 'requests'>) => ({
  pod: POD,
  facts: { status, text: textOf(status), requests } satisfies DemandFacts,
  seed: 1,
});

type Outcome = WriteOutcome<OwnedRequest>;

const actIn = ({ method, path }: KubeCall): string => {
  if (method === 'PATCH') return path.endsWith('/status') ? 'stampRequest' : 'updateRequest';
  return method === 'POST' ? 'createRequest' : 'deleteRequest';
};

/** The statechart with its real effects, down to its requests. */
const wire = (invoked: InvokedActors) => {
  const api = answeringApi((call) =>
    Effect.flatMap(
      Effect.promise(() => invoked.perform<Outcome>(actIn(call), call)),
      (outcome) => answerOf(outcome, (resourceVersion) => served.get(resourceVersion)),
    )
  );
  const layer = podRequestsLayer({ telemetry: silentTelemetry, intern: (text) => text }).pipe(
    Layer.provide(api),
  );
  const deaf = () => {};
  return providePodDemand(
    ManagedRuntime.make(layer),
    { requestSlot: deaf, recordRefused: deaf, recordFailing: deaf },
    (write) => write,
  );
};

/** After a restart the garbage collector has its whole grace again. */
const observed = (status: RequestsStatus): RequestsStatus => status === 'Overdue' ? 'Gone' : status;

const pod = (status: RequestsStatus) => ({ status, text: textOf(status) });
const briefly = ({ key, resourceVersion, phase }: OwnedRequest) => [key, resourceVersion, phase];

const STATUSES = ['Wanted', 'Unwanted', 'Gone'] as const;

/** The request that is written about: as served, not as the machine remembers it. */
const requestIn = (value: unknown): OwnedRequest | undefined =>
  projectOwnedRequest(served.get(textAt(value, 'resourceVersion') ?? ''));

const without = (world: World, id: string | undefined): World =>
  id === undefined ? world : {
    ...world,
    requests: world.requests.filter((one) => one.uid !== id),
    gone: [...new Set([...world.gone, id])].toSorted(),
  };

/** A deleted request does not come back, and an older one says nothing. */
const withRequest = (world: World, seen: OwnedRequest): World => {
  const known = world.requests.find((one) => one.uid === seen.uid);
  const isOld = known !== undefined && isOlder(seen.resourceVersion, known.resourceVersion);
  if (world.gone.includes(seen.uid) || isOld) return world;
  const others = world.requests.filter((one) => one.uid !== seen.uid && one.key !== seen.key);
  const requests = [...others, seen].sort((one, other) => one.key < other.key ? -1 : 1);
  return { ...world, requests };
};

const recorded = (world: World, { event, answered }: Received): World => {
  if (event.type === 'pod.observed') {
    const status = STATUSES.find((one) => one === event['status']);
    return status === undefined ? world : { ...world, status };
  }
  if (event.type === 'request.vanished') return without(world, textAt(event, 'uid'));
  if (textAt(event['output'], '_tag') === 'Absent') {
    return without(world, textAt(answered, 'request', 'uid'));
  }
  const seen = requestIn(event['request']) ?? requestIn(valueAt(event['output'], 'current'));
  return seen === undefined ? world : withRequest(world, seen);
};

const checkWriter = writerInvariant({
  pendingIn: ({ context }) => pendingRequestWrite(POD, context.facts)?.write,
  actorOf: {
    create: 'createRequest',
    update: 'updateRequest',
    stamp: 'stampRequest',
    delete: 'deleteRequest',
  },
  baseOf: ({ context }) => {
    const about = pendingRequestWrite(POD, context.facts)?.request;
    return about ? { uid: about.uid, resourceVersion: about.resourceVersion } : null;
  },
  restsIn: ({ context: { facts } }) => {
    if (facts.requests.length === 0) return 'absent';
    return facts.status === 'Gone' ? 'leaving' : 'settled';
  },
  retries: 'WithSlot',
  reconsiders: ({ event, before: { context: { facts } } }) =>
    event.type === 'pod.observed' &&
    (event['status'] !== facts.status || event['text'] !== facts.text),
});

describeModel('podDemand', {
  machine: podDemand,
  wire,
  harness: podDemandHarness,
  inputs: [inputOf({ status: 'Wanted', requests: [] })],
  events: {
    'pod.observed': [pod('Wanted'), pod('Unwanted'), pod('Gone')],
    'request.observed': [{ request: CREATED }, { request: STAMPED }, { request: MADE_BY_OTHER }],
    'request.vanished': [{ uid: 'r1' }, { uid: 'r2' }],
    'xstate.done.actor.createRequest': [
      { output: { _tag: 'Written', current: CREATED } },
      { output: { _tag: 'Fault', why: 'planted' } },
      { output: { _tag: 'Refused', why: 'planted' } },
    ],
    'xstate.done.actor.updateRequest': [
      { output: { _tag: 'Written', current: ADOPTED } },
      { output: { _tag: 'Absent' } },
    ],
    'xstate.done.actor.stampRequest': [
      { output: { _tag: 'Written', current: STAMPED } },
      { output: { _tag: 'Absent' } },
    ],
    'xstate.done.actor.deleteRequest': [{ output: { _tag: 'Absent' } }],
  },
  project: ({ facts, gone, base, sent, attempt, verdict }: PodDemandContext) => ({
    status: facts.status,
    requests: facts.requests.map(briefly),
    gone: gone.toSorted(),
    base,
    sent,
    attempt: triesOf(attempt, facts.requests.length === 0),
    verdict,
  }),
  invariant: (snapshot, actions) => {
    const { facts, base } = snapshot.context;
    if (snapshot.matches('absent')) expect(facts.requests).toEqual([]);
    if (actions.includes('invoke:createRequest')) {
      expect(facts).toMatchObject({ status: 'Wanted', requests: [] });
    }
    if (actions.includes('invoke:deleteRequest')) {
      const others = facts.requests.filter((one: OwnedRequest) => one.uid !== base?.uid);
      const isExtra = facts.status === 'Wanted' && others.length > 0;
      const isNoDemand = facts.status === 'Unwanted' || facts.status === 'Overdue';
      expect(isExtra || isNoDemand, 'the only request of a wanted pod stays').toBe(true);
    }
    if (actions.includes('invoke:stampRequest')) {
      expect(facts.requests.find((one: OwnedRequest) => one.uid === base?.uid)?.phase).toBe('');
    }
  },
  stepInvariant: (step) => {
    checkWriter(step);
    const { status } = step.after.context.facts;
    if (isTimer(step, 'gcGrace')) {
      must(status === 'Overdue', 'the garbage collector had its grace');
    }
    if (step.event.type === 'pod.observed' && step.event['status'] !== 'Gone') {
      must(status === step.event['status'], 'the pod is known as it was seen last');
    }
  },
  crash: {
    world: ALONE,
    record: recorded,
    restart: (world) => ({ input: inputOf(world), events: [] }),
    obligations: ({ context }: { context: PodDemandContext }) => {
      const status = observed(context.facts.status);
      const pending = pendingRequestWrite(POD, { ...context.facts, status });
      return {
        status,
        write: pending?.write,
        about: pending?.request?.uid,
        remain: context.facts.requests.length,
      };
    },
  },
  forgets: 'request.observed',
  limit: 40_000,
});
