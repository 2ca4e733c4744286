/** Looks at the key files again and again and tells what changed. */
import { Effect } from 'effect';
import { exhaustMap, type Observable, timer } from 'rxjs';
import type { CredentialsChange } from '../../domain/credentials.ts';
import type { ClusterId } from '../../domain/ids.ts';
import { type CredentialFiles, Credentials } from '../../effects/credentials.ts';
import { credentialChanges } from '../../streams/credential-changes.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/**
 * How often the files are read, unless told otherwise. Polling, because a mounted Secret swaps
 * symbolic links under the names, which file watches miss.
 */
export const CREDENTIALS_POLL_MS = 10_000;

/** Which files, for whom, and how often they are read. */
export interface KeyFiles {
  readonly files: CredentialFiles;
  readonly clusterId: ClusterId;
  readonly pollMs: number;
}

/** Changes of the key pair, from the first reading on, for as long as it is subscribed. */
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
