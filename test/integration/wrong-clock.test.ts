/** An operator whose wall clock is wrong and steps by hours, on an embedded cluster. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { PAGE_LOG } from '../../src/cli/operator/inspectors.ts';
import { listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { reclaimAnnotation } from '../simulation/node-annotations.ts';
import { isJoined } from '../support/api/cluster-connection.ts';
import { rawRequest } from '../support/demand/capacity-requests.ts';
import { eventually } from '../support/eventually.ts';
import { untilSession } from '../support/fleet/fleet-sessions.ts';
import { startClusterBy } from '../support/processes/cluster-child.ts';
import { startFleet } from '../support/processes/fleet-process.ts';
import { startTidegate } from '../support/processes/tidegate-process.ts';

const CUSTOM = '/apis/bigfleet.lucy.sh/v1alpha1';
const REQUESTS = `${CUSTOM}/namespaces/default/capacityrequests`;
const EVENTS = '/apis/events.k8s.io/v1/events';
const GRACE_SECONDS = 600;
/** Whole seconds of answers, the skew that counts as none, and slow machines. */
const TOLERANCE_MS = 600_000;
const WRONG_CLOCK = new URL('../support/processes/wrong-clock.ts', import.meta.url);

const startCluster = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-clock-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { kubeconfig, server } = await startClusterBy(startTidegate, join(folder, 'kubeconfig'));
  const get = async (path: string): Promise<unknown> =>
    await (await fetch(`${server}${path}`)).json();
  const request = async (name: string): Promise<void> => {
    const { metadata: _, ...body } = rawRequest();
    await fetch(`${server}${REQUESTS}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, metadata: { name } }),
    });
  };
  return { kubeconfig, get, request };
};

// Deadlines and Events had the time of the machine, wherever its clock was.
test('DR-16: an operator whose clock is an hour ahead, then behind, writes the right times', async () => {
  const { kubeconfig, get, request } = await startCluster();
  const fleet = await startFleet({ kubeconfig });
  const operator = startTidegate({
    name: 'operator',
    // Other runtimes have no preload.
    runtime: 'node',
    env: { NODE_OPTIONS: `--import=${WRONG_CLOCK.href}` },
    args: [
      'operator',
      '--cluster-id=clock',
      `--shard-addr=${fleet.address}`,
      '--insecure-plaintext',
      `--kubeconfig=${kubeconfig}`,
      '--metrics-addr=0',
      '--health-addr=0',
      '--rollup-interval=10s',
      ...['--lease-duration=120s', '--lease-renew-deadline=90s'],
      '--inspect-addr=127.0.0.1:0',
    ],
  });
  /** Reclaims a machine that joined, and returns how wrong its deadline is. */
  const deadlineError = async (done: readonly string[]) => {
    const joined = await eventually(
      async () =>
        listOrEmptyAt(await get(`${CUSTOM}/upcomingnodes`), 'items').find((one) =>
          isJoined(one) && !done.includes(textAt(one, 'metadata', 'name') ?? '')
        ),
      { what: 'a machine that joined' },
    );
    const name = textAt(joined, 'metadata', 'name') ?? '';
    const node = textAt(joined, 'status', 'nodeRef', 'name') ?? '';
    const deadlineMs = Date.now() + GRACE_SECONDS * 1000;
    const machine = textAt(joined, 'metadata', 'annotations', 'bigfleet.lucy.sh/machine-id');
    await untilSession(fleet);
    await fleet.script('POST', '/reclaim', { machine, graceSeconds: GRACE_SECONDS });
    const annotation = await eventually(
      async () => reclaimAnnotation(await get(`/api/v1/nodes/${node}`)),
      { what: 'the deadline on its Node' },
    );
    return { name, errorMs: Math.abs(annotation.deadlineMs - deadlineMs) };
  };

  /** How wrong the clock of the page is, which shows how much of a deadline is left. */
  const pageError = async (): Promise<number> => {
    const served = await operator.untilLog(
      ({ message }) => message === PAGE_LOG.served,
      { what: 'the address of the page' },
    );
    const stream = await fetch(new URL('live', String(served['url'])));
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = await reader?.read();
    await reader?.cancel();
    return Math.abs(Number(/"nowMs":(\d+)/.exec(first?.value ?? '')?.[1]) - Date.now());
  };

  await request('first');
  const ahead = await deadlineError([]);
  expect(ahead.errorMs).toBeLessThan(TOLERANCE_MS);
  expect(await pageError()).toBeLessThan(TOLERANCE_MS);
  const steppedFrom = operator.logs().length;
  operator.signal('USR2');
  for (let more = 0; more < 20; more += 1) await request(`further-${more}`);
  const behind = await deadlineError([ahead.name]);
  expect(behind.errorMs).toBeLessThan(TOLERANCE_MS);

  const events = await eventually(async () => {
    const found = listOrEmptyAt(await get(EVENTS), 'items').filter((event) =>
      textAt(event, 'reportingController') === 'tidegate.dev/operator'
    );
    const nodes = new Set(found.map((event) => textAt(event, 'regarding', 'name')));
    return nodes.size > 1 && found;
  }, { what: 'Events about both Nodes' });
  for (const event of events) {
    const writtenMs = Date.parse(textAt(event, 'metadata', 'creationTimestamp') ?? '');
    const atMs = Date.parse(textAt(event, 'eventTime') ?? '');
    expect(Math.abs(atMs - writtenMs)).toBeLessThan(TOLERANCE_MS);
  }
  const messages = operator.logs().slice(steppedFrom).map(({ message }) => message);
  expect(messages).not.toContain('Lost leadership');
  expect([await operator.stop(), await fleet.stop()]).toEqual([0, 0]);
});
