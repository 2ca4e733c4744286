/**
 * The packages that `tidegate demo`, `cluster` and `fleet` run, loaded when they are asked for: an
 * operator is installed without them.
 *
 * Promises: a package that is not installed rejects with `PackageMissing`, which says what to
 * install; every other failure of loading stays what it is.
 */
import { textAt } from '../domain/json.ts';
import { VERSION } from './version.ts';

/** A package is not installed. A person must install it. */
export class PackageMissing extends Error {
  readonly _tag = 'PackageMissing';
  override readonly name = 'PackageMissing';

  constructor(command: string, packageName: string) {
    super(
      `Cannot run "tidegate ${command}": package "${packageName}" is not installed; ` +
        `install it with "npm install ${packageName}@${VERSION}"`,
    );
  }
}

/** Node and Deno agree on the code; a package whose own dependencies are missing has it too. */
const isMissing = (cause: unknown): boolean => textAt(cause, 'code') === 'ERR_MODULE_NOT_FOUND';

/** What `load` gives; rejects with `PackageMissing` where the package is not installed. */
export const loadOnDemand = async <Loaded>(
  command: string,
  packageName: string,
  load: () => Promise<Loaded>,
): Promise<Loaded> => {
  try {
    return await load();
  } catch (cause) {
    throw isMissing(cause) ? new PackageMissing(command, packageName) : cause;
  }
};

/** The stand-in fleet, for a command. */
export const loadStandInFleet = (command: 'demo' | 'fleet') =>
  loadOnDemand(command, '@tidegate/stand-in-fleet', () => import('@tidegate/stand-in-fleet'));
