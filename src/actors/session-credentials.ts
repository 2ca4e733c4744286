/** Looks at the key files again and again and tells what changed. */
import { Effect } from 'effect';
import { exhaustMap, type Observable, timer } from 'rxjs';
import type { CredentialsChange } from '../domain/credentials.ts';
import type { ClusterId } from '../domain/ids.ts';
import { type CredentialFiles, Credentials } from '../effects/credentials.ts';
import { credentialChanges } from '../streams/credential-changes.ts';
import type { World } from './world.ts';

/**
 * How often the files are read. Polling, because a mounted Secret swaps symbolic links under the
 * names, which file watches miss.
 */
const POLL_MS = 10_000;

/** Changes of the key pair, from the first reading on, for as long as it is subscribed. */
export const watchCredentials = (
  world: World<Credentials>,
  files: CredentialFiles,
  clusterId: ClusterId,
): Observable<CredentialsChange> => {
  const read = Effect.gen(function* () {
    const credentials = yield* Credentials;
    return yield* credentials.read(files, clusterId);
  });
  return timer(0, POLL_MS, world.scheduler).pipe(
    exhaustMap(() => world.runtime.runPromise(read)),
    credentialChanges(),
  );
};
