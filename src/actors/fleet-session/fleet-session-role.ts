/**
 * The role that has the session with the shard.
 *
 * Promises: only the leader has a session; it is closed before writes under way are waited for
 * (DR-15).
 */
import type { ClusterId } from '../../domain/ids.ts';
import type { CredentialFiles } from '../../effects/credentials.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type Role, type RoleContext, roleDefaults } from '../role.ts';
import { bootstrapTemplate } from './bootstrap-template.ts';
import { type FleetSession, startFleetSession } from './fleet-session.ts';
import type { SessionServices } from './session-options.ts';

/** What the role is made with. */
export interface FleetSessionRoleOptions {
  readonly clusterId: ClusterId;
  /** `--shard-addr`. */
  readonly shardAddress: string;
  /** `--rollup-interval`. */
  readonly rollupIntervalMs: number;
  /** Undefined: the built-in stub. */
  readonly bootstrapTemplateFile: string | undefined;
  /** Undefined: plaintext. */
  readonly credentialFiles: CredentialFiles | undefined;
}

/** The role, and its session. */
export interface FleetSessionRole extends Role {
  readonly session: FleetSession;
}

/** The role, not leading. */
export const fleetSessionRole = (
  environment: ActorEnvironment<SessionServices>,
  options: FleetSessionRoleOptions,
  { recordOnLease }: Pick<RoleContext, 'recordOnLease'>,
): FleetSessionRole => {
  const { clusterId, shardAddress, rollupIntervalMs, credentialFiles } = options;
  const template = bootstrapTemplate(environment, options.bootstrapTemplateFile);
  const session = startFleetSession(environment, {
    clusterId,
    address: shardAddress,
    rollupIntervalMs,
    ...(credentialFiles === undefined ? {} : { credentialFiles }),
    render: template.render,
    record: recordOnLease,
  });
  return {
    ...roleDefaults('fleet-session', []),
    session,
    start: template.start,
    onLeading: () => session.setLeading(true),
    onLeadershipLost: () => session.setLeading(false),
    close: session.stop,
    stop: session.stop,
    dispose: async () => {
      template.stop();
      await session.stop();
    },
  };
};
