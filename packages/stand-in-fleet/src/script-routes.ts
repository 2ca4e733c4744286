/** The routes of the script server and their actions. */
import { type JsonValue, toJson } from '@bufbuild/protobuf';
import { InspectNeedsResponseSchema } from './gen/bigfleet/v1alpha1/shard_pb.ts';
import type { FleetTiming } from './fleet-time.ts';
import { FLEET_MACHINE_STATES } from './machine.ts';
import { kindNamed, type MachineKind, machineKind } from './machine-kind.ts';
import { inspectNeeds } from './needs-view.ts';
import { ODD_FRAMES } from './odd-frames.ts';
import { type RequestFields, ScriptError } from './request-fields.ts';
import type { Script } from './script.ts';
import { STATUS, type Status } from './session.ts';
import { machineView, overview } from './script-views.ts';

/** A request of a script. */
export interface ScriptRequest {
  /** The values of the `*`s in the route's path. */
  readonly captured: readonly string[];
  readonly query: URLSearchParams;
  readonly body: RequestFields;
}

/** One route. */
export interface ScriptRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `*` matches one segment. */
  readonly path: string;
  /** For the reference page. */
  readonly does: string;
  readonly answer: (script: Script, request: ScriptRequest) => unknown;
}

const MACHINES_LISTED_MAX = 1000;

const isJson = (value: unknown): value is JsonValue =>
  value === null || typeof value === 'string' || typeof value === 'number' ||
  typeof value === 'boolean' || typeof value === 'object';

const jsonOf = (body: RequestFields, field: string, absent?: JsonValue): JsonValue => {
  const value = body.json(field) ?? absent;
  if (!isJson(value)) throw new ScriptError(400, `Field "${field}" must be JSON`);
  return value;
};

const kindOf = (body: RequestFields): MachineKind => {
  const resources = body.map('resources');
  if (resources === undefined) {
    const name = body.text('kind', 'standard-8');
    const zone = body.text('zone', 'zone-a');
    const kind = kindNamed(name, zone);
    if (kind === undefined) throw new ScriptError(404, `There is no kind "${name}" in "${zone}"`);
    return kind;
  }
  try {
    return machineKind({
      resources,
      labels: body.map('labels') ?? {},
      costPerHour: body.number('costPerHour', 1),
    });
  } catch (cause) {
    throw new ScriptError(400, cause instanceof Error ? cause.message : String(cause));
  }
};

const statusNamed = (body: RequestFields): Status | undefined => {
  if (!body.has('status')) return undefined;
  const name = body.oneOf('status', [
    'OK',
    'INVALID_ARGUMENT',
    'PERMISSION_DENIED',
    'RESOURCE_EXHAUSTED',
    'UNIMPLEMENTED',
    'INTERNAL',
    'UNAVAILABLE',
  ]);
  return STATUS[name];
};

const listedMachines = (script: Script, query: URLSearchParams): readonly unknown[] => {
  const cluster = query.get('cluster');
  const state = query.get('state');
  const limit = Number(query.get('limit') ?? MACHINES_LISTED_MAX);
  const listed: unknown[] = [];
  for (const machine of script.shard.inventory.values()) {
    if (listed.length >= limit) break;
    if (cluster !== null && machine.cluster !== cluster) continue;
    if (state !== null && machine.state !== state) continue;
    listed.push(machineView(machine));
  }
  return listed;
};

const sendFrame = (script: Script, body: RequestFields): unknown => {
  const cluster = body.text('cluster');
  if (body.has('odd')) script.sendOdd(cluster, body.oneOf('odd', ODD_FRAMES));
  else if (body.has('hex')) {
    script.sendBytes(cluster, new Uint8Array(Buffer.from(body.text('hex'), 'hex')));
  } else script.sendJson(cluster, jsonOf(body, 'frame'));
  return {};
};

const TIMES = [
  'cycleMs',
  'helloMs',
  'rollupMs',
  'bootstrapMs',
  'bootstrapPauseMs',
  'creationMs',
  'joiningMs',
  'drainingMs',
  'deletionMs',
] as const satisfies readonly (keyof FleetTiming)[];

