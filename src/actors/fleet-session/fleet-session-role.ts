/**
 * The role that runs the session with the shard.
 *
 * Promises: only the leader has a session; it is closed before shutdown waits for writes in flight
 * (DR-15).
 */
import { bootstrapRenderer } from '../../domain/bootstrap.ts';
import type { ClusterId } from '../../domain/ids.ts';
import type { Parsed } from '../../domain/text-file.ts';
import type { CredentialFiles } from '../../effects/credentials.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type FollowedFile, followedFile } from '../followed-file.ts';
import { type Role, type RoleContext, roleDefaults } from '../role.ts';
import type { SessionServices } from './fleet-session-actor.ts';
import { type FleetSession, startFleetSession } from './fleet-session.ts';
import type { RenderBootstrap } from './session-frames.ts';

/** The inputs of the role. */
export interface FleetSessionRoleOptions {
  readonly clusterId: ClusterId;
  /** `--shard-addr`. */
  readonly shardAddress: string;
  /** `--rollup-interval`. */
  readonly rollupIntervalMs: number;
  /** `--tls-renewal-delay`. */
  readonly renewalDelayMs?: number;
  /** Undefined: the built-in stub. */
  readonly bootstrapTemplateFile: string | undefined;
  /** Undefined: plaintext. */
  readonly credentialFiles: CredentialFiles | undefined;
}

/** The role, and its session. */
export interface FleetSessionRole extends Role {
  readonly session: FleetSession;
}

/** Creates the role, not leading. */
export const fleetSessionRole = (
  environment: ActorEnvironment<SessionServices>,
  options: FleetSessionRoleOptions,
  { recordOnLease }: Pick<RoleContext, 'recordOnLease'>,
): FleetSessionRole => {
  const { clusterId, shardAddress, rollupIntervalMs, renewalDelayMs, credentialFiles } = options;
  const template = bootstrapTemplate(environment, options.bootstrapTemplateFile);
  const session = startFleetSession(environment, {
    clusterId,
    address: shardAddress,
    rollupIntervalMs,
    ...(renewalDelayMs === undefined ? {} : { renewalDelayMs }),
    ...(credentialFiles === undefined ? {} : { credentialFiles }),
    render: template.render,
    record: recordOnLease,
  });
  return {
    ...roleDefaults('fleet-session', []),
    session,
    notices: [{ name: 'shard', failing: () => outageOf(session) }],
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

/** Begins with the reason, so that it leads to the runbook. */
const outageOf = ({ outage }: FleetSession): string | undefined => {
  const why = outage();
  return why === undefined ? undefined : `${why.reason}: ${why.note}`;
};

const parseTemplate = (text: string): Parsed<RenderBootstrap> => {
  const template = bootstrapRenderer(text);
  return template._tag === 'Ready'
    ? { _tag: 'Good', value: template.render }
    : { _tag: 'Bad', problem: template.problem };
};

/** No pull can be answered before the file was read. */
const UNREAD: RenderBootstrap = () => ({
  _tag: 'Failed',
  problem: 'The bootstrap template is not read yet',
});

/** Without a file. */
const stub = (): RenderBootstrap => {
  const template = bootstrapRenderer(undefined);
  return template._tag === 'Ready' ? template.render : UNREAD;
};

/** The template in use. */
export interface BootstrapTemplate extends Pick<FollowedFile<RenderBootstrap>, 'start' | 'stop'> {
  /** Renders with the current template. */
  readonly render: RenderBootstrap;
}

const LAST_RELOAD = 'tidegate_bootstrap_template_last_reload_successful';

/** The template of a file, or the stub without one; nothing is read before `start`. */
export const bootstrapTemplate = (
  environment: ActorEnvironment<never>,
  file: string | undefined,
): BootstrapTemplate => {
  const { telemetry } = environment;
  const path = file ?? '';
  const { values, start, stop } = followedFile(environment, {
    name: 'bootstrap template',
    file,
    absent: stub(),
    parser: () => Promise.resolve(parseTemplate),
    onChange: (change) => {
      if (change._tag === 'Accepted') {
        return telemetry.log('info', 'Bootstrap template in use', { file: path });
      }
      telemetry.gauge(LAST_RELOAD, 0);
      telemetry.count('tidegate_bootstrap_template_refused_total', 1);
      telemetry.log('warn', 'Bootstrap template rejected; the last valid one stays in use', {
        file: path,
        problem: change.problem,
      });
    },
  });
  let render = UNREAD;
  values.subscribe((inUse) => {
    render = inUse;
    telemetry.gauge(LAST_RELOAD, 1);
  });
  return { render: (pull) => render(pull), start, stop };
};
