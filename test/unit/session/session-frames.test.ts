/** Frames of one network chunk, handled one after the other without a wait between them. */
import { expect, test } from 'vitest';
import { frameHandler } from '../../../src/actors/fleet-session/session-frames.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { clusterId, machineId } from '../../../src/domain/ids.ts';

test('wire 9: a bootstrap pull is answered before a later frame of the same chunk', () => {
  const order: string[] = [];
  const receive = frameHandler({
    clusterId: clusterId('prod-1'),
    telemetry: silentTelemetry,
    render: () => ({ _tag: 'Rendered', userData: '#cloud-config' }),
    reply: ({ _tag }) => order.push(_tag) > 0,
    shardEvents: { next: ({ _tag }) => void order.push(_tag) },
    record: () => {},
    onHelloAck: () => {},
    onRollupAck: () => {},
    onReplayGap: () => {},
    onReceived: () => {},
  });
  receive({
    _tag: 'BootstrapPulled',
    pull: { requestId: 'r1', clusterId: 'prod-1', requirements: [] },
  });
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
