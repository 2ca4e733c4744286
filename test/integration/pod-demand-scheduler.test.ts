/**
 * Pod demand beside the real kube-scheduler: how much, and on which nodes.
 *
 * Each pod gets its own nodes, one of exactly the computed size and one a unit smaller; and is
 * tried on every node of a small cluster, to see which of them accept it.
 */
import { expect, it } from 'vitest';
import { type JsonRecord, listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { NO_DEFAULTS } from '../../src/domain/pod-demand/penalties.ts';
import { projectPodDemand } from '../../src/domain/pod-demand/pod-demand.ts';
import type { RequirementFields } from '../../src/domain/pod-demand/pod-placement.ts';
import { type PodRequestSpec, requestOfPod } from '../../src/domain/pod-demand/pod-request.ts';
import { parseQuantity } from '../../src/domain/quantity.ts';
import type { ResourceMap } from '../../src/domain/resources.ts';
import { clusterClient, COLLECTIONS, nameOf } from '../support/api/cluster-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { resizedPods } from '../support/demand/resized-pods.ts';
import {
  affinityOf,
  labelledNodes,
  type NodeTerms,
  podsThatAsk,
  podsThatChoose,
  sandboxedClass,
} from '../support/demand/scheduler-pods.ts';
import {
  defaultedPod,
  hopefulPod,
  makeNodes,
  scheduledPods,
  type WantedNode,
} from '../support/demand/scheduler-verdicts.ts';
import { PODS as PODS_PATH } from '../support/processes/pods-role.ts';
import { atScale } from '../support/scale.ts';

const SEED = 20_261_121;
const PODS = atScale({ commit: 20, release: 50 });
const NODES = 12;
const RESIZED = atScale({ commit: 12, release: 30 });

const NANOS = 1_000_000_000n;
const MILLIS_PER_NANO = 1_000_000n;

/** As many whole units as the scheduler counts in: thousandths of a CPU, else whole ones. */
const unitsOf = (resource: string, text: string): bigint => {
  const reading = parseQuantity(text);
  if (reading._tag === 'Malformed') throw new Error(`${resource} "${text}" ${reading.problem}`);
  const nanosPerUnit = resource === 'cpu' ? MILLIS_PER_NANO : NANOS;
  return (reading.quantity.nanos + nanosPerUnit - 1n) / nanosPerUnit;
};

const inUnits = (resource: string, units: bigint): string =>
  resource === 'cpu' ? `${units}m` : String(units);

const containersIn = (spec: JsonRecord): readonly unknown[] =>
  listOrEmptyAt(spec, 'initContainers');
const isSidecar = (container: unknown): boolean => textAt(container, 'restartPolicy') === 'Always';

/** What pods of the first test have, so that no part of the arithmetic goes unasked. */
const KINDS: Readonly<Record<string, (spec: JsonRecord) => boolean>> = {
  'init containers': (spec) => containersIn(spec).some((one) => !isSidecar(one)),
  sidecars: (spec) => containersIn(spec).some(isSidecar),
  overhead: (spec) => spec['runtimeClassName'] !== undefined,
  'pod-level resources': (spec) => spec['resources'] !== undefined,
};
const isMany = (count: number): boolean => count >= PODS / 5;

const holds = (
  labels: Readonly<Record<string, string>>,
  { key, operator, values = [] }: RequirementFields,
): boolean => {
  const value = labels[key];
  if (operator === 'Exists') return value !== undefined;
  if (operator === 'DoesNotExist') return value === undefined;
  const isAmong = value !== undefined && values.includes(value);
  return operator === 'In' ? isAmong : !isAmong;
};

/** Whether a machine with these labels satisfies every requirement. */
const satisfies = (
  labels: Readonly<Record<string, string>>,
  requirements: readonly RequirementFields[],
): boolean => requirements.every((one) => holds(labels, one));

/** The computed request. */
const askedBy = (raw: JsonRecord): PodRequestSpec => {
  const pod = projectPodDemand(raw);
  const request = pod && requestOfPod(pod, NO_DEFAULTS);
  if (request === undefined) throw new Error('The pod is no demand');
  expect(request.warnings).toEqual([]);
  return request.spec;
};

/** The room that is left beside a pod, and who tries to get into it. */
const ROOM = { cpu: '1', memory: '1Gi' };
const GUESTS = [
  { name: 'exact', fits: true, requests: ROOM },
  { name: 'cpu', fits: false, requests: { ...ROOM, cpu: '1001m' } },
  { name: 'memory', fits: false, requests: { ...ROOM, memory: '1073741825' } },
] as const;

interface Trial extends WantedNode {
  readonly pod: number;
  /** The resource of which a unit is missing. */
  readonly short: string | undefined;
}

/** A node of exactly this size, and for each resource one that lacks a unit of it. */
const trialsOf = (asked: ResourceMap, pod: number): readonly Trial[] => {
  const size = Object.entries(asked).map(([resource, text]): [string, bigint] => [
    resource,
    unitsOf(resource, text),
  ]);
  const trial = (short: string | undefined, index: number): Trial => ({
    name: `trial-${pod}-${index}`,
    pod,
    short,
    allocatable: {
      pods: '1',
      ...Object.fromEntries(size.map(([resource, units]) => [
        resource,
        inUnits(resource, resource === short ? units - 1n : units),
      ])),
    },
  });
  return [undefined, ...size.map(([resource]) => resource)].map(trial);
};

const outcomeWanted = ({ name, short }: Trial): string =>
  short === undefined ? `on ${name}` : `1 Insufficient ${short}`;

describeWithTestbed('kube-scheduler and the demand of pods', {
  scheduler: true,
}, (bed) => {
  it(
    'a node of exactly the computed size takes the pod and one with a unit less does not, for \
pods from a seed',
    async () => {
      const cluster = await clusterClient(bed());
      await cluster.clear(COLLECTIONS.nodes);
      await bed().apply(JSON.stringify(sandboxedClass));
      const specs = podsThatAsk(PODS, SEED);
      const pods = await Promise.all(
        specs.map((spec) => defaultedPod(cluster, hopefulPod('trial', spec))),
      );
      const trials = pods.flatMap((pod, index) => trialsOf(askedBy(pod).resources, index));
      await makeNodes(cluster, trials);
      const verdicts = await scheduledPods(
        cluster,
        trials.map(({ name, pod }) =>
          hopefulPod(name, { ...specs[pod], nodeSelector: { 'kubernetes.io/hostname': name } })
        ),
      );
      const compared = trials.map((trial) => {
        const verdict = verdicts.get(trial.name);
        const wanted = outcomeWanted(trial);
        const found = verdict?._tag === 'Bound' ? `on ${verdict.node}` : verdict?.why ?? '';
        return { pod: specs[trial.pod], asked: trial.allocatable, wanted, found };
      });
      const wrong = compared.filter(({ wanted, found }) => !found.includes(wanted));
      expect({ seed: SEED, wrong }).toEqual({ seed: SEED, wrong: [] });
      // The seed gives pods of every kind.
      for (const [kind, is] of Object.entries(KINDS)) {
        expect([kind, specs.filter(is).length]).toEqual([kind, expect.toSatisfy(isMany)]);
      }
    },
  );

  it(
    'the nodes whose labels satisfy the requirements are those that the scheduler finds feasible, \
for node selectors and affinity terms from a seed',
    async () => {
      const cluster = await clusterClient(bed());
      await cluster.clear(COLLECTIONS.nodes);
      const nodes = labelledNodes(NODES, SEED).map((labels, index): WantedNode => ({
        name: `node-${index}`,
        labels,
        allocatable: { pods: String(PODS) },
      }));
      await makeNodes(cluster, nodes);
      const terms = podsThatChoose(PODS, SEED);
      const specOf = (
        { nodeSelector, expressions }: NodeTerms,
        matchFields: readonly object[],
      ) => ({
        containers: [{ name: 'main', image: 'image' }],
        nodeSelector,
        ...affinityOf({ matchExpressions: expressions, matchFields }),
      });
      // One pod for each node, which may go nowhere else, as a DaemonSet has them.
      const pins = terms.flatMap((term, pod) =>
        nodes.map(({ name }) =>
          hopefulPod(
            `pod-${pod}-${name}`,
            specOf(term, [{ key: 'metadata.name', operator: 'In', values: [name] }]),
          )
        )
      );
      const verdicts = await scheduledPods(cluster, pins);
      const compared = await Promise.all(terms.map(async (term, pod) => {
        const kept = await defaultedPod(cluster, hopefulPod('pod', specOf(term, [])));
        const { requirements } = askedBy(kept);
        const ours = nodes.filter(({ labels = {} }) => satisfies(labels, requirements));
        const feasible = nodes.filter(({ name }) =>
          verdicts.get(`pod-${pod}-${name}`)?._tag === 'Bound'
        );
        const names = (some: readonly WantedNode[]) => some.map(({ name }) => name);
        return { term, requirements, ours: names(ours), feasible: names(feasible) };
      }));
      const wrong = compared.filter(({ ours, feasible }) => ours.join() !== feasible.join());
      expect({ seed: SEED, wrong }).toEqual({ seed: SEED, wrong: [] });
      // Most of them select nodes.
      expect(compared.filter(({ ours }) => ours.length > 0 && ours.length < NODES).length)
        .toBeGreaterThan(PODS / 2);
    },
  );

  it(
    'a pod that is resized in place takes as much of its node as its request says, for pods \
from a seed',
    async () => {
      const cluster = await clusterClient(bed());
      await cluster.clear(COLLECTIONS.nodes);
      const resized = resizedPods(RESIZED, SEED);
      const rooms = resized.flatMap((pod, index) =>
        GUESTS.map((guest) => ({ name: `room-${index}-${guest.name}`, pod, guest }))
      );
      await cluster.create(
        PODS_PATH,
        rooms.map(({ name, pod }) => hopefulPod(name, { ...pod.spec, nodeName: name })),
      );
      for (const { name, pod } of rooms) {
        await cluster.patch(`${PODS_PATH}/${name}/status`, { status: pod.status });
      }
      const kept = await cluster.list(PODS_PATH);
      const sizes = new Map(kept.map((pod) => [nameOf(pod), askedBy(pod).resources]));
      const differs = kept.filter((pod) => {
        const asked = askedBy({ ...pod, status: {} }).resources;
        return JSON.stringify(asked) !== JSON.stringify(sizes.get(nameOf(pod)));
      });
      // For most of them the pod's requests do not matter.
      expect(differs.length).toBeGreaterThan(rooms.length / 2);
      await makeNodes(
        cluster,
        rooms.map(({ name }) => {
          const { cpu = '0', memory = '0' } = sizes.get(name) ?? {};
          return {
            name,
            allocatable: {
              pods: '2',
              cpu: inUnits('cpu', unitsOf('cpu', cpu) + unitsOf('cpu', ROOM.cpu)),
              memory: String(unitsOf('memory', memory) + unitsOf('memory', ROOM.memory)),
            },
          };
        }),
      );
      const verdicts = await scheduledPods(
        cluster,
        rooms.map(({ name, guest: { requests } }) =>
          hopefulPod(`guest-${name}`, {
            containers: [{ name: 'main', image: 'image', resources: { requests } }],
            nodeSelector: { 'kubernetes.io/hostname': name },
          })
        ),
      );
      const wrong = rooms.filter(({ name, guest }) =>
        verdicts.get(`guest-${name}`)?._tag !== (guest.fits ? 'Bound' : 'Refused')
      );
      expect({ seed: SEED, wrong }).toEqual({ seed: SEED, wrong: [] });
    },
  );
});
