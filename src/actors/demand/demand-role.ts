/**
 * The role that sends the cluster's demand: aggregates CapacityRequests into roll-ups, and
 * acknowledges them when the shard acknowledged theirs.
 *
 * Promises: in each term the session may dial only when the demand is current (WIRE-05); readiness
 * shows why it is not.
 */
import { BehaviorSubject } from 'rxjs';
import { capacityRequestProjector } from '../../domain/demand/request.ts';
import { CAPACITY_REQUESTS_PATH, type CapacityRequests } from '../../effects/capacity-requests.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { FleetSession } from '../fleet-session/fleet-session.ts';
import { type Role, type RoleContext, roleDefaults } from '../role.ts';
import { type DemandOfPods, startDemandSync } from './demand-sync.ts';
import { startRollups } from './rollups.ts';

/** The inputs of the role. */
export interface DemandRoleOptions {
  readonly session: Pick<
    FleetSession,
    'shardEvents' | 'acknowledged' | 'offerRollup' | 'demandListed'
  >;
  /** `--rollup-interval`. */
  readonly rollupIntervalMs: number;
  /** `--ack-concurrency`. */
  readonly ackConcurrency: number;
  /** Undefined when another process creates CapacityRequests. */
  readonly pods: DemandOfPods | undefined;
}

/** Creates the role, not leading. */
export const demandRole = (
  environment: ActorEnvironment<CapacityRequests>,
  { session, rollupIntervalMs, ackConcurrency, pods }: DemandRoleOptions,
  { informers, record }: RoleContext,
): Role => {
  const requests = informers.collection({
    id: 'capacityrequests',
    path: CAPACITY_REQUESTS_PATH,
    project: capacityRequestProjector(),
  });
  const leading = new BehaviorSubject(false);
  const { shardEvents, acknowledged, offerRollup, demandListed } = session;
  const rollups = startRollups(environment, {
    session: { shardEvents, acknowledged, offerRollup, leading },
    record,
    requests,
    intervalMs: rollupIntervalMs,
    ackConcurrency,
  });
  const sync = startDemandSync(environment, {
    requests,
    pods,
    hold: rollups.hold,
    release: () => {
      rollups.release();
      demandListed();
    },
  });
  return {
    ...roleDefaults('demand', [requests]),
    notices: [{ name: 'roll-ups', failing: sync.heldBecause }],
    onLeading: () => {
      leading.next(true);
      sync.setLeading(true);
    },
    onLeadershipLost: () => {
      leading.next(false);
      sync.setLeading(false);
    },
    close: () => {
      leading.complete();
      return Promise.resolve();
    },
    // The write gate waits for patches in flight.
    stop: () => Promise.resolve(),
    dispose: () => {
      rollups.stop();
      return sync.stop();
    },
  };
};
