/** Polls the key files and publishes changes. */
import { Effect } from 'effect';
import { exhaustMap, type Observable, timer } from 'rxjs';
import type { CredentialsChange } from '../../domain/credentials.ts';
import type { ClusterId } from '../../domain/ids.ts';
import { type CredentialFiles, Credentials } from '../../effects/credentials.ts';
import { credentialChanges } from '../../streams/credential-changes.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/**
 * The default poll interval. Polling, because a mounted Secret swaps symbolic links under the
 * names, which file watches miss.
 */
export const CREDENTIALS_POLL_MS = 10_000;

/** The files, their server name and the poll interval. */
export interface KeyFiles {
  readonly files: CredentialFiles;
  readonly clusterId: ClusterId;
  readonly pollMs: number;
}

/** Changes of the key pair, from the first reading on, while subscribed. */
export const watchCredentials = (
  environment: ActorEnvironment<Credentials>,
  { files, clusterId, pollMs }: KeyFiles,
): Observable<CredentialsChange> => {
  const read = Effect.gen(function* () {
    const credentials = yield* Credentials;
    return yield* credentials.read(files, clusterId);
  });
  return timer(0, pollMs, environment.scheduler).pipe(
    exhaustMap(() => environment.runtime.runPromise(read)),
    credentialChanges(),
  );
};