const setTiming = (script: Script, body: RequestFields): unknown =>
  script.setTiming(
    Object.fromEntries(
      TIMES.filter((name) => body.has(name)).map((name) => [
        name,
        body.number(name),
      ]),
    ),
  );

const setFaults = ({ shard: { rollups }, admission }: Script, body: RequestFields): unknown => {
  rollups.faults.rejectNext = body.number('rejectNextRollups', rollups.faults.rejectNext);
  rollups.faults.acks = body.flag('ackRollups', rollups.faults.acks);
  admission.refuse = body.flag('refuseSessions', admission.refuse);
  return {
    rejectNextRollups: rollups.faults.rejectNext,
    ackRollups: rollups.faults.acks,
    refuseSessions: admission.refuse,
  };
};

const QUERIES: readonly ScriptRoute[] = [
  {
    method: 'GET',
    path: '/state',
    does: 'Everything at a glance: machines by state, clusters, sessions, faults, timing.',
    answer: (script) => overview(script),
  },
  {
    method: 'GET',
    path: '/machines',
    does: 'Machines; `?cluster=`, `?state=`, `?limit=` (1000).',
    answer: (script, { query }) => ({ machines: listedMachines(script, query) }),
  },
  {
    method: 'GET',
    path: '/machines/*',
    does: 'One machine.',
    answer: (script, { captured }) => machineView(script.machine(captured[0] ?? '')),
  },
  {
    method: 'GET',
    path: '/needs',
    does: 'The demand that counts, as `ShardRead.InspectNeeds` shows it; `?cluster=`, `?limit=`.',
    answer: ({ shard }, { query }) => ({
      frames: inspectNeeds(shard, {
        clusterId: query.get('cluster') ?? '',
        limit: Number(query.get('limit') ?? 0),
      }).map((frame) => toJson(InspectNeedsResponseSchema, frame)),
    }),
  },
  {
    method: 'GET',
    path: '/rollups',
    does: 'The last 1000 roll-ups with their verdicts, and how many there were.',
    answer: ({ shard: { rollups: { records } } }) => ({
      total: records.total(),
      rollups: records.entries(),
    }),
  },
  {
    method: 'GET',
    path: '/bootstraps',
    does: 'Bootstrap pulls: those without an answer, and the last 10,000 answers.',
    answer: ({ shard: { bootstraps } }) => ({
      open: bootstraps.open(),
      total: bootstraps.answered.total(),
      answered: bootstraps.answered.entries(),
    }),
  },
  {
    method: 'GET',
    path: '/reclaims',
    does: 'The last 10,000 reclaims that were sent, and the acks that were read.',
    answer: ({ shard }) => ({ sent: shard.reclaims.entries(), acks: shard.reclaimAcks.entries() }),
  },
];

