/** NodeMaintenances on a real API server: their schema, and what their policies let users do. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { type JsonRecord, textAt, valueAt } from '../../src/domain/json.ts';
import {
  effectivePlan,
  planEntriesOf,
  planEntryBody,
} from '../../src/domain/node-maintenance/drain-plan.ts';
import { maintenancePreview, previewBody } from '../../src/domain/node-maintenance/preview.ts';
import { POD_TYPES } from '../../src/domain/node-maintenance/typed-pods.ts';
import { clusterClient } from '../support/api/cluster-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { budgetOf, podOf } from '../support/drains/drain-facts.ts';
import {
  enforceMaintenancePolicies,
  maintenanceOf,
  MAINTENANCES,
  ofNode,
  OWN_NODE,
  policyScene,
  USERS,
} from '../support/node-maintenance/maintenance-policies.ts';

const NAME = 'os-upgrade';
const { controller, admin, owner, tenant } = USERS;

const selectorOf = (...nodeSelectorTerms: readonly JsonRecord[]): JsonRecord => ({
  nodeSelector: { nodeSelectorTerms },
});

const labelTerm = (operator: string, values?: readonly string[]): JsonRecord => ({
  matchExpressions: [{ key: 'pool', operator, ...(values === undefined ? {} : { values }) }],
});

const entry = (podPriority: number, podType?: string, app?: string): JsonRecord => ({
  podPriority,
  ...(podType === undefined ? {} : { podType }),
  ...(app === undefined ? {} : { podSelector: { matchLabels: { app } } }),
});

const STAGES = ['Idle', 'Cordon', 'Drain', 'Complete'];

describeWithTestbed('NodeMaintenances on a real API server', {}, (bed) => {
  beforeAll(async () => {
    await bed().installCrds();
    await enforceMaintenancePolicies(bed());
  });

  const schema = async () => {
    const cluster = await clusterClient(bed());
    await cluster.clear(MAINTENANCES);
    const answer = async (call: ReturnType<typeof cluster.call>): Promise<string> => {
      const { status, body } = await call;
      return status < 300 ? '' : textAt(body, 'message') ?? `${status}`;
    };
    return {
      create: (spec?: JsonRecord) =>
        answer(cluster.call('POST', MAINTENANCES, maintenanceOf(NAME, spec))),
      change: (spec: JsonRecord) =>
        answer(cluster.call('PATCH', `${MAINTENANCES}/${NAME}`, { spec })),
      setStatus: (status: JsonRecord) =>
        answer(cluster.call('PATCH', `${MAINTENANCES}/${NAME}/status`, { status })),
      remove: () => answer(cluster.call('DELETE', `${MAINTENANCES}/${NAME}`)),
      read: async (): Promise<JsonRecord> =>
        (await cluster.call('GET', `${MAINTENANCES}/${NAME}`)).body,
    };
  };

  it('NM-01: the default stage is Idle', async () => {
    const { create, read } = await schema();
    expect(await create()).toBe('');
    expect(valueAt(await read(), 'spec', 'stage')).toBe('Idle');
    expect(valueAt(await read(), 'spec', 'releaseWhen')).toBe('Done');
  });

  it('NM-02: a maintenance may be created in any stage', async () => {
    for (const stage of STAGES) {
      const { create } = await schema();
      expect(await create({ stage })).toBe('');
    }
    const { create } = await schema();
    expect(await create({ stage: 'Paused' })).toContain('spec.stage: Unsupported value');
  });

  it('NM-03: stages go forward only', async () => {
    for (const [index, stage] of STAGES.entries()) {
      for (const [to, next] of STAGES.entries()) {
        const { create, change } = await schema();
        await create({ stage });
        const refusal = await change({ stage: next });
        if (to >= index) expect(refusal).toBe('');
        else expect(refusal, `${stage} to ${next}`).toContain('stages go forward only');
      }
    }
  });

  it('NM-09: a maintenance that is being deleted may be completed', async () => {
    const { create, change, remove, read } = await schema();
    const cluster = await clusterClient(bed());
    await create({ stage: 'Drain' });
    const path = `${MAINTENANCES}/${NAME}`;
    const finalizers = ['lifecycle.tidegate.dev/maintenance-completion'];
    await cluster.call('PATCH', path, { metadata: { finalizers } });
    expect(await remove()).toBe('');
    expect(await change({ stage: 'Complete' })).toBe('');
    expect(valueAt(await read(), 'metadata', 'deletionTimestamp')).toBeDefined();
    await cluster.call('PATCH', path, { metadata: { finalizers: [] } });
    expect(textAt(await read(), 'reason')).toBe('NotFound');
  });

  it('NM-12: a maintenance has a selector with a term', async () => {
    const { create } = await schema();
    expect(await create({ nodeSelector: null })).toContain('spec.nodeSelector: Required value');
    expect(await create({ nodeSelector: {} })).toContain('nodeSelectorTerms: Required value');
    expect(await create(selectorOf())).toContain('at least 1 items');
    expect(await create(selectorOf({}))).toBe('');
  });

  it.each([
    ['In without values', labelTerm('In'), 'In and NotIn need values'],
    ['Exists with values', labelTerm('Exists', ['a']), 'Exists and DoesNotExist take none'],
    ['Gt with two values', labelTerm('Gt', ['1', '2']), 'Gt and Lt one integer'],
    ['Lt with a text', labelTerm('Lt', ['one']), 'Gt and Lt one integer'],
    ['an unknown operator', labelTerm('Like', ['a']), 'Unsupported value'],
    [
      'a field that is not the name',
      { matchFields: [{ key: 'spec.podCIDR', operator: 'In', values: ['x'] }] },
      'matchFields has conditions on metadata.name only',
    ],
    [
      'two names in one condition',
      { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a', 'b'] }] },
      'with one value',
    ],
  ])('refuses a node selector with %s', async (_, term, problem) => {
    const { create } = await schema();
    expect(await create(selectorOf(term))).toContain(problem);
  });

  it('accepts every operator of node selectors', async () => {
    const { create } = await schema();
    const terms = [
      labelTerm('In', ['a']),
      labelTerm('NotIn', ['a']),
      labelTerm('Exists'),
      labelTerm('DoesNotExist'),
      labelTerm('Gt', ['-1']),
      labelTerm('Lt', ['9']),
    ];
    expect(await create(selectorOf(...terms))).toBe('');
  });

  it('NM-12: the selector changes while the stage is Idle, and not after', async () => {
    const { create, change } = await schema();
    await create();
    expect(await change(selectorOf(ofNode('other')))).toBe('');
    expect(await change({ stage: 'Cordon' })).toBe('');
    expect(await change(selectorOf(ofNode('third')))).toContain('nodeSelector is immutable');
  });

  it('NM-21: a plan is ordered by type, priority and selector', async () => {
    const plans: readonly (readonly [readonly JsonRecord[], boolean])[] = [
      [[entry(1), entry(2), entry(1, 'DaemonSet'), entry(0, 'Static')], true],
      [[entry(-2), entry(-1), entry(2 ** 31 - 1), entry(-(2 ** 31), 'DaemonSet')], true],
      [[entry(5, 'Default', 'a'), entry(5, 'Default', 'b'), entry(5)], true],
      [[entry(2), entry(1)], false],
      [[entry(1, 'DaemonSet'), entry(2, 'Default')], false],
      [[entry(2 ** 31 - 1, 'Static'), entry(-(2 ** 31), 'DaemonSet')], false],
      [[entry(5), entry(5, 'Default', 'a')], false],
    ];
    for (const [drainPlan, isOrdered] of plans) {
      const { create } = await schema();
      const refusal = await create({ drainPlan });
      if (isOrdered) expect(refusal, JSON.stringify(drainPlan)).toBe('');
      else expect(refusal, JSON.stringify(drainPlan)).toContain('entries must be ordered');
    }
  });

  it('NM-22: a plan has no entry twice', async () => {
    const { create } = await schema();
    expect(await create({ drainPlan: [entry(5), entry(5)] })).toContain('an entry twice');
    const twice = entry(5, 'Default', 'a');
    expect(await create({ drainPlan: [twice, twice] })).toContain('an entry twice');
    expect(await create({ drainPlan: [twice, entry(5, 'Default', 'b')] })).toBe('');
  });

  it('NM-22: an empty selector of pods is refused', async () => {
    const { create } = await schema();
    expect(await create({ drainPlan: [{ podPriority: 1, podSelector: {} }] }))
      .toContain('an empty podSelector selects every pod');
    expect(await create({ podSelector: {} })).toContain('an empty podSelector selects every pod');
  });

  it('NM-23: the plan, the pods that leave and their grace are immutable', async () => {
    const { create, change } = await schema();
    const podSelector = { matchLabels: { app: 'web' } };
    await create({
      drainPlan: [entry(5)],
      podTypes: ['Default'],
      podSelector,
      gracePeriodSeconds: 5,
    });
    expect(await change({ drainPlan: [entry(6)] })).toContain('drainPlan is immutable');
    expect(await change({ drainPlan: null })).toContain('drainPlan is immutable');
    expect(await change({ podTypes: ['Static'] })).toContain('podTypes is immutable');
    expect(await change({ podSelector: { matchLabels: { app: 'db' } } }))
      .toContain('podSelector is immutable');
    expect(await change({ podSelector: null })).toContain('podSelector is immutable');
    expect(await change({ gracePeriodSeconds: 1 })).toContain('gracePeriodSeconds is immutable');
    expect(await change({ reason: 'changed' })).toBe('');
    const without = await schema();
    await without.create();
    expect(await without.change({ drainPlan: [entry(5)] })).toContain('drainPlan is immutable');
    expect(await without.change({ podSelector })).toContain('podSelector is immutable');
  });

  it('NM-24: the stored plan stays as it was written', async () => {
    const { create, read } = await schema();
    await create({ drainPlan: [{ podPriority: 5 }] });
    expect(valueAt(await read(), 'spec', 'drainPlan'))
      .toEqual([{ podPriority: 5, podType: 'Default' }]);
  });

  it('releaseWhen is immutable once nodes are worked on', async () => {
    const { create, change } = await schema();
    expect(await create({ maxNodesAtOnce: 1 })).toBe('');
    expect(await change({ releaseWhen: 'Drained' })).toBe('');
    expect(await change({ stage: 'Drain' })).toBe('');
    expect(await change({ releaseWhen: 'Done' })).toContain('releaseWhen is immutable');
    expect(await change({ maxNodesAtOnce: 2 })).toBe('');
  });

  it('a plan has at most 32 entries', async () => {
    const plan = (count: number) => Array.from({ length: count }, (_, index) => entry(index));
    const { create } = await schema();
    expect(await create({ drainPlan: plan(33) })).toContain('at most 32 items');
    expect(await create({ drainPlan: plan(32) })).toBe('');
  });

  it.each([
    ['maxNodesAtOnce', { maxNodesAtOnce: 0 }, 'must be at least 1'],
    ['maxNodesAtOnce', { maxNodesAtOnce: '0%' }, 'should match'],
    ['maxNodesAtOnce', { maxNodesAtOnce: '101%' }, 'should match'],
    ['maxNodesAtOnce', { maxNodesAtOnce: '3' }, 'should match'],
    ['topologyKey', { topologyKey: 'zone' }, 'topologyKey needs maxNodesAtOnce'],
    ['releaseWhen', { releaseWhen: 'Never' }, 'Unsupported value'],
    ['podTypes', { podTypes: [] }, 'at least 1 items'],
    ['gracePeriodSeconds', { gracePeriodSeconds: 0 }, 'greater than or equal to 1'],
    ['podTypes', { podTypes: ['Default', 'Default'] }, 'Duplicate value'],
    ['window', { window: { schedule: '* * * * *' } }, 'durationMinutes: Required value'],
    ['window', { window: { schedule: '* * * * *', durationMinutes: 0 } }, 'durationMinutes'],
    ['window', { window: { schedule: '@daily', durationMinutes: 9 } }, 'should match'],
    ['window', { window: { schedule: '0 * * * * *', durationMinutes: 9 } }, 'should match'],
  ])('refuses %s: %j', async (_, spec, problem) => {
    const { create } = await schema();
    expect(await create(spec)).toContain(problem);
  });

  it('accepts a budget of nodes and a window', async () => {
    const { create, change, read } = await schema();
    const window = { schedule: '0 2 * * 6', durationMinutes: 240 };
    expect(await create({ maxNodesAtOnce: '25%', topologyKey: 'zone', window })).toBe('');
    expect(valueAt(await read(), 'spec', 'window')).toEqual({ ...window, timeZone: 'UTC' });
    expect(await change({ maxNodesAtOnce: 3 })).toBe('');
  });

  it('shows stage, drain, nodes and reason to kubectl', async () => {
    const { create, setStatus } = await schema();
    await create({ stage: 'Drain', reason: 'OS upgrade' });
    expect(await setStatus({ progress: '3/12' })).toBe('');
    const { stdout } = await bed().kubectl('get', 'nm');
    const [head, line] = stdout.split('\n').map((text) => text.split(/ {2,}/).slice(0, -1));
    expect(head).toEqual(['NAME', 'STAGE', 'DRAINED', 'NODES', 'REASON']);
    expect(line).toEqual([NAME, 'Drain', '', '3/12', 'OS upgrade'].filter((text) => text !== ''));
    const selected = await bed().kubectl('get', 'nm', '--field-selector=spec.stage=Idle');
    expect(selected.stdout).toBe('');
  });

  it('NM-10: a maintenance needs the permission to delete its nodes', async () => {
    const { create, change, remove } = await policyScene(bed());
    const refused = 'needs the permission to delete nodes';
    expect(await create(tenant)).toContain(refused);
    expect(await create(owner, selectorOf(ofNode('other')))).toContain(refused);
    expect(await create(owner, selectorOf(ofNode(OWN_NODE), labelTerm('Exists'))))
      .toContain(refused);
    expect(await create(owner)).toBe('');
    expect(await change(tenant, { spec: { stage: 'Drain' } })).toContain(refused);
    expect(await change(tenant, { metadata: { finalizers: ['a.b/c'] } })).toContain(refused);
    expect(await change(owner, { spec: selectorOf(ofNode('other')) })).toContain(refused);
    expect(await change(owner, { spec: { stage: 'Drain' } })).toBe('');
    expect(await remove(tenant)).toContain(refused);
    expect(await remove(owner)).toBe('');
  });

  it('NM-10: who may delete all nodes selects them by labels; the controller updates', async () => {
    const { create, change, remove } = await policyScene(bed());
    expect(await create(admin, { ...selectorOf(labelTerm('Exists')), stage: 'Drain' })).toBe('');
    expect(await change(owner, { spec: { stage: 'Complete' } })).toContain('permission');
    expect(await change(controller, { spec: { stage: 'Complete' } })).toBe('');
    expect(await remove(admin)).toBe('');
  });

  it('NM-11: a selector that may match every node is accepted with a warning', async () => {
    const warningOf = async (...terms: readonly JsonRecord[]): Promise<string> => {
      const file = join(bed().directory, 'wide.json');
      await writeFile(file, JSON.stringify(maintenanceOf('wide', selectorOf(...terms))));
      const { code, stderr } = await bed().kubectl('create', '--dry-run=server', '-f', file);
      expect(code, stderr).toBe(0);
      return stderr;
    };
    expect(await warningOf(labelTerm('NotIn', ['a']))).toContain('may match every node');
    expect(await warningOf(ofNode('a'), labelTerm('DoesNotExist'))).toContain('may match every');
    expect(await warningOf(labelTerm('In', ['a']), ofNode('a'))).toBe('');
  });

  it('NM-40: only the controller writes the status', async () => {
    const { create, setStatus } = await policyScene(bed());
    await create(admin);
    const status = { observedGeneration: 1 };
    for (const user of [admin, owner, tenant]) {
      expect(await setStatus(user, status)).toContain('only the controller');
    }
    expect(await setStatus(controller, status)).toBe('');
    expect(await setStatus(controller, { observedGeneration: 0 })).toContain('never decreases');
  });

  it('NM-07: recorded stages stay', async () => {
    const { create, setStatus } = await policyScene(bed());
    await create(admin, { stage: 'Drain' });
    const started = (name: string, minute: string) => ({
      name,
      startTimestamp: `2026-05-01T10:${minute}:00Z`,
    });
    const cordon = started('Cordon', '00');
    expect(await setStatus(controller, { stageStatuses: [cordon] })).toBe('');
    expect(await setStatus(controller, { stageStatuses: [cordon, started('Drain', '01')] }))
      .toBe('');
    expect(await setStatus(controller, { stageStatuses: [cordon] })).toContain('never removed');
    const moved = [started('Cordon', '05'), started('Drain', '01')];
    expect(await setStatus(controller, { stageStatuses: moved })).toContain('never removed');
  });

  it('NM-43: the preview of the controller is stored', async () => {
    const { create, setStatus, read } = await schema();
    await create({ drainPlan: [entry(5, 'Default', 'web')] });
    const pod = podOf({ labels: { app: 'web' } });
    const budget = budgetOf({ status: { desiredHealthy: 4, currentHealthy: 4 } });
    const preview = previewBody(maintenancePreview({
      podsByNode: new Map([[OWN_NODE, [pod]]]),
      plan: effectivePlan(planEntriesOf([entry(5, 'Default', 'web')]), POD_TYPES),
      scope: { podTypes: POD_TYPES, podSelector: null },
      graceSeconds: null,
      budgets: [budget],
    }));
    expect(await setStatus({ preview })).toBe('');
    expect(valueAt(await read(), 'status', 'preview')).toEqual(preview);
  });

  it('NM-37: a target with as many conditions as a selector may have is stored', async () => {
    const { create, setStatus } = await schema();
    const keys = Array.from({ length: 10 }, (_, index) => `label-${index}`);
    const written = {
      podPriority: 5,
      podSelector: {
        matchLabels: Object.fromEntries(keys.map((key) => [key, 'a'])),
        matchExpressions: keys.map((key) => ({ key, operator: 'Exists' })),
      },
    };
    expect(await create({ drainPlan: [written] })).toBe('');
    const drainTargets = planEntriesOf([written]).map(planEntryBody);
    expect(
      await setStatus({
        nodeStatuses: [{ nodeRef: { name: OWN_NODE }, state: 'Admitted', drainTargets }],
      }),
    ).toBe('');
  });

  it('NM-40: a status with 1,000 nodes is stored', async () => {
    const { create, setStatus } = await policyScene(bed());
    await create(admin);
    const selected = {
      podPriority: 1,
      podType: 'Default',
      podSelector: { matchLabels: { a: 'b' } },
    };
    const nodeStatuses = Array.from({ length: 1000 }, (_, index) => ({
      nodeRef: { name: `ip-10-0-0-${index}.eu-central-1.compute.internal` },
      state: 'Admitted',
      wave: 1,
      bootID: '0b9c3d5e-1f2a-4b3c-8d4e-5f6a7b8c9d0e',
      drainTargets: [entry(5000, 'Default'), selected, entry(2 ** 31 - 1, 'DaemonSet')],
      drainMessage: 'Evacuating (limited by maintenance-a, maintenance-b)',
      podsPendingEvacuation: 100,
      podsEvacuating: 10,
    }));
    expect(await setStatus(controller, { nodeStatuses })).toBe('');
    expect(await setStatus(controller, { nodeStatuses: [...nodeStatuses, nodeStatuses[0]] }))
      .toContain('at most 1000 items');
  });
});
