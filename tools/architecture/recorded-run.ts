/**
 * Runs one small simulated cluster and records the three paths of ARCHITECTURE.md.
 *
 * Promises: the same commit gives the same record; the operator is the real one, on simulated time;
 * the operator's own recorder records the actors.
 */
import { fromBinary } from '@bufbuild/protobuf';
import { kindInId } from '../../src/api/actor-board.ts';
import { recordEntry } from '../../src/api/actor-record.ts';
import { OperatorMessageSchema } from '../../src/gen/bigfleet/v1alpha1/shard_pb.ts';
import { MACHINES } from '../../src/machines/index.ts';
import { recordInto } from '../../src/observability/actor-recorder.ts';
import { type Inspector, inspectWith } from '../../src/observability/inspector.ts';
import {
  drainSiteOptions,
  setDrainScene,
  untilEnded,
} from '../../test/simulation/scenarios/drain-scene.ts';
import { untilAcknowledged, untilAll } from '../../test/simulation/scenarios/session-scene.ts';
import { type Harness, openHarness } from '../../test/simulation/scenarios/harness.ts';
import { CLUSTER } from '../../test/simulation/simulated-process.ts';
import { COLLECTIONS, phaseOf } from '../../test/support/api/cluster-connection.ts';
import { wantedMachine } from '../../test/support/demand/wanted-capacity.ts';
import { deployment, DRAIN_COLLECTIONS } from '../../test/support/drains/workloads.ts';
import type { Call, CallTrace, Exchange } from './call-trace.ts';
import { traceActors } from './traced-actors.ts';

/** What happened between a trigger and its outcome. */
export interface RecordedPath {
  readonly calls: readonly Call[];
  /** The state that each event of an actor led to, by the number of its call. */
  readonly states: ReadonlyMap<number, string>;
}

/** The paths, by the names that ARCHITECTURE.md has for them. */
export type RecordedRun = Readonly<Record<'reclaim' | 'machine' | 'demand', RecordedPath>>;

const SEED = 11;
const GRACE_SECONDS = 600;
/** Longer than anything is on its way. */
const CALM_MS = 2000;
const KINDS: ReadonlySet<string> = new Set(Object.keys(MACHINES));
/** Recordings are flushed on close: a timer would start its own turn. */
const NO_TIMER = { now: () => 0, schedule: () => () => {} };

/** `ReclaimAck`, `Rollup`. */
const frameName = (frame: Uint8Array): string => {
  const name = fromBinary(OperatorMessageSchema, frame).payload.case ?? 'frame';
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
};

/** `PATCH nodes/{name}`, `POST pods/{name}/eviction`. */
const requestName = (method: string, path: string): string => {
  const [, api = '', ...rest] = path.split('/');
  const parts = rest.slice(api === 'api' ? 1 : 2);
  const [resource = '', name, ...below] = parts[0] === 'namespaces' ? parts.slice(2) : parts;
  return [`${method} ${resource}`, ...(name === undefined ? [] : ['{name}']), ...below].join('/');
};

/** The recorded states of actors, by the calls that led there. */
const recordStates = (trace: CallTrace) => {
  const lines: string[] = [];
  const steps: Call[] = [];
  const { observe, close } = recordInto(
    {
      put: (line) => void lines.push(line),
      flush: () => {},
      waitingBytes: () => 0,
      close: () => Promise.resolve(),
    },
    { title: 'architecture', time: NO_TIMER, kinds: KINDS },
  );
  const isStep = (call: Call, actor: string): boolean =>
    typeof call.what === 'object' && 'actor' in call.what && call.what.actor === actor;
  const onSnapshot: Inspector = (seen) => {
    if (!KINDS.has(kindInId(seen.id))) return;
    let call = trace.current();
    while (call !== undefined && !isStep(call, seen.id)) call = call.before;
    if (call === undefined) throw new Error(`No event is traced for a snapshot of "${seen.id}"`);
    steps.push(call);
    observe(seen);
  };
  return {
    inspect: inspectWith(() => {}, [onSnapshot]),
    states: async (): Promise<ReadonlyMap<number, string>> => {
      await close();
      const entries = lines.map(recordEntry).flatMap((entry) =>
        entry._tag === 'Line' ? [entry.line] : []
      );
      return new Map(steps.map(({ number }, at) => [number, entries[at]?.state ?? '']));
    },
  };
};

/** Runs one trigger to its outcome; returns all calls in between. */
const between = async (
  { harness, trace }: { readonly harness: Harness; readonly trace: CallTrace },
  trigger: () => void,
  outcome: () => Promise<unknown>,
): Promise<readonly Call[]> => {
  await harness.wait(CALM_MS);
  trace.drain();
  trigger();
  await outcome();
  await harness.wait(CALM_MS);
  return trace.drain();
};

const openCluster = async (
  trace: CallTrace,
  inspect: ReturnType<typeof recordStates>['inspect'],
) => {
  const harness = openHarness(drainSiteOptions(SEED));
  const add = (direction: Exchange['direction'], peer: string, message: string): void =>
    void trace.exchange({ direction, peer, message });
  harness.state.invariants.push({
    leaves: ({ call }) => add('out', 'API server', requestName(call.method, call.path)),
    arrives: (_process, path) => add('in', 'API server', requestName('watch', path)),
    frame: (_process, frame) => add('out', 'shard', frameName(frame)),
    inspection: (_process, event) => inspect(event),
  });
  const scene = await setDrainScene(harness, {
    machines: { count: 1, prefix: 'node-' },
    objects: () => [[DRAIN_COLLECTIONS.deployments, [deployment('web', 1)]]],
    pods: 1,
    spares: { count: 1 },
  });
  return { harness, trace, machines: scene.machines };
};

/** Runs and records. The trace must have been installed before this file was loaded. */
export const recordRun = async (trace: CallTrace): Promise<RecordedRun> => {
  traceActors(trace);
  const { inspect, states } = recordStates(trace);
  const cluster = await openCluster(trace, inspect);
  const { harness, machines } = cluster;
  const { script } = harness.site;
  const demand = await between(
    cluster,
    () => harness.create(COLLECTIONS.requests, [wantedMachine('wanted')]),
    () => untilAcknowledged(harness, 1),
  );
  const machine = await between(
    cluster,
    () => void script.place('coming', { state: 'CONFIGURING', cluster: CLUSTER }),
    () =>
      untilAll(harness, COLLECTIONS.upcomingNodes, {
        what: 'both machines are shown',
        count: 2,
        each: (one) => phaseOf(one) !== '',
      }),
  );
  const reclaim = await between(
    cluster,
    () => machines.forEach((id) => void script.reclaim(id, { graceSeconds: GRACE_SECONDS }, false)),
    () => untilEnded(harness, machines),
  );
  for (const process of harness.processes.all()) process.crash();
  await harness.site.stop();
  if (harness.state.breach() !== undefined) throw new Error('The recorded run broke an invariant');
  const known = await states();
  const recorded = (calls: readonly Call[]): RecordedPath => ({ calls, states: known });
  return { demand: recorded(demand), machine: recorded(machine), reclaim: recorded(reclaim) };
};
