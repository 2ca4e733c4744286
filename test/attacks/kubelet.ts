/** What somebody does who has the rights of a kubelet: writes its own Node, and Events. */
import { CORDON_LIMITS } from '../../src/domain/drain/cordon-limits.ts';
import { type JsonRecord, textAt } from '../../src/domain/json.ts';
import { counter, event, gauge, log, type OwnAttack } from './attack.ts';
import { type AttackSite, each, nodeNamed, PATHS, soon, WORKERS } from './site.ts';

const RECLAIM = 'cordon.tidegate.dev/reclaim';
const PAUSE = 'tidegate.dev/pause';
const MACHINE_LABEL = 'bigfleet.lucy.sh/machine-id';

const texts = (count: number, text: string): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${text}${index}`);

const cordon = (ids: readonly string[], more: JsonRecord = {}): string =>
  JSON.stringify({ v: 1, ids, graceSeconds: 600, since: '2026-01-01T00:00:00Z', ...more });

const annotate = ({ api }: AttackSite, node: string, annotations: JsonRecord): void => {
  api.ask('PATCH', `${PATHS.nodes}/${node}`, { metadata: { annotations } });
};

/** A kubelet annotates its own Node. */
const annotating = (annotations: JsonRecord) => (site: AttackSite): Promise<void> => {
  annotate(site, WORKERS[1], annotations);
  return Promise.resolve();
};

const max = (name: keyof typeof CORDON_LIMITS): string =>
  `\`${name}\`, ${CORDON_LIMITS[name].toLocaleString('en')}`;

const leftAlone = (
  name: string,
  bound: string,
  { problem, annotations }: { readonly problem: string; readonly annotations: JsonRecord },
): OwnAttack => ({
  name,
  bound,
  reports: [
    event('CordonLeftAlone', problem),
    counter('tidegate_cordons_refused_total', { bound: 'annotation' }),
  ],
  play: annotating(annotations),
});

const ANNOTATIONS: readonly OwnAttack[] = [
  leftAlone('A cordon annotation of 250 KB', max('annotationCharacters'), {
    problem: 'characters',
    annotations: { [RECLAIM]: 'x'.repeat(250_000) },
  }),
  leftAlone('An annotation that names 1,000 instructions', max('ids'), {
    problem: 'entries',
    annotations: { [RECLAIM]: cordon(texts(1000, 'i')) },
  }),
  leftAlone('An annotation with an id of 10,000 characters', max('idCharacters'), {
    problem: 'an entry of more than',
    annotations: { [RECLAIM]: cordon(['i'.repeat(10_000)]) },
  }),
  leftAlone('1,500 annotations of owners that nobody is', max('otherOwners'), {
    problem: 'more than 16',
    annotations: Object.fromEntries(
      texts(1500, 'cordon.tidegate.dev/maintenance-').map((key) => [key, cordon(['m'])]),
    ),
  }),
  leftAlone('An annotation of a version to come', 'what is not understood is not changed', {
    problem: 'version',
    annotations: { [RECLAIM]: JSON.stringify({ v: 99, ids: ['i'] }) },
  }),
  leftAlone('An annotation that is no JSON', 'what is not understood is not changed', {
    problem: 'JSON',
    annotations: { [RECLAIM]: '{"v":1,"ids":[' },
  }),
  leftAlone('An annotation with a deadline that is no time', 'what is not understood', {
    problem: 'deadline',
    annotations: { [RECLAIM]: cordon(['i'], { deadline: 'tomorrow' }) },
  }),
];

const FORGED_ID = 'forged-by-a-kubelet';

/** A Node of a machine with a pod that does not leave, which is being drained. */
const drainedNode = async (site: AttackSite): Promise<string> => {
  const { api, shard, number, operator } = site;
  const name = `attack-${number()}`;
  api.ask('POST', PATHS.nodes, nodeNamed(name));
  shard.bind(name);
  api.ask('POST', PATHS.pods, {
    metadata: { name, finalizers: ['example.com/never'] },
    spec: { nodeName: name, containers: [{ name: 'main', image: 'image' }] },
  });
  await soon(
    'the machine to be listed',
    () =>
      api.list(PATHS.upcomingNodes).some((one) =>
        textAt(one, 'status', 'nodeRef', 'name') === name
      ),
  );
  await soon(
    'the pod to be cached',
    async () => await operator.metric('tidegate_watch_objects', { resource: 'pods' }) > 0,
  );
  shard.instruct(`order-${name}`, [name]);
  await soon(
    'the drain to start',
    () => operator.logs().some(({ message, node }) => message === 'Drain started' && node === name),
  );
  return name;
};

