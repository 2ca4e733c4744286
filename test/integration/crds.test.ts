/** The generated CRDs on a real API server. */
import { expect, it } from 'vitest';
import { crdName } from '../../src/api/crd.ts';
import { exampleObject } from '../../tools/crd-reference.ts';
import { CUSTOM_RESOURCES } from '../../src/api/resources.ts';
import { readCapacityRequest } from '../../src/domain/demand/reading.ts';
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  parseJson,
  textAt,
} from '../../src/domain/json.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';

const SPEC = { resources: { cpu: '1' }, priority: 0 };
let made = 0;

const requestWith = (spec: JsonRecord): JsonRecord => ({
  apiVersion: 'bigfleet.lucy.sh/v1alpha1',
  kind: 'CapacityRequest',
  metadata: { name: `cr-${made += 1}`, namespace: 'default' },
  spec: { ...SPEC, ...spec },
});

/** The API server's validation errors for an object; empty when it is valid. */
const refusal = async (bed: Testbed, object: JsonRecord): Promise<string> => {
  try {
    await bed.apply(JSON.stringify(object));
    return '';
  } catch (problem) {
    return problem instanceof Error ? problem.message : String(problem);
  }
};

const read = async (bed: Testbed, ...args: readonly string[]): Promise<unknown> => {
  const { code, stdout, stderr } = await bed.kubectl(...args, '-o', 'json');
  if (code !== 0) throw new Error(stderr);
  return parseJson(stdout);
};

const columnsOf = async (bed: Testbed, plural: string): Promise<readonly string[]> => {
  const { stdout } = await bed.kubectl('get', plural);
  return (stdout.split('\n')[0] ?? '').split(/\s{2,}/);
};

