/** What a shard sends that means harm, or that has a bug: frames over a valid mTLS session. */
import { MachineState } from '../../src/gen/bigfleet/v1alpha1/provider_pb.ts';
import { textAt, valueAt } from '../../src/domain/json.ts';
import { SHARD_LIMITS } from '../../src/domain/shard-limits.ts';
import { ODD_FRAMES, oddFrame } from '../../packages/stand-in-fleet/src/odd-frames.ts';
import { counter, event, log, type OwnAttack, reply } from './attack.ts';
import { machineFrame, reclaimFrame } from './hostile-shard.ts';
import {
  type AttackSite,
  CONTROL_PLANE,
  each,
  nodeNamed,
  PATHS,
  SECRET,
  soon,
  WORKERS,
} from './site.ts';

const MIB = 1024 * 1024;
const UNAVAILABLE = 14;

const limit = (name: keyof typeof SHARD_LIMITS): string =>
  `\`${name}\`, ${SHARD_LIMITS[name].max.toLocaleString('en')}`;

const reached = (name: keyof typeof SHARD_LIMITS) =>
  counter('tidegate_shard_limits_reached_total', { limit: name });

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Sends and is done. */
const sending = (send: (site: AttackSite, id: string) => void) => (site: AttackSite) => {
  send(site, `attack-${site.number()}`);
  return Promise.resolve();
};

/** Waits until the operator shows this many machines as Ready. */
const untilReady = ({ api }: AttackSite, ids: readonly string[]): Promise<true> =>
  soon('the machines to be listed', () => {
    const ready = new Set(
      api.list(PATHS.upcomingNodes)
        .filter((one) => textAt(one, 'status', 'phase') === 'Ready')
        .map((one) => textAt(one, 'metadata', 'name')),
    );
    return ids.every((id) => ready.has(`un-${id}`)) || undefined;
  });

/** Nodes with machines of the shard. */
const joinMachines = async (site: AttackSite, count: number): Promise<readonly string[]> => {
  const first = site.number();
  const ids = times(count, (index) => `attack-${first}-${index}`);
  for (const id of ids) {
    site.api.ask('POST', PATHS.nodes, nodeNamed(id));
    site.shard.bind(id);
  }
  await untilReady(site, ids);
  return ids;
};

const isCordoned = ({ api }: AttackSite, name: string): boolean =>
  valueAt(api.ask('GET', `${PATHS.nodes}/${name}`), 'spec', 'unschedulable') === true;

/** None of our own Nodes may be touched. */
const ownNodesCordoned = (site: AttackSite): string | undefined => {
  const taken = [CONTROL_PLANE, ...WORKERS].filter((name) => isCordoned(site, name));
  return taken.length === 0 ? undefined : `cordoned: ${taken.join()}`;
};

const FRAMES: readonly OwnAttack[] = [
  {
    name: 'Every kind of malformed frame',
    bound: 'a frame costs itself only',
    reports: [log('Frame ignored'), log('Unknown ack ignored')],
    play: sending(({ shard }) => {
      for (const kind of ODD_FRAMES) shard.sendBytes(oddFrame(kind));
    }),
  },
  {
    name: 'Random bytes as 500 frames',
    bound: 'a frame costs itself only',
    reports: [log('Frame ignored')],
    play: sending(({ shard }) => {
      for (const seed of times(500, (index) => index)) {
        shard.sendBytes(
          Uint8Array.from({ length: 200 }, (_, index) => (seed * 31 + index * 17) & 255),
        );
      }
    }),
  },
  {
    name: 'A frame of 4 MiB',
    bound: limit('frame_bytes'),
    reports: [reached('frame_bytes')],
    play: sending(({ shard }) => shard.sendBytes(new Uint8Array(4 * MIB).fill(0x12))),
  },
  {
    name: 'A machine with labels of 100 KB',
    bound: limit('machine_bytes'),
    reports: [reached('machine_bytes')],
    play: sending(({ shard }, id) =>
      shard.send(machineFrame(id, { labels: { blob: 'x'.repeat(100_000) } }))
    ),
  },
  {
    name: 'A machine id of 100,000 characters',
    bound: limit('id_length'),
    reports: [reached('id_length')],
    play: sending(({ shard }, id) => shard.send(machineFrame(id.padEnd(100_000, 'x')))),
  },
  {
    name: 'A provider id of 10,000 characters',
    bound: limit('provider_id_length'),
    reports: [reached('provider_id_length')],
    play: sending(({ shard }, id) =>
      shard.send(machineFrame(id, { providerId: 'p'.repeat(10_000) }))
    ),
  },
  {
    name: '10,000 states of ten machines',
    bound: 'the newest state of a machine counts',
    reports: [counter('tidegate_session_frames_total', { frame: 'MachineObserved' })],
    play: async ({ shard, number }) => {
      const states = [MachineState.CONFIGURED, MachineState.CONFIGURING, MachineState.FAILED];
      const id = `attack-${number()}`;
      await each(times(10_000, (at) => at), (index) => {
        const state = states[index % states.length] ?? MachineState.FAILED;
        shard.send(machineFrame(`${id}-${index % 10}`, { state }));
      });
    },
  },
  {
    name: '50,000 acknowledgements that nobody waits for',
    bound: 'an ack belongs to one roll-up',
    reports: [counter('tidegate_session_frames_total', { frame: 'Acknowledged' })],
    play: sending(({ shard }) => shard.send({ case: 'ack', value: { echo: 'rollup' } }, 50_000)),
  },
  {
    name: 'Labels and taints that no Node may have, and an error of 200 KB',
    bound: 'fields that Kubernetes refuses are left out',
    reports: [event('FieldsLeftOut')],
    play: async (site) => {
      const id = `attack-${site.number()}`;
      site.shard.bind(id, {
        labels: { 'not a key!': 'x', 'ok': 'v'.repeat(500) },
        taints: [{ key: '../..', value: '\n', effect: 'Explode' }],
        resources: { resources: { cpu: 'many', memory: '1Gi' } },
        lastError: '\u001b[2J'.repeat(50_000),
      });
      await untilReady(site, [id]);
    },
  },
  {
    name: '12,000 profiles of free capacity, a third of them nonsense',
    bound: '10,000 profiles',
    reports: [log('Frame ignored', 'AvailableCapacityUpdate')],
    play: async ({ shard, number }) => {
      const id = number();
      await each(times(12_000, (at) => at), (index) => {
        shard.send({
          case: 'availableCapacity',
          value: {
            supersedesKey: `available:${id}-${index}`,
            availableCount: index % 3 === 0 ? -1 : 1,
            costPerHour: index % 3 === 1 ? Number.NaN : 1,
          },
        });
      });
    },
  },
];