const DRAINS: readonly OwnAttack[] = [
  {
    name: 'A forged instruction on its own Node',
    bound: 'acknowledged is only what a session ordered',
    reports: [log('Drain ended', WORKERS[1])],
    play: ({ api }) => {
      api.ask('PATCH', `${PATHS.nodes}/${WORKERS[1]}`, {
        metadata: { annotations: { [RECLAIM]: cordon([FORGED_ID]) } },
        spec: { unschedulable: true },
      });
      return Promise.resolve();
    },
    breach: ({ shard }) =>
      shard.received().some((payload) =>
          payload.case === 'reclaimAck' && payload.value.instructionId === FORGED_ID
        )
        ? 'the forged instruction was acknowledged'
        : undefined,
  },
  {
    name: 'The annotation is removed during a drain',
    bound: 'the drain of this Node only',
    reports: [event('DrainCancelled')],
    play: async (site) => annotate(site, await drainedNode(site), { [RECLAIM]: null }),
  },
  {
    name: 'The Node uncordons itself during a drain',
    bound: 'the drain of this Node only',
    reports: [event('DrainCancelled')],
    play: async (site) => {
      const path = `${PATHS.nodes}/${await drainedNode(site)}`;
      site.api.ask('PATCH', path, { spec: { unschedulable: null } });
    },
  },
  {
    name: 'Another instruction replaces the one of a drain',
    bound: 'acknowledged is only what a session ordered',
    reports: [log('Drain started')],
    play: async (site) => {
      const name = await drainedNode(site);
      annotate(site, name, { [RECLAIM]: cordon([FORGED_ID], { ended: 'Drained' }) });
    },
    breach: ({ shard }) =>
      shard.received().some((payload) =>
          payload.case === 'reclaimAck' && payload.value.instructionId === FORGED_ID
        )
        ? 'the forged instruction was acknowledged'
        : undefined,
  },
  {
    name: 'A pause that is set and removed 500 times during a drain',
    bound: 'work in the number of changes',
    reports: [gauge('tidegate_pod_evictions', 1)],
    play: async (site) => {
      const name = await drainedNode(site);
      await each(
        [...Array(500).keys()],
        (turn) => annotate(site, name, { [PAUSE]: turn % 2 === 0 ? 'true' : null }),
      );
    },
  },
];

const NODES: readonly OwnAttack[] = [
  {
    name: 'A label that claims the machine of another Node',
    bound: 'provider id before label',
    reports: [gauge('tidegate_machines', 1)],
    play: async ({ api, shard, number }) => {
      const name = `attack-${number()}`;
      api.ask('PATCH', `${PATHS.nodes}/${WORKERS[0]}`, {
        metadata: { labels: { [MACHINE_LABEL]: name } },
      });
      api.ask('POST', PATHS.nodes, nodeNamed(name));
      shard.bind(name);
      await soon(
        'the machine to be listed with its own Node',
        () =>
          api.list(PATHS.upcomingNodes).some((one) =>
            textAt(one, 'status', 'nodeRef', 'name') === name
          ),
      );
      api.ask('PATCH', `${PATHS.nodes}/${WORKERS[0]}`, {
        metadata: { labels: { [MACHINE_LABEL]: null } },
      });
    },
  },
  {
    name: 'Two Nodes with one provider id',
    bound: 'neither has the machine',
    reports: [log('Machine has no Node')],
    play: async ({ api, shard, number }) => {
      const name = `attack-${number()}`;
      const spec = { providerID: `attacked://zone/host-${name}` };
      api.ask('POST', PATHS.nodes, nodeNamed(`${name}-a`, { spec }));
      api.ask('POST', PATHS.nodes, nodeNamed(`${name}-b`, { spec }));
      shard.bind(name);
      await soon(
        'the machine to be listed',
        () =>
          api.list(PATHS.upcomingNodes).some((one) => textAt(one, 'status', 'phase') === 'Ready'),
      );
      shard.instruct(`order-${name}`, [name]);
    },
    breach: ({ api }) => {
      const taken = api.list(PATHS.nodes).filter((node) =>
        RECLAIM in Object(Object(node['metadata'])['annotations'])
      ).map((node) => textAt(node, 'metadata', 'name') ?? '').filter((name) =>
        name.startsWith('attack-')
      );
      return taken.length === 0 ? undefined : `drained: ${taken.join()}`;
    },
  },
  {
    name: 'A Node with 3,000 labels, 3,000 annotations and 1,000 taints',
    bound: 'only what is read is kept',
    reports: [gauge('tidegate_watch_objects', 1, { resource: 'nodes' })],
    play: ({ api, number }) => {
      const pairs = Object.fromEntries(texts(3000, 'example.com/k').map((key) => [key, 'v']));
      api.ask('POST', PATHS.nodes, {
        ...nodeNamed(`attack-${number()}`),
        metadata: { name: `attack-${number()}`, labels: pairs, annotations: pairs },
        spec: { taints: texts(1000, 'k').map((key) => ({ key, effect: 'NoSchedule' })) },
      });
      return Promise.resolve();
    },
  },
  {
    name: 'A Node that is Ready and not Ready 2,000 times',
    bound: 'work in the number of changes',
    reports: [gauge('tidegate_watch_objects', 1, { resource: 'nodes' })],
    play: async ({ api, shard, number }) => {
      const name = `attack-${number()}`;
      api.ask('POST', PATHS.nodes, nodeNamed(name));
      shard.bind(name);
      await each([...Array(2000).keys()], (turn) => {
        const condition = { type: 'Ready', status: turn % 2 === 0 ? 'False' : 'True' };
        api.ask('PATCH', `${PATHS.nodes}/${name}/status`, { status: { conditions: [condition] } });
      });
    },
  },
];

export const KUBELET_ATTACKS: readonly OwnAttack[] = [...ANNOTATIONS, ...DRAINS, ...NODES];
