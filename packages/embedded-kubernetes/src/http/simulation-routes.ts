/**
 * HTTP controls of the embedded cluster below `/_sim/`: faults, time, watches, resource versions.
 *
 * Promises: an invalid request gets `{"error": "…"}` with status 400 or 404; with role-based access
 * control, a caller needs the right to the path; other paths go to the API server.
 */
import {
  asList,
  asNumber,
  asRecord,
  asText,
  booleanAt,
  type JsonRecord,
  numberAt,
  textAt,
} from '../values/json.ts';
import type { ClusterAnswer, ClusterRequest } from '../api.ts';
import type { Cluster } from '../cluster.ts';
import type { Fault, Trouble } from '../faults.ts';
import type { ScaledClock } from '../scaled-clock.ts';
import type { Handle } from './server.ts';
import { answerOf } from './requests.ts';

/** The controlled components. */
export interface Simulated {
  readonly cluster: Cluster;
  readonly time: ScaledClock;
}

class Unusable extends Error {}

const bodyOf = ({ body }: ClusterRequest): JsonRecord => {
  const record = asRecord(body ?? {});
  if (record === undefined) throw new Unusable('The body must be a JSON object');
  return record;
};

const wholeIn = (body: JsonRecord, field: string, least: number): number | undefined => {
  const value = body[field];
  if (value === undefined) return undefined;
  const number = asNumber(value);
  if (number !== undefined && number >= least) return number;
  throw new Unusable(`Cannot use "${field}": it must be a number, at least ${least}`);
};

const TROUBLES = ['refuse', 'cut', 'unreachable', 'hang', 'slow'];

const troubleOf = (body: JsonRecord): Trouble => {
  const kind = textAt(body, 'kind') ?? '';
  const done = booleanAt(body, 'done') ?? false;
  switch (kind) {
    case 'refuse': {
      const retryAfterSeconds = wholeIn(body, 'retryAfterSeconds', 0);
      const status = wholeIn(body, 'status', 400) ?? 500;
      return { kind, status, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
    }
    case 'cut':
    case 'hang':
      return { kind, done };
    case 'unreachable':
      return { kind };
    case 'slow':
      return { kind, delayMs: wholeIn(body, 'delayMs', 0) ?? 1000 };
    default:
      throw new Unusable(`Cannot use "kind": write one of ${TROUBLES.join(', ')}`);
  }
};

const faultOf = (body: JsonRecord): Fault => {
  const methods = asList(body['methods'])?.map((one) => asText(one) ?? '');
  const path = textAt(body, 'path');
  const times = wholeIn(body, 'times', 1);
  return {
    trouble: troubleOf(body),
    ...(methods === undefined ? {} : { methods }),
    ...(path === undefined ? {} : { path }),
    ...(times === undefined ? {} : { times }),
  };
};

/** One route. `does` is its line in the reference. */
export interface SimulationRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly does: string;
  readonly answer: (simulated: Simulated, request: ClusterRequest) => unknown;
}

const timeView = ({ time }: Simulated) => ({
  now: new Date(time.now()).toISOString(),
  rate: time.rate(),
});

/** All routes. */
export const SIMULATION_ROUTES: readonly SimulationRoute[] = [
  {
    method: 'GET',
    path: '/_sim/faults',
    does: 'Lists the faults that are set, with how many requests each has touched',
    answer: ({ cluster }) => cluster.faults.list(),
  },
  {
    method: 'POST',
    path: '/_sim/faults',
    does: 'Sets a fault: `kind` (refuse with `status` (500) and `retryAfterSeconds`, cut or hang ' +
      'with `done` (false), unreachable, slow by `delayMs` (1000)), for requests with `methods` ' +
      '(all) and with `path` in their path (all), `times` (for ever)',
    answer: ({ cluster }, request) => {
      cluster.faults.set(faultOf(bodyOf(request)));
      return cluster.faults.list();
    },
  },
  {
    method: 'DELETE',
    path: '/_sim/faults',
    does: 'Lifts all faults',
    answer: ({ cluster }) => {
      cluster.faults.clear();
      return cluster.faults.list();
    },
  },
  {
    method: 'GET',
    path: '/_sim/time',
    does: 'The time, and how fast it runs',
    answer: timeView,
  },
  {
    method: 'POST',
    path: '/_sim/time',
    does: 'Sets how fast time runs (`rate`; 0 stops it), and lets `advanceMs` pass at once',
    answer: (simulated, request) => {
      const body = bodyOf(request);
      const rate = wholeIn(body, 'rate', 0);
      const advanceMs = wholeIn(body, 'advanceMs', 0);
      if (rate !== undefined) simulated.time.setRate(rate);
      if (advanceMs !== undefined) simulated.time.jump(advanceMs);
      return timeView(simulated);
    },
  },
  {
    method: 'POST',
    path: '/_sim/watches',
    does: 'Breaks the open watches of `resource` (all), such as `pods` or `deployments.apps`; ' +
      '`quietly` (false) ends them in good order instead',
    answer: ({ cluster }, request) => {
      const body = bodyOf(request);
      const resource = textAt(body, 'resource');
      const quietly = booleanAt(body, 'quietly') ?? false;
      const options = { quietly, ...(resource === undefined ? {} : { resource }) };
      return { dropped: cluster.watches.drop(options) };
    },
  },
  {
    method: 'POST',
    path: '/_sim/compact',
    does: 'Forgets what happened up to `revision` (now): older watches and pages get 410',
    answer: ({ cluster }, request) => {
      cluster.store.compact(numberAt(bodyOf(request), 'revision'));
      return { revision: cluster.store.revision() };
    },
  },
  {
    method: 'GET',
    path: '/_sim/state',
    does: 'Counts objects and open watches by resource',
    answer: ({ cluster }) => ({
      revision: cluster.store.revision(),
      resources: Object.fromEntries(
        [...cluster.store.resources()].map((resource) => [resource, {
          objects: cluster.store.collection(resource).size(),
          watches: cluster.watches.count(resource),
        }]),
      ),
    }),
  },
];

const ROOM = '/_sim/';

const simulationAnswer = (simulated: Simulated, request: ClusterRequest): ClusterAnswer => {
  const path = request.path.split('?')[0] ?? '';
  const route = SIMULATION_ROUTES.find((one) => one.method === request.method && one.path === path);
  const refusal = simulated.cluster.refusal(request);
  if (refusal !== undefined) return refusal;
  if (route === undefined) {
    return answerOf(404, { error: `There is no route "${request.method} ${path}"` });
  }
  try {
    return answerOf(200, route.answer(simulated, request));
  } catch (cause) {
    if (cause instanceof Unusable) return answerOf(400, { error: cause.message });
    throw cause;
  }
};

/** A request handler for the cluster and its controls; faults do not affect the controls. */
export const withSimulation = (simulated: Simulated): Handle => (request) =>
  request.path.startsWith(ROOM)
    ? Promise.resolve(simulationAnswer(simulated, request))
    : simulated.cluster.handle(request);
