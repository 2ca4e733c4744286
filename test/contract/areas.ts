/** All areas of the contract, in the order in which they run. */
import { access } from './cases/access.ts';
import { customResources } from './cases/custom-resources.ts';
import { deletions } from './cases/deletions.ts';
import { discovery } from './cases/discovery.ts';
import { evictions } from './cases/evictions.ts';
import { owners } from './cases/owners.ts';
import { pages } from './cases/pages.ts';
import { patches } from './cases/patches.ts';
import { refusals } from './cases/refusals.ts';
import { selectors } from './cases/selectors.ts';
import { shapes } from './cases/shapes.ts';
import { subresources } from './cases/subresources.ts';
import { tables } from './cases/tables.ts';
import { versions } from './cases/versions.ts';
import { watches } from './cases/watches.ts';
import type { Area } from './suite.ts';

/** Every area. */
export const AREAS: readonly Area[] = [
  refusals,
  shapes,
  versions,
  selectors,
  pages,
  watches,
  patches,
  subresources,
  customResources,
  evictions,
  deletions,
  owners,
  access,
  discovery,
  tables,
];
