/**
 * The scale of a test: small enough for every commit, or as large as before a release.
 *
 * Promises: the same test at both scales; only numbers differ, never the assertions.
 */
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** `npm test` is `commit`, `npm run test:full` is `release`. */
    readonly scale: 'commit' | 'release';
  }
}

/** A number at the scale of this run. */
export const atScale = (sizes: { readonly commit: number; readonly release: number }): number =>
  sizes[inject('scale')];

/** Whether this run is as large as before a release. */
export const isReleaseScale = (): boolean => inject('scale') === 'release';