const ACTIONS: readonly ScriptRoute[] = [
  {
    method: 'POST',
    path: '/machines',
    does: 'Adds machines: `count` (1), `prefix` ("x-"), `state` ("IDLE"), and either `kind` ' +
      '("standard-8") with `zone` ("zone-a") or `resources` with `labels` and `costPerHour`.',
    answer: (script, { body }) => ({
      ids: script.addMachines({
        count: body.number('count', 1),
        prefix: body.text('prefix', 'x-'),
        state: body.oneOf('state', FLEET_MACHINE_STATES, 'IDLE'),
        kind: kindOf(body),
      }),
    }),
  },
  {
    method: 'POST',
    path: '/machines/*/state',
    does: 'Puts a machine into a `state` and holds it there; with `cluster`, `lastError`, ' +
      '`providerId`. A machine that does not exist is made.',
    answer: (script, { captured, body }) =>
      machineView(script.place(captured[0] ?? '', {
        state: body.oneOf('state', FLEET_MACHINE_STATES),
        ...(body.has('cluster') ? { cluster: body.text('cluster') } : {}),
        ...(body.has('lastError') ? { lastError: body.text('lastError') } : {}),
        ...(body.has('providerId') ? { providerId: body.text('providerId') } : {}),
      })),
  },
  {
    method: 'POST',
    path: '/machines/*/repair',
    does: 'Makes a failed or held machine idle and leaves it to the fleet.',
    answer: (script, { captured }) => machineView(script.repair(captured[0] ?? '')),
  },
  {
    method: 'POST',
    path: '/machines/*/release',
    does: 'Sends an idle machine back to the provider: DELETING, then SPECULATIVE.',
    answer: (script, { captured }) => machineView(script.release(captured[0] ?? '')),
  },
  {
    method: 'DELETE',
    path: '/machines/*',
    does: 'Removes a machine without a frame to its cluster.',
    answer: (script, { captured }) => {
      script.forget(captured[0] ?? '');
      return {};
    },
  },
  {
    method: 'POST',
    path: '/mass',
    does: 'Takes `count` machines, named `prefix` ("mass-") and a number, through `states` ' +
      '(CONFIGURING, CONFIGURED, DRAINING) at once, bound to `cluster`; `order` is `state` ' +
      '(all through the first, then the second) or `machine`.',
    answer: (script, { body }) => {
      const states = body.texts('states', ['CONFIGURING', 'CONFIGURED', 'DRAINING']);
      const ids = script.mass({
        cluster: body.text('cluster'),
        count: body.number('count'),
        prefix: body.text('prefix', 'mass-'),
        order: body.oneOf('order', ['state', 'machine'], 'state'),
        states: states.map((state) => {
          const known = FLEET_MACHINE_STATES.find((candidate) => candidate === state);
          if (known === undefined) throw new ScriptError(400, `There is no state "${state}"`);
          return known;
        }),
      });
      return { machines: ids.length, frames: ids.length * states.length };
    },
  },
  {
    method: 'POST',
    path: '/frames',
    does: 'Sends a frame to `cluster`: `frame` (a ShardMessage in JSON), `hex` (any bytes) or ' +
      `\`odd\` (one of ${ODD_FRAMES.join(', ')}).`,
    answer: (script, { body }) => sendFrame(script, body),
  },
  {
    method: 'POST',
    path: '/reclaim',
    does: 'Sends a reclaim of `machine`: `graceSeconds` (600), `preemptorPriority` (0), `node` ' +
      '(what `nodes` holds; the machine id). The operator drains the Node; with `drain` (false) ' +
      'the provider drains the machine as well and takes it back.',
    answer: (script, { body }) =>
      script.reclaim(body.text('machine'), {
        graceSeconds: body.number('graceSeconds', 600),
        preemptorPriority: body.number('preemptorPriority', 0),
        ...(body.has('node') ? { node: body.text('node') } : {}),
      }, body.flag('drain', false)),
  },
  {
    method: 'POST',
    path: '/bootstrap',
    does: 'Asks `cluster` for a bootstrap blob now, with `requirements`; its answer shows in ' +
      '`/bootstraps`.',
    answer: (script, { body }) => ({
      requestId: script.pull(body.text('cluster'), jsonOf(body, 'requirements', [])),
    }),
  },
  {
    method: 'POST',
    path: '/sessions/end',
    does:
      'Ends the session of `cluster` with a gRPC `status` and `message`; without a status the ' +
      'connection breaks without a word.',
    answer: (script, { body }) => {
      script.end(body.text('cluster'), {
        status: statusNamed(body),
        message: body.text('message', ''),
      });
      return {};
    },
  },
  {
    method: 'POST',
    path: '/faults',
    does: 'Injects faults: `rejectNextRollups` (a number), `ackRollups`, `refuseSessions`.',
    answer: (script, { body }) => setFaults(script, body),
  },
  {
    method: 'POST',
    path: '/timing',
    does: `Sets how long things take, in milliseconds: ${TIMES.join(', ')}.`,
    answer: (script, { body }) => setTiming(script, body),
  },
  {
    method: 'POST',
    path: '/cycle',
    does: 'Allocates machines to needs now.',
    answer: ({ shard }) => {
      shard.cycle();
      return { cycle: shard.cycles };
    },
  },
];

/** Every route; the first match wins. */
export const SCRIPT_ROUTES: readonly ScriptRoute[] = [...QUERIES, ...ACTIONS];
