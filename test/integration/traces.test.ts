/** A reclaim as one trace, received by an OpenTelemetry Collector. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { collector } from '../../tools/testbed/observability.ts';
import { accepts, freePort } from '../../tools/testbed/ports.ts';
import { supervise } from '../../tools/testbed/processes.ts';
import { isJoined } from '../support/api/cluster-connection.ts';
import { describeWithReceivers } from '../support/api/testbed.ts';
import { rawRequest } from '../support/demand/capacity-requests.ts';
import { eventually } from '../support/eventually.ts';
import { startClusterBy } from '../support/processes/cluster-child.ts';
import { startFleet } from '../support/processes/fleet-process.ts';
import { startTidegate } from '../support/processes/tidegate-process.ts';
import { type PrintedSpan, printedSpans } from '../support/tracing/printed-spans.ts';

const BUILD_TIMEOUT_MS = 15 * 60 * 1000;
const CUSTOM = '/apis/bigfleet.lucy.sh/v1alpha1';
const REQUESTS = `${CUSTOM}/namespaces/default/capacityrequests`;
const PODS = '/api/v1/namespaces/default/pods';

/** A Collector that prints what it receives; ends with the test. */
const startCollector = async (program: string) => {
  const port = await freePort();
  const lines: string[] = [];
  const config = JSON.stringify({
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: { debug: { verbosity: 'detailed', use_internal_logger: false } },
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: { traces: { receivers: ['otlp'], exporters: ['debug'] } },
    },
  });
  const child = supervise({
    name: 'collector',
    file: program,
    args: ['--config', `yaml:${config}`],
    cwd: tmpdir(),
    onLine: (line) => void lines.push(line),
  });
  onTestFinished(async () => void await child.stop());
  await eventually(() => accepts(port), { what: 'the Collector to listen' });
  return { endpoint: `http://127.0.0.1:${port}`, spans: () => printedSpans(lines.join('\n')) };
};

const startCluster = async (folder: string) => {
  const { kubeconfig, server } = await startClusterBy(startTidegate, join(folder, 'kubeconfig'));
  const ask = async (path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`${server}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return await answer.json();
  };
  return { kubeconfig, ask };
};

const podOn = (node: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: { nodeName: node, containers: [{ name: 'web', image: 'web' }] },
});

describeWithReceivers('traces', () => {
  let program = '';
  let folder = '';
  beforeAll(async () => {
    program = await collector();
    folder = await mkdtemp(join(tmpdir(), 'tidegate-traces-'));
  }, BUILD_TIMEOUT_MS);
  afterAll(() => rm(folder, { recursive: true }));

  test('a reclaim is one trace from its instruction to its last pod', async () => {
    const { endpoint, spans } = await startCollector(program);
    const { kubeconfig, ask } = await startCluster(folder);
    const fleet = await startFleet({ kubeconfig });
    const operator = startTidegate({
      name: 'operator',
      args: [
        ...['operator', '--cluster-id=traced', `--shard-addr=${fleet.address}`],
        ...['--insecure-plaintext', `--kubeconfig=${kubeconfig}`, '--metrics-addr=0'],
        ...['--health-addr=0', '--rollup-interval=200ms', `--otlp-endpoint=${endpoint}`],
      ],
    });
    const { metadata: _, ...request } = rawRequest();
    await ask(REQUESTS, { ...request, metadata: { name: 'batch' } });
    const ready = await eventually(
      async () => listOrEmptyAt(await ask(`${CUSTOM}/upcomingnodes`), 'items').find(isJoined),
      { what: 'an UpcomingNode to be Ready with its Node' },
    );
    const node = textAt(ready, 'status', 'nodeRef', 'name') ?? '';
    await ask(PODS, podOn(node));
    // The fleet names the Node after its machine.
    await fleet.script('POST', '/reclaim', { machine: node });
    const named = (name: string): readonly PrintedSpan[] =>
      spans().filter((span) => span.name === name);
    await eventually(() => named('reclaim').length > 0, { what: 'the root of the trace' });
    await operator.stop();

    const [root] = named('reclaim');
    const [drain] = named('drain node');
    const [eviction] = named('evict pod');
    expect(root).toMatchObject({ parent: '' });
    expect(root?.trace).toMatch(/^[0-9a-f]{32}$/);
    expect(drain).toMatchObject({ parent: root?.id, attributes: { 'k8s.node.name': node } });
    expect(drain?.events).toContain('underway.acting.cordoning');
    expect(eviction).toMatchObject({
      parent: drain?.id,
      attributes: { 'k8s.pod.name': 'web', 'k8s.namespace.name': 'default' },
    });
    const template = '/api/v1/namespaces/{namespace}/pods/{pod}/eviction';
    expect(named(`POST ${template}`)[0]).toMatchObject({
      parent: eviction?.id,
      attributes: { 'http.request.method': 'POST', 'http.response.status_code': '201' },
    });
    expect(named('PATCH /api/v1/nodes/{node}')[0]).toMatchObject({ parent: drain?.id });
    expect(new Set(spans().map(({ trace }) => trace)).size).toBe(1);
  });
});
