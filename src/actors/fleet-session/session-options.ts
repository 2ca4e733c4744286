/** The options and dependencies of a session. */
import type { ClusterId } from '../../domain/ids.ts';
import type { CredentialFiles, Credentials } from '../../effects/credentials.ts';
import type { ShardCalls } from '../../effects/shard-call.ts';
import type { RenderBootstrap } from './session-frames.ts';
import type { RecordOnLease } from '../role.ts';

/** The session's dependencies on the environment. */
export type SessionServices = ShardCalls | Credentials;

export interface FleetSessionOptions {
  readonly clusterId: ClusterId;
  /** `host:port` of the shard. */
  readonly address: string;
  readonly rollupIntervalMs: number;
  /** Mutual TLS; plaintext without. */
  readonly credentialFiles?: CredentialFiles;
  /** How often the key files are read; default `CREDENTIALS_POLL_MS`. */
  readonly credentialsPollMs?: number;
  readonly render: RenderBootstrap;
  readonly record: RecordOnLease;
}
