/** Checks whether a role can work with the API server. */
import { Effect } from 'effect';
import { serverVersion } from '../effects/server-version.ts';
import type { PreflightResult } from '../machines/operator.ts';

/** Requests the server's version. Never fails. */
export const preflight = serverVersion.pipe(
  Effect.match({
    onSuccess: (seen): PreflightResult => {
      if (seen._tag === 'Supported') return { _tag: 'Supported', version: seen.version };
      return { _tag: seen._tag === 'TooOld' ? 'Unsupported' : 'Unreachable', why: seen.why };
    },
    onFailure: ({ why }): PreflightResult => ({ _tag: 'Unreachable', why }),
  }),
);
