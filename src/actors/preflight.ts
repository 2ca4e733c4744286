/** Whether the API server is one that a role can work with. */
import { Effect } from 'effect';
import { serverVersion } from '../effects/server-version.ts';
import type { Fitness } from '../machines/operator.ts';

/** Asks it who it is. Never fails. */
export const preflight = serverVersion.pipe(
  Effect.match({
    onSuccess: (seen): Fitness => {
      if (seen._tag === 'Supported') return { _tag: 'Fit', version: seen.version };
      return { _tag: seen._tag === 'TooOld' ? 'Unfit' : 'Unreachable', why: seen.why };
    },
    onFailure: ({ why }): Fitness => ({ _tag: 'Unreachable', why }),
  }),
);
