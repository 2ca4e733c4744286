/** kubectl works on the embedded cluster as on a real one. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedKubectl, embeddedKubectl } from '../support/api/embedded-kubectl.ts';
import { describeWithBinaries } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';

const TIMEOUT_MS = 300_000;

const deployment = (name: string, replicas: number, more = ''): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, labels: {app: ${name}}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      ${more}
      containers: [{name: main, image: "example.com/${name}:1", resources: {requests: {cpu: 100m}}}]
`;

const budget = (name: string, spec: string): string => `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: ${name}}
spec: {selector: {matchLabels: {app: ${name}}}, ${spec}}
`;

const CONFIG = (data: string): string =>
  `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {${data}}}`;

const SHIPS = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ships.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Ship, plural: ships, singular: ship, listKind: ShipList, shortNames: [sh]}
  versions:
    - name: v1
      served: true
      storage: true
      additionalPrinterColumns: [{name: Masts, type: integer, jsonPath: .spec.masts}]
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [masts]
              properties: {masts: {type: integer, minimum: 1, description: How many masts.}}
`;

const ship = (masts: string): string =>
  `{apiVersion: example.com/v1, kind: Ship, metadata: {name: argo}, spec: {masts: ${masts}}}`;

const lines = (text: string): readonly string[] => text.trimEnd().split('\n');
const words = (text: string): readonly (readonly string[])[] =>
  lines(text).map((line) => line.split(/\s{2,}/));

describeWithBinaries('kubectl on the embedded cluster', () => {
  let kubectl: EmbeddedKubectl;
  beforeAll(async () => {
    kubectl = await embeddedKubectl();
  });
  afterAll(() => kubectl.stop());

  const ready = async (name: string, replicas: number): Promise<void> => {
    await kubectl.must('apply -f -', deployment(name, replicas));
    await kubectl.must(`wait deployment/${name} --for=condition=Available --timeout=60s`);
    await kubectl.must(`rollout status deployment/${name} --timeout=60s`);
  };
  const podsOf = async (name: string): Promise<readonly string[]> =>
    lines(await kubectl.must(`get pods -l app=${name} -o name --sort-by=.metadata.name`))
      .filter((line) => line !== '');

  it("version prints the server's version", async () => {
    expect(JSON.parse(await kubectl.must('version -o json'))).toMatchObject({
      serverVersion: { major: '1', minor: '36' },
    });
  }, TIMEOUT_MS);

  it('api-resources lists short names and custom resources', async () => {
    const printed = await kubectl.must('api-resources --no-headers');
    expect(printed).toMatch(
      /^poddisruptionbudgets\s+pdb\s+policy\/v1\s+true\s+PodDisruptionBudget/m,
    );
    expect(printed).toMatch(/^upcomingnodes\s+upn\s+bigfleet\.lucy\.sh\/v1alpha1\s+false/m);
  }, TIMEOUT_MS);

  it('get prints nodes as a table, and more of them with -o wide', async () => {
    await kubectl.must('wait node --all --for=condition=Ready --timeout=60s');
    const [header, first] = words(await kubectl.must('get nodes'));
    expect(header).toEqual(['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION']);
    expect(first?.slice(0, 3)).toEqual(['node-1', 'Ready', '<none>']);
    const [wide] = words(await kubectl.must('get nodes -o wide'));
    expect(wide).toContain('KERNEL-VERSION');
  }, TIMEOUT_MS);

  it('get prints YAML, JSON, names, paths and columns', async () => {
    expect(await kubectl.must('get node node-1 -o yaml')).toMatch(/^kind: Node$/m);
    expect(JSON.parse(await kubectl.must('get nodes -o json'))).toMatchObject({
      kind: 'List',
      items: [{ kind: 'Node' }, {}, {}],
    });
    expect(lines(await kubectl.must('get nodes -o name'))).toEqual([
      'node/node-1',
      'node/node-2',
      'node/node-3',
    ]);
    expect(await kubectl.must("get node node-2 -o 'jsonpath={.spec.providerID}'")).toBe(
      'embedded://node-2',
    );
    expect(lines(await kubectl.must('get nodes -o custom-columns=N:.metadata.name'))).toHaveLength(
      4,
    );
  }, TIMEOUT_MS);

  it('get of a missing object fails with 1', async () => {
    const { code, stderr } = await kubectl.run('get node nowhere');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'Error from server (NotFound): nodes "nowhere" not found\n',
    });
    expect((await kubectl.run('get nothings')).stderr).toContain(
      'the server doesn\'t have a resource type "nothings"',
    );
  }, TIMEOUT_MS);

  it('apply creates, changes and leaves alone', async () => {
    expect(await kubectl.must('apply -f -', CONFIG('a: b, c: d'))).toBe(
      'configmap/settings created\n',
    );
    expect(await kubectl.must('apply -f -', CONFIG('a: b, c: d'))).toBe(
      'configmap/settings unchanged\n',
    );
    expect(await kubectl.must('apply -f -', CONFIG('a: x'))).toBe(
      'configmap/settings configured\n',
    );
    const { data } = JSON.parse(await kubectl.must('get configmap settings -o json'));
    expect(data).toEqual({ a: 'x' });
    expect(await kubectl.must('apply --dry-run=server -f -', CONFIG('a: z'))).toContain('dry run');
    expect(await kubectl.must("get configmap settings -o 'jsonpath={.data.a}'")).toBe('x');
  }, TIMEOUT_MS);

  it('apply refuses unknown fields', async () => {
    const { code, stderr } = await kubectl.run(
      'apply -f -',
      `${CONFIG('a: b').slice(0, -1)}, x: y}`,
    );
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('unknown field "x"'),
    });
  }, TIMEOUT_MS);

  it('apply works on custom resources, which are checked', async () => {
    await kubectl.must('apply -f -', SHIPS);
    await kubectl.must('wait crd ships.example.com --for=condition=Established --timeout=120s');
    await kubectl.must('apply -f -', ship('2'));
    expect(await kubectl.must('apply -f -', ship('3'))).toBe('ship.example.com/argo configured\n');
    expect(words(await kubectl.must('get sh'))).toEqual([['NAME', 'MASTS'], ['argo', '3']]);
    expect((await kubectl.run('apply -f -', ship('0'))).stderr).toContain(
      'spec.masts in body should be greater than or equal to 1',
    );
    expect(await kubectl.must('explain ships.spec.masts')).toContain('How many masts.');
  }, TIMEOUT_MS);

  it('create, replace and delete do one thing each', async () => {
    const text = CONFIG('a: b').replace('settings', 'other');
    expect(await kubectl.must('create -f -', text)).toBe('configmap/other created\n');
    expect((await kubectl.run('create -f -', text)).stderr).toContain('AlreadyExists');
    expect(await kubectl.must('replace -f -', text.replace('a: b', 'a: c'))).toBe(
      'configmap/other replaced\n',
    );
    expect(await kubectl.must('delete configmap other')).toContain('configmap "other" deleted');
    expect((await kubectl.run('delete configmap other')).code).toBe(1);
    await kubectl.must('delete configmap other --ignore-not-found');
  }, TIMEOUT_MS);

  it('patch supports three kinds of patches', async () => {
    await ready('patched', 1);
    await kubectl.must(
      `patch deployment patched -p '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.com/x:2"}]}}}}'`,
    );
    await kubectl.must(
      `patch deployment patched --type=merge -p '{"metadata":{"labels":{"by":"merge"}}}'`,
    );
    await kubectl.must(
      `patch deployment patched --type=json -p '[{"op":"replace","path":"/spec/replicas","value":2}]'`,
    );
    expect(JSON.parse(await kubectl.must('get deployment patched -o json'))).toMatchObject({
      metadata: { labels: { app: 'patched', by: 'merge' }, generation: 3 },
      spec: {
        replicas: 2,
        template: { spec: { containers: [{ name: 'main', image: 'example.com/x:2' }] } },
      },
    });
    await kubectl.must('rollout status deployment/patched --timeout=60s');
  }, TIMEOUT_MS);

  it('label, annotate and taint change nodes', async () => {
    await kubectl.must('label node node-3 pool=blue');
    await kubectl.must('annotate node node-3 example.com/a=b');
    await kubectl.must('taint node node-3 example.com/x=y:PreferNoSchedule');
    expect(JSON.parse(await kubectl.must('get node -l pool=blue -o json'))).toMatchObject({
      items: [{
        metadata: { annotations: { 'example.com/a': 'b' } },
        spec: { taints: [{ key: 'example.com/x', value: 'y', effect: 'PreferNoSchedule' }] },
      }],
    });
    await kubectl.must('taint node node-3 example.com/x-');
  }, TIMEOUT_MS);

  it('scale makes more pods and fewer', async () => {
    await ready('scaled', 1);
    expect(await kubectl.must('scale deployment/scaled --replicas=4')).toBe(
      'deployment.apps/scaled scaled\n',
    );
    await kubectl.must(
      "wait deployment/scaled --for='jsonpath={.status.readyReplicas}=4' --timeout=60s",
    );
    expect(await podsOf('scaled')).toHaveLength(4);
    await kubectl.must('scale deployment/scaled --replicas=1');
    await eventually(async () => (await podsOf('scaled')).length === 1, { what: 'one pod' });
  }, TIMEOUT_MS);

  it('get -w prints changes of pods', async () => {
    await ready('watched', 1);
    const following = kubectl.follow('get pods -w -l app=watched');
    const seen = (status: string) =>
      eventually(() => following.printed().includes(status), { what: `a pod that is ${status}` });
    await seen('Running');
    await kubectl.must('scale deployment/watched --replicas=2');
    await seen('Pending');
    await kubectl.must('delete deployment watched');
    await seen('Terminating');
    following.stop();
    const [header, ...rows] = words(following.printed());
    expect(header?.slice(0, 3)).toEqual(['NAME', 'READY', 'STATUS']);
    expect(
      rows.every(([name, ready]) =>
        name?.startsWith('watched-') === true && /^[01]\/1$/.test(ready ?? '')
      ),
    ).toBe(true);
  }, TIMEOUT_MS);

  it('describe prints nodes, workloads, pods and budgets', async () => {
    await ready('described', 2);
    await kubectl.must('apply -f -', budget('described', 'maxUnavailable: 1'));
    expect(await kubectl.must('describe node node-1')).toMatch(/Ready\s+True[\s\S]*Allocatable:/);
    expect(await kubectl.must('describe deployment described')).toMatch(
      /2 desired \| 2 updated \| 2 total \| 2 available[\s\S]*Available\s+True/,
    );
    expect(await kubectl.must('describe pods -l app=described')).toMatch(
      /Controlled By:\s+ReplicaSet\/described-/,
    );
    await eventually(
      async () => /Allowed disruptions:\s+1/.test(await kubectl.must('describe pdb described')),
      {
        what: 'the budget to be counted',
      },
    );
  }, TIMEOUT_MS);

  it('cordon and uncordon show at the node', async () => {
    expect(await kubectl.must('cordon node-3')).toBe('node/node-3 cordoned\n');
    expect(await kubectl.must('cordon node-3')).toBe('node/node-3 already cordoned\n');
    expect(words(await kubectl.must('get node node-3'))[1]?.[1]).toBe('Ready,SchedulingDisabled');
    expect(await kubectl.must('uncordon node-3')).toBe('node/node-3 uncordoned\n');
    expect(words(await kubectl.must('get node node-3'))[1]?.[1]).toBe('Ready');
  }, TIMEOUT_MS);

  it('drain empties a node and keeps the budget', async () => {
    await ready('drained', 6);
    await kubectl.must('apply -f -', budget('drained', 'maxUnavailable: 2'));
    const before = await podsOf('drained');
    const printed = await kubectl.must('drain node-1 --ignore-daemonsets --force --timeout=90s');
    expect(printed).toContain('node/node-1 drained');
    expect(
      await kubectl.must('get pods -A --field-selector=spec.nodeName=node-1 -o name'),
    ).toBe('');
    await kubectl.must('rollout status deployment/drained --timeout=60s');
    const after = await podsOf('drained');
    expect(after).toHaveLength(6);
    expect(after).not.toEqual(before);
    await kubectl.must('uncordon node-1');
  }, TIMEOUT_MS);

  it('drain times out on a budget that allows 0 disruptions', async () => {
    await ready('kept', 3);
    await kubectl.must('apply -f -', budget('kept', 'minAvailable: 3'));
    const node = await kubectl.must("get pods -l app=kept -o 'jsonpath={.items[0].spec.nodeName}'");
    const selector = "--pod-selector='app=kept'";
    const { code, stderr } = await kubectl.run(`drain ${node} ${selector} --timeout=1s`);
    expect(code).toBe(1);
    expect(stderr).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
    expect(await podsOf('kept')).toHaveLength(3);
    await kubectl.must(`uncordon ${node}`);
  }, TIMEOUT_MS);

  it('delete removes owned objects, and waits for it', async () => {
    await ready('deleted', 2);
    await kubectl.must('delete deployment deleted --cascade=foreground');
    expect(await podsOf('deleted')).toEqual([]);
    await ready('left', 1);
    await kubectl.must('delete deployment left --cascade=orphan');
    expect(await kubectl.must('get replicasets -l app=left -o name')).toContain(
      'replicaset.apps/left-',
    );
    await kubectl.must('delete replicasets -l app=left --wait=false');
    await kubectl.must('wait pods -l app=left --for=delete --timeout=60s');
  }, TIMEOUT_MS);

  it('delete of a namespace deletes its content', async () => {
    await kubectl.must('create -f -', '{apiVersion: v1, kind: Namespace, metadata: {name: short}}');
    await kubectl.must('apply -n short -f -', deployment('inside', 1));
    await kubectl.must('wait -n short deployment/inside --for=condition=Available --timeout=60s');
    await kubectl.must('delete namespace short --timeout=60s');
    expect((await kubectl.run('get namespace short')).code).toBe(1);
    expect(await kubectl.must('get pods -n short -o name')).toBe('');
  }, TIMEOUT_MS);

  it('auth can-i, its list and whoami answer as for an administrator', async () => {
    expect(await kubectl.must('auth can-i create pods/eviction')).toBe('yes\n');
    expect(await kubectl.must('auth can-i get /metrics')).toBe('yes\n');
    expect(await kubectl.must('auth can-i --list')).toMatch(/^\*\.\*\s+\[\]\s+\[\]\s+\[\*\]$/m);
    expect(await kubectl.must('auth whoami')).toMatch(/^Username\s+tidegate-embedded$/m);
  }, TIMEOUT_MS);

  it('get events sorts by lastTimestamp also where the reporter set none', async () => {
    await kubectl.must(
      'apply -f -',
      `{apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: a, namespace: default},
        regarding: {kind: Pod, name: p, namespace: default}, reason: Seen, action: See, note: seen,
        type: Normal, eventTime: "2026-01-01T00:00:00.000000Z",
        reportingController: c.example.com/x, reportingInstance: i}`,
    );
    expect(await kubectl.must('get events --sort-by=.lastTimestamp')).toContain('pod/p');
  }, TIMEOUT_MS);

  it('cordon shows in the taints of the node, and uncordon removes the taint', async () => {
    await kubectl.must('cordon node-2');
    const taints = "get node node-2 -o 'jsonpath={.spec.taints[*].key}'";
    await eventually(
      async () => (await kubectl.must(taints)) === 'node.kubernetes.io/unschedulable',
      { what: 'the taint of the cordon' },
    );
    await kubectl.must('uncordon node-2');
    await eventually(async () => (await kubectl.must(taints)) === '', {
      what: 'no taint without a cordon',
    });
  }, TIMEOUT_MS);

  it('create without a manifest sends protobuf, which is accepted', async () => {
    expect(await kubectl.must('create configmap typed --from-literal=a=b')).toBe(
      'configmap/typed created\n',
    );
    expect(await kubectl.must("get configmap typed -o 'jsonpath={.data.a}'")).toBe('b');
  }, TIMEOUT_MS);
});
