/** Frames of one network chunk, handled one after the other without a wait between them. */
import { expect, test } from 'vitest';
import {
  type FrameDependencies,
  frameHandler,
} from '../../../src/actors/fleet-session/session-frames.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { clusterId, machineId } from '../../../src/domain/ids.ts';

const PULL = {
  _tag: 'BootstrapPulled',
  pull: { requestId: 'r1', clusterId: 'prod-1', requirements: [] },
} as const;

/** A handler of frames that does nothing with their meaning but for these parts. */
const handlerOf = (parts: Partial<FrameDependencies>) =>
  frameHandler({
    clusterId: clusterId('prod-1'),
    telemetry: silentTelemetry,
    render: () => ({ _tag: 'Rendered', userData: '#cloud-config' }),
    reply: () => true,
    shardEvents: { next: () => {} },
    record: () => {},
    onHelloAck: () => {},
    onRollupAck: () => {},
    onReplayGap: () => {},
    onReceived: () => {},
    ...parts,
  });

test('wire 9: a bootstrap pull is answered before a later frame of the same chunk', () => {
  const order: string[] = [];
  const receive = handlerOf({
    reply: ({ _tag }) => order.push(_tag) > 0,
    shardEvents: { next: ({ _tag }) => void order.push(_tag) },
  });
  receive(PULL);
  receive({
    _tag: 'MachineObserved',
    machine: {
      machineId: machineId('m1'),
      state: 'Configuring',
      nodeName: '',
      providerId: '',
      lastError: '',
      labels: {},
      resources: {},
      taints: [],
    },
  });
  expect(order).toEqual(['BootstrapAnswered', 'MachineObserved']);
});

test('wire 9: a pull that names no cluster is for the cluster of the stream', () => {
  const answers: unknown[] = [];
  const receive = handlerOf({ reply: (answer) => answers.push(answer) > 0 });
  receive({ ...PULL, pull: { ...PULL.pull, clusterId: '' } });
  expect(answers).toMatchObject([{ answer: { _tag: 'Rendered' } }]);
});

test.each(
  [
    ['rendered', { _tag: 'Rendered', userData: '#cloud-config' }, true],
    ['failed', { _tag: 'Failed', problem: 'line 3: no such field' }, true],
    ['dropped', { _tag: 'Rendered', userData: '#cloud-config' }, false],
  ] as const,
)('wire 9: a bootstrap pull is counted as %s, and a failure is logged', (outcome, made, taken) => {
  const counted: unknown[] = [];
  const logged: unknown[] = [];
  const receive = handlerOf({
    telemetry: {
      ...silentTelemetry,
      count: (name, by, ...[labels]) => counted.push([name, by, labels]),
      log: (_level, _message, fields) => logged.push(fields),
    },
    render: () => made,
    reply: () => taken,
  });
  receive(PULL);
  expect(counted).toContainEqual(['tidegate_bootstrap_pulls_total', 1, { outcome }]);
  expect(logged).toEqual(
    made._tag === 'Failed' ? [{ request: 'r1', problem: made.problem }] : [],
  );
});
