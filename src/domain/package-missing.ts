/**
 * Loads packages on demand, because an operator is installed without them.
 *
 * Promises: a missing package rejects with `PackageMissing`, which says what to install; other load
 * failures pass through unchanged.
 */
import { textAt } from './json.ts';

/** A package is not installed. A person must install it. */
export class PackageMissing extends Error {
  readonly _tag = 'PackageMissing';
  override readonly name = 'PackageMissing';

  /** `purpose` completes "Cannot …"; `specifier` is for npm: `name@version`. */
  constructor(purpose: string, specifier: string) {
    const name = specifier.replace(/(?<=.)@.*$/, '');
    super(
      `Cannot ${purpose}: package "${name}" is not installed; ` +
        `install it with "npm install ${specifier}"`,
    );
  }
}

/** Node and Deno share this code. */
const isMissing = (cause: unknown): boolean => textAt(cause, 'code') === 'ERR_MODULE_NOT_FOUND';

/**
 * The module that `load` imports.
 *
 * @example
 * const fleet = await loadOnDemand('run a fleet', 'some-fleet@1.0.0', () => import('some-fleet'));
 */
export const loadOnDemand = async <Loaded>(
  purpose: string,
  specifier: string,
  load: () => Promise<Loaded>,
): Promise<Loaded> => {
  try {
    return await load();
  } catch (cause) {
    throw isMissing(cause) ? new PackageMissing(purpose, specifier) : cause;
  }
};
