/** The sessions of a fleet, as tests read them. */
import { listOrEmptyAt, numberAt, textAt } from '../../../src/domain/json.ts';
import { eventually } from '../eventually.ts';
import type { FleetProcess } from '../processes/fleet-child.ts';

/** A session that is open. */
export interface SessionSeen {
  /** Counted from 1, over all clusters. */
  readonly number: number;
  readonly clusterId: string;
  readonly rollupAcks: number;
}

/** The sessions that are open now. */
export const sessionsAt = async (fleet: FleetProcess): Promise<readonly SessionSeen[]> =>
  listOrEmptyAt(await fleet.script('GET', '/state'), 'sessions').map((one) => ({
    number: numberAt(one, 'number') ?? 0,
    clusterId: textAt(one, 'clusterId') ?? '',
    rollupAcks: numberAt(one, 'rollupAcks') ?? 0,
  }));

/** Waits for and returns an open session newer than `after`, with `rollups` acknowledged. */
export const untilSession = async (
  fleet: FleetProcess,
  { after = 0, rollups = 1 }: { readonly after?: number; readonly rollups?: number } = {},
): Promise<SessionSeen> =>
  await eventually(
    async () => {
      const [session, ...others] = await sessionsAt(fleet);
      if (session === undefined || others.length > 0) return undefined;
      return session.number > after && session.rollupAcks >= rollups ? session : undefined;
    },
    { what: `one session after number ${after} with ${rollups} roll-ups acknowledged` },
  );

/** The fleet's log of connected and ended sessions, in order and counted. */
export const sessionLog = (fleet: FleetProcess): readonly string[] =>
  fleet.logs().flatMap(({ message, why }) => {
    if (message === 'Cluster connected') return ['connected'];
    return message === 'Session ended' ? [`ended: ${String(why)}`] : [];
  });
