/** Whether the API server is one that a role can work with. */
import { Effect } from 'effect';
import { serverVersion } from '../effects/server-version.ts';
import type { PreflightResult } from '../machines/operator.ts';

/** Asks it who it is. Never fails. */
export const preflight = serverVersion.pipe(
  Effect.match({
    onSuccess: (seen): PreflightResult => {
      if (seen._tag === 'Supported') return { _tag: 'Supported', version: seen.version };
      return { _tag: seen._tag === 'TooOld' ? 'Unsupported' : 'Unreachable', why: seen.why };
    },
    onFailure: ({ why }): PreflightResult => ({ _tag: 'Unreachable', why }),
  }),
);
