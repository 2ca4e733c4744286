/** `kubectl apply --server-side` on the embedded cluster. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedKubectl, embeddedKubectl } from '../support/api/embedded-kubectl.ts';
import { describeWithBinaries } from '../support/api/testbed.ts';

const TIMEOUT_MS = 300_000;

const config = (name: string, data: string): string =>
  `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}, data: {${data}}}`;

describeWithBinaries('kubectl apply --server-side on the embedded cluster', () => {
  let kubectl: EmbeddedKubectl;
  beforeAll(async () => {
    kubectl = await embeddedKubectl();
  });
  afterAll(() => kubectl.stop());

  const apply = 'apply --server-side -f -';

  it('creates and changes objects', async () => {
    expect(await kubectl.must(apply, config('one', 'a: b'))).toBe(
      'configmap/one serverside-applied\n',
    );
    await kubectl.must(apply, config('one', 'c: d'));
    expect(await kubectl.must("get configmap one -o 'jsonpath={.data}'")).toBe('{"c":"d"}');
  }, TIMEOUT_MS);

  it('a conflict names the manager and the field, and force takes the field over', async () => {
    await kubectl.must(`${apply} --field-manager=first`, config('two', 'a: b'));
    const { code, stderr } = await kubectl.run(apply, config('two', 'a: c'));
    expect(code).toBe(1);
    expect(stderr).toContain('Apply failed with 1 conflict: conflict with "first": .data.a');
    await kubectl.must(`${apply} --force-conflicts`, config('two', 'a: c'));
    expect(await kubectl.must("get configmap two -o 'jsonpath={.data.a}'")).toBe('c');
  }, TIMEOUT_MS);

  it('a dry run writes nothing', async () => {
    expect(await kubectl.must(`${apply} --dry-run=server`, config('three', 'a: b'))).toBe(
      'configmap/three serverside-applied (server dry run)\n',
    );
    expect((await kubectl.run('get configmap three')).code).toBe(1);
  }, TIMEOUT_MS);

  it('an unknown field is refused', async () => {
    const { code, stderr } = await kubectl.run(
      apply,
      `{${config('four', 'a: b').slice(1, -1)}, x: y}`,
    );
    expect(code).toBe(1);
    expect(stderr).toContain('.x: field not declared in schema');
  }, TIMEOUT_MS);

  it('takes over what was applied on the client side', async () => {
    await kubectl.must('apply -f -', config('five', 'a: b, c: d'));
    await kubectl.must(apply, config('five', 'a: c'));
    expect(await kubectl.must("get configmap five -o 'jsonpath={.data}'")).toBe('{"a":"c"}');
    const managers = 'get configmap five --show-managed-fields ' +
      "-o 'jsonpath={.metadata.managedFields[*].manager}'";
    expect(await kubectl.must(managers)).toBe('kubectl-last-applied kubectl');
  }, TIMEOUT_MS);

  it('managers of fields are shown on request only', async () => {
    await kubectl.must(apply, config('six', 'a: b'));
    expect(await kubectl.must('get configmap six -o yaml')).not.toContain('managedFields');
    expect(await kubectl.must('get configmap six -o yaml --show-managed-fields')).toMatch(
      /managedFields:\n {2}- apiVersion: v1\n {4}fieldsType: FieldsV1/,
    );
  }, TIMEOUT_MS);

  it('a Deployment is applied, rolled out and pruned of a container', async () => {
    const deployment = (more: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: main, image: "example.com/web:1"}
        ${more}
`;
    await kubectl.must(apply, deployment('- {name: side, image: "example.com/side:1"}'));
    await kubectl.must('rollout status deployment/web --timeout=60s');
    await kubectl.must('scale deployment/web --replicas=2');
    await kubectl.must(apply, deployment(''));
    expect(
      await kubectl.must(
        "get deployment web -o 'jsonpath={.spec.replicas} {.spec.template.spec.containers[*].name}'",
      ),
    ).toBe('2 main');
  }, TIMEOUT_MS);
});
