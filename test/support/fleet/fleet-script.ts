/** A typed client of a fleet's scripting interface. */
import { listOrEmptyAt, numberAt, textAt, valueAt } from '../../../src/domain/json.ts';
import type { FleetProcess } from '../processes/fleet-child.ts';

/** A roll-up as the fleet took it. */
export interface RollupSeen {
  readonly session: number;
  readonly rows: number;
  readonly verdict: string;
  readonly acked: boolean;
}

/** Every roll-up so far. */
export const rollupsAt = async (fleet: FleetProcess): Promise<readonly RollupSeen[]> =>
  listOrEmptyAt(await fleet.script('GET', '/rollups'), 'rollups').map((one) => ({
    session: numberAt(one, 'session') ?? 0,
    rows: numberAt(one, 'rows') ?? 0,
    verdict: textAt(one, 'verdict') ?? '',
    acked: valueAt(one, 'acked') === true,
  }));

/** A bootstrap pull that was answered. */
export interface PullSeen {
  readonly requestId: string;
  readonly machineId: string;
  readonly userData: string;
  readonly ttlSeconds: number;
  readonly error: string;
  readonly late: boolean;
}

/** Every answered pull so far. */
export const pullsAt = async (fleet: FleetProcess): Promise<readonly PullSeen[]> =>
  listOrEmptyAt(await fleet.script('GET', '/bootstraps'), 'answered').map((one) => ({
    requestId: textAt(one, 'requestId') ?? '',
    machineId: textAt(one, 'machineId') ?? '',
    userData: textAt(one, 'userData') ?? '',
    ttlSeconds: numberAt(one, 'ttlSeconds') ?? 0,
    error: textAt(one, 'error') ?? '',
    late: valueAt(one, 'late') === true,
  }));

/** A machine as its fleet has it. */
export interface MachineSeen {
  readonly id: string;
  readonly state: string;
}

/** The machines that are bound to a cluster. */
export const boundMachines = async (
  fleet: FleetProcess,
  cluster: string,
): Promise<readonly MachineSeen[]> =>
  listOrEmptyAt(await fleet.script('GET', `/machines?cluster=${cluster}`), 'machines')
    .map((one) => ({ id: textAt(one, 'id') ?? '', state: textAt(one, 'state') ?? '' }));

/** The fleet's accepted needs, from `ShardRead.InspectNeeds`. */
export const needsAt = async (
  fleet: FleetProcess,
  cluster: string,
): Promise<readonly unknown[]> =>
  listOrEmptyAt(await fleet.script('GET', `/needs?cluster=${cluster}`), 'frames')
    .flatMap((frame) => valueAt(frame, 'need', 'need') ?? []);

/** The name of the UpcomingNode of a machine whose id is a DNS label. */
export const objectName = (machineId: string): string => `un-${machineId}`;