describeWithTestbed('custom resources on a real API server', { own: true }, (bed) => {
  it('crd: the manifests install without warnings and are established', async () => {
    await bed().installCrds();
    for (const resource of CUSTOM_RESOURCES) {
      const crd = await read(bed(), 'get', 'crd', crdName(resource));
      const conditions = listOrEmptyAt(crd, 'status', 'conditions').map((condition) => [
        textAt(condition, 'type'),
        textAt(condition, 'status'),
      ]);
      expect(conditions).toContainEqual(['Established', 'True']);
      expect(conditions.map(([type]) => type)).not.toContain('NonStructuralSchema');
    }
  });

  it('crd: the examples of the reference page are accepted', async () => {
    await bed().kubectl('create', 'namespace', 'research');
    for (const resource of CUSTOM_RESOURCES) {
      expect(await refusal(bed(), exampleObject(resource))).toBe('');
    }
  });

  it('crd: the columns are those of the wire, under the short names', async () => {
    const columns = async (plural: string) => await columnsOf(bed(), plural);
    await bed().apply(JSON.stringify(requestWith({})));
    expect(await columns('crs')).toEqual(['NAME', 'PHASE', 'PRIORITY', 'AGE']);
    expect(await columns('upn')).toEqual(['NAME', 'PHASE', 'NODE', 'AGE']);
    expect(await columns('avc'))
      .toEqual(['NAME', 'AVAILABILITY', 'AVAILABLE', 'COST', 'AGE']);
  });

  it('crd: -o wide adds what a request wants, and what a machine is', async () => {
    const wide = async (...args: readonly string[]) => {
      const { stdout } = await bed().kubectl('get', ...args, '-o', 'wide');
      return stdout.trim().split('\n').map((line) => line.split(/\s{2,}/));
    };
    const pod = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u', controller: true };
    const requested = requestWith({ resources: { cpu: 2, memory: '1.5Gi' } });
    const metadata = { ...asRecord(requested['metadata']), ownerReferences: [pod] };
    await bed().apply(JSON.stringify({ ...requested, metadata }));
    const [titles, cells] = await wide('crs', textAt(requested, 'metadata', 'name') ?? '');
    expect(titles?.slice(-3)).toEqual(['CPU', 'MEMORY', 'POD']);
    expect(cells?.slice(-3)).toEqual(['2', '1.5Gi', 'web']);
    const labels = {
      'node.kubernetes.io/instance-type': 'a3-highgpu-8g',
      'topology.kubernetes.io/zone': 'z1',
    };
    await bed().apply(JSON.stringify({
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'UpcomingNode',
      metadata: { name: 'un-wide' },
      spec: { labels, resources: { cpu: '8' } },
    }));
    const status = '{"status":{"phase":"Failed","lastError":"no user data"}}';
    await bed()
      .kubectl('patch', 'upn', 'un-wide', '--subresource=status', '--type=merge', '-p', status);
    const [names, values] = await wide('upn', 'un-wide');
    expect(names?.slice(-3)).toEqual(['INSTANCE TYPE', 'ZONE', 'LAST ERROR']);
    expect(values?.slice(-3)).toEqual(['a3-highgpu-8g', 'z1', 'no user data']);
    expect((await wide('avc'))[0]?.slice(-2)).toEqual(['CPU', 'MEMORY']);
  });

  it('crd: all are in the category "fleet"', async () => {
    const { code, stdout } = await bed().kubectl('get', 'fleet', '-A', '-o', 'name');
    expect(code).toBe(0);
    for (const { kind } of CUSTOM_RESOURCES) expect(stdout).toContain(kind.toLowerCase());
  });

  it('crd selectable: CapacityRequests are selected by their phase', async () => {
    const object = requestWith({});
    await bed().apply(JSON.stringify(object));
    const name = textAt(object, 'metadata', 'name') ?? '';
    const patch = '{"status":{"phase":"Acknowledged","acknowledgedAt":"2026-01-01T00:00:00Z"}}';
    const patched = await bed()
      .kubectl('patch', 'cr', name, '--subresource=status', '--type=merge', '-p', patch);
    expect(patched.stderr).toBe('');
    const { stdout } = await bed()
      .kubectl('get', 'cr', '--field-selector=status.phase=Acknowledged', '-o', 'name');
    expect(stdout.trim()).toBe(`capacityrequest.bigfleet.lucy.sh/${name}`);
  });

  it('accept quantities as text and as whole numbers, and refuse other texts', async () => {
    const good = requestWith({ resources: { cpu: 2, memory: '1.5Gi', gpu: '1e0', none: '-0' } });
    expect(await refusal(bed(), good)).toBe('');
    for (const bad of ['1 Gi', 'many', '', '1mi', '--1']) {
      expect(await refusal(bed(), requestWith({ resources: { cpu: bad } })))
        .toContain('spec.resources.cpu');
    }
  });

  it('crd: a text that is no quantity is refused with the remedy', async () => {
    const cpu = await refusal(bed(), requestWith({ resources: { cpu: '1 core' } }));
    expect(cpu).toContain('resources.cpu is no quantity: give cores as "4", "1.5" or "250m"');
    expect(await refusal(bed(), requestWith({ resources: { memory: '16gb' } })))
      .toContain('resources.memory is no quantity: give bytes as "512Mi"');
    expect(await refusal(bed(), requestWith({ interruptionPenalty: '$16' })))
      .toContain('The penalty is no quantity: give dollars as "16"');
  });

  it('accept what only the operator can validate, and the operator does', async () => {
    const cases: readonly (readonly [string, JsonRecord])[] = [
      ['spec.resources["cpu"]', { resources: { cpu: '1e1.5' } }],
      ['spec.resources["cpu"]', { resources: { cpu: '-1' } }],
      ['spec.interruptionPenalty', { interruptionPenalty: '-1' }],
      ['spec.requirements[0].operator', { requirements: [{ key: 'a', operator: 'Near' }] }],
    ];
    for (const [field, spec] of cases) {
      const object = requestWith(spec);
      expect(await refusal(bed(), object)).toBe('');
      const stored = await read(bed(), 'get', 'cr', textAt(object, 'metadata', 'name') ?? '');
      const reading = readCapacityRequest(stored);
      expect(reading._tag === 'Unreadable' ? reading.problems.map((one) => one.field) : [])
        .toEqual([field]);
    }
  });

  it('crd: accept what the shard takes, and so does the operator', async () => {
    const key = 'example.com/a';
    const spread = { topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' };
    const specs: readonly JsonRecord[] = [
      { requirements: [{ key, operator: 'In' }, { key, operator: 'NotIn', values: [] }] },
      { requirements: [{ key, operator: 'Exists', values: ['x'] }] },
      { topologySpread: [{ ...spread, maxSkew: 0 }, { ...spread, maxSkew: 0 }] },
    ];
    for (const spec of specs) {
      const object = requestWith(spec);
      expect(await refusal(bed(), object)).toBe('');
      const stored = await read(bed(), 'get', 'cr', textAt(object, 'metadata', 'name') ?? '');
      expect(readCapacityRequest(stored)._tag).toBe('Readable');
    }
  });

  it('refuse a request without resources or priority, and numbers beyond int32', async () => {
    const { apiVersion, kind, metadata } = requestWith({});
    const bare = (spec: JsonRecord) => ({ apiVersion, kind, metadata, spec });
    expect(await refusal(bed(), bare({ priority: 0 }))).toContain('spec.resources: Required');
    expect(await refusal(bed(), bare({ resources: {} }))).toContain('spec.priority: Required');
    expect(await refusal(bed(), requestWith({ priority: 2 ** 31 }))).toContain('spec.priority');
  });

  it('keep every field of their examples', async () => {
    for (const resource of CUSTOM_RESOURCES) {
      const example = exampleObject(resource);
      const name = textAt(example, 'metadata', 'name') ?? '';
      const namespace = textAt(example, 'metadata', 'namespace') ?? 'default';
      const stored = await read(bed(), 'get', resource.plural, name, '-n', namespace);
      expect(asRecord(stored)?.['spec']).toEqual(example['spec']);
    }
  });
});
