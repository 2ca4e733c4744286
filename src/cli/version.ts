/** The version of this program, from its package. */
import manifest from '../../package.json' with { type: 'json' };

/** As in `0.1.0`. */
export const VERSION: string = manifest.version;
