/** What the role of the demand shows while a collection is refused at run time. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { NEVER } from 'rxjs';
import { expect, onTestFinished, test } from 'vitest';
import { demandRole } from '../../../src/actors/demand/demand-role.ts';
import type { Telemetry } from '../../../src/api/telemetry.ts';
import { capacityRequestsLayer } from '../../../src/effects/capacity-requests.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { KubeApi } from '../../../src/effects/kube-api.ts';
import { informedEnvironment } from '../../support/actors/informed-environment.ts';
import { answeringApi } from '../../support/api/fake-api.ts';
import { scriptedApi } from '../../support/api/scripted-api.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

/** The role with an API server, and the notice that it shows. */
const startRole = () => {
  const time = simulatedTime();
  const api = scriptedApi();
  const runtime = ManagedRuntime.make(Layer.mergeAll(
    capacityRequestsLayer.pipe(Layer.provide(answeringApi(() => Effect.never))),
    Layer.succeed(KubeApi, api.service),
    clockLayer(time),
  ));
  const { environment, informers } = informedEnvironment(time, runtime);
  const gauges = new Map<string, number>();
  const telemetry: Telemetry = {
    ...environment.telemetry,
    gauge: (name, value, ..._labels) => void gauges.set(name, value),
  };
  const role = demandRole({ ...environment, telemetry }, {
    session: {
      shardEvents: NEVER,
      acknowledged: NEVER,
      offerRollup: () => {},
      demandListed: () => {},
    },
    rollupIntervalMs: 10_000,
    ackConcurrency: 1,
    pods: undefined,
  }, { informers, record: () => {}, recordOnLease: () => {} });
  onTestFinished(async () => {
    await role.close?.();
    await role.dispose?.();
  });
  informers.start();
  const notices = () => (role.notices ?? []).map(({ name, failing }) => [name, failing()]);
  return { time, api, role, notices, isHeld: () => gauges.get('tidegate_demand_held') };
};

const REFUSALS = Array.from({ length: 20 }, () => ({ status: 403 }));

test('wire 5: readiness shows which refused collection holds the demand, and why', async () => {
  const { time, api, role, notices, isHeld } = startRole();
  await time.settle();
  role.onLeading();
  expect(notices()).toEqual([['roll-ups', expect.stringMatching(/^DemandNotCurrent: /)]]);
  await time.settle();
  expect(notices()).toEqual([['roll-ups', undefined]]);
  api.bookmark();
  await time.settle();
  api.refuseWatches(...REFUSALS);
  api.refuseLists(...REFUSALS);
  api.endWatches('eof');
  for (const _minute of [1, 2, 3]) {
    await time.advance(60_000);
    expect([role.ready(), isHeld(), ...notices()]).toEqual([
      undefined,
      1,
      ['roll-ups', 'CollectionRefused: Cannot list or watch "capacityrequests": refused'],
    ]);
  }
  role.onLeadershipLost();
  expect(notices(), 'a standby reports no demand').toEqual([['roll-ups', undefined]]);
  expect(isHeld()).toBe(0);
  role.onLeading();
  await time.advance(30 * 60_000);
  expect(notices()).toEqual([['roll-ups', undefined]]);
});