const RECLAIMS: readonly OwnAttack[] = [
  {
    name: 'An instruction for every Node of the cluster, by name',
    bound: 'only Nodes of a machine that was listed',
    reports: [
      event('ReclaimRefused'),
      counter('tidegate_reclaims_refused_total', { reason: 'NoMachine' }),
    ],
    play: sending(({ shard }, id) => shard.send(reclaimFrame(id, [...WORKERS]))),
    breach: ownNodesCordoned,
  },
  {
    name: 'The control plane, as the Node of a machine',
    bound: '`--reclaimable-node-selector`',
    reports: [
      event('ReclaimRefused', '--reclaimable-node-selector'),
      counter('tidegate_reclaims_refused_total', { reason: 'NotSelected' }),
    ],
    play: async (site) => {
      const id = `attack-${site.number()}`;
      site.shard.bind(id, { providerId: `host-${CONTROL_PLANE}` });
      await soon(
        'the machine to be listed',
        () =>
          site.api.list(PATHS.upcomingNodes).some((one) =>
            textAt(one, 'status', 'nodeRef', 'name') === CONTROL_PLANE
          ),
      );
      site.shard.send(reclaimFrame(`take-${id}`, [id, CONTROL_PLANE]));
    },
    breach: ownNodesCordoned,
  },
  {
    name: 'A machine whose provider id is only the name of a Node',
    bound: 'a name claims nothing',
    reports: [log('Reclaim refused')],
    play: async (site) => {
      const id = `attack-${site.number()}`;
      site.shard.bind(id, { providerId: WORKERS[0] });
      await untilReady(site, [id]);
      site.shard.send(reclaimFrame(`take-${id}`, [WORKERS[0]]));
    },
    breach: ownNodesCordoned,
  },
  {
    name: 'An instruction with 2,000 machines',
    bound: limit('instruction_machines'),
    reports: [reached('instruction_machines'), log('Machines of a ReclaimInstruction left out')],
    play: sending(({ shard }, id) =>
      shard.send(reclaimFrame(id, times(2000, (index) => `${id}-${index}`)))
    ),
  },
  {
    name: 'Hundred instructions for one Node',
    bound: limit('node_instructions'),
    reports: [
      counter('tidegate_reclaims_refused_total', { reason: 'TooManyInstructions' }),
      reached('node_instructions'),
    ],
    play: async (site) => {
      const [id = ''] = await joinMachines(site, 1);
      site.api.ask('POST', PATHS.pods, {
        metadata: { name: id, finalizers: ['example.com/never'] },
        spec: { nodeName: id, containers: [{ name: 'main', image: 'image' }] },
      });
      await soon(
        'the pod to be cached',
        async () => await site.operator.metric('tidegate_watch_objects', { resource: 'pods' }) >= 1,
      );
      for (const order of times(100, (index) => `order-${id}-${index}`)) {
        site.shard.send(reclaimFrame(order, [id]));
      }
    },
  },
  {
    name: 'A repeated instruction that names another machine',
    bound: 'an instruction is what its first frame says',
    reports: [counter('tidegate_reclaim_instructions_changed_total'), event('InstructionChanged')],
    play: async (site) => {
      const [first = '', second = ''] = await joinMachines(site, 2);
      site.shard.send(reclaimFrame(`order-${first}`, [first]));
      await soon('the first Node to be cordoned', () => isCordoned(site, first));
      site.shard.send(reclaimFrame(`order-${first}`, [second]));
    },
  },
  {
    name: 'A grace of 10¹² seconds',
    bound: 'the maximum grace',
    reports: [event('GraceClamped')],
    play: async (site) => {
      const [id = ''] = await joinMachines(site, 1);
      site.shard.send(reclaimFrame(`order-${id}`, [id], 1_000_000_000_000n));
    },
  },
  {
    name: 'An instruction id with line feeds, quotes and terminal escapes',
    bound: 'messages quote names',
    reports: [log('ReclaimInstruction received', '\\n{')],
    play: sending(({ shard }, id) =>
      shard.send(reclaimFrame(`${id}\n{"level":"error"}\u001b[2J"`, [id]))
    ),
  },
];

const pull = (requestId: string, more: object = {}) => ({
  case: 'bootstrapRequest' as const,
  value: { requestId, clusterId: 'attacked', ...more },
});

const requirements = (count: number, key = 'zone') =>
  times(count, () => ({ key, operator: 1, values: ['a'] }));

const PULLS: readonly OwnAttack[] = [
  {
    name: 'A bootstrap pull with 5,000 requirements',
    bound: limit('bootstrap_requirements'),
    reports: [reached('bootstrap_requirements'), reply('bootstrap_requirements')],
    play: sending(({ shard }, id) => shard.send(pull(id, { requirements: requirements(5000) }))),
  },
  {
    name: 'A bootstrap pull for another cluster',
    bound: 'user data of this cluster only',
    reports: [reply('This is cluster'), log('Bootstrap pull answered with an error')],
    play: sending(({ shard }, id) => shard.send(pull(id, { clusterId: 'other' }))),
  },
  {
    name: 'A pull that makes the template fail beside its secret',
    bound: 'errors carry line, column and reason',
    reports: [reply('error'), log('Bootstrap pull answered with an error')],
    play: sending(({ shard }, id) =>
      shard.send(pull(id, { requirements: requirements(1, 'attack/fail') }))
    ),
    breach: ({ shard }) =>
      shard.received().some((payload) =>
          payload.case === 'bootstrapResponse' && payload.value.error.includes(SECRET)
        )
        ? 'the error quotes the template'
        : undefined,
  },
  {
    name: '3,000 bootstrap pulls whose answers are not read',
    bound: '256 replies',
    reports: [
      counter('tidegate_bootstrap_pulls_total', { outcome: 'dropped' }),
      counter('bigfleet_operator_outbox_dropped_total'),
    ],
    play: async ({ shard, operator, number }) => {
      const id = number();
      shard.read(false);
      const value = 'v'.repeat(4000);
      const asked = [{ key: 'zone', operator: 1, values: [value] }];
      await each(times(3000, (at) => at), (index) => {
        shard.send(pull(`${id}-${index}`, { requirements: asked }));
      });
      await soon(
        'replies to be dropped',
        async () => await operator.metric('bigfleet_operator_outbox_dropped_total') > 0,
      );
      shard.read(true);
    },
  },
];

const SESSIONS: readonly OwnAttack[] = [
  {
    name: 'Roll-ups that are never acknowledged',
    bound: 'three intervals',
    reports: [log('Roll-up not acknowledged'), counter('tidegate_session_endings_total')],
    play: async ({ shard, operator }) => {
      const before = await operator.metric('tidegate_session_endings_total');
      shard.acknowledge(false);
      await soon(
        'the session to be given up',
        async () => await operator.metric('tidegate_session_endings_total') > before,
      );
      shard.acknowledge(true);
    },
  },
  {
    name: 'Sessions that end with a message of 4 KB',
    bound: 'backoff',
    reports: [
      log('Session ended'),
      counter('bigfleet_operator_session_reconnects_total'),
    ],
    play: async ({ shard, operator }) => {
      const before = await operator.metric('bigfleet_operator_session_reconnects_total');
      shard.end(UNAVAILABLE, 'x\u001b[2J'.repeat(800));
      await soon(
        'the operator to dial again',
        async () => await operator.metric('bigfleet_operator_session_reconnects_total') > before,
      );
    },
  },
];

export const SHARD_ATTACKS: readonly OwnAttack[] = [
  ...FRAMES,
  ...RECLAIMS,
  ...PULLS,
  ...SESSIONS,
];
