/** All areas of the contract, in the order in which they run. */
import { access } from './cases/access.ts';
import { applyStructures } from './cases/apply-structures.ts';
import { apply } from './cases/apply.ts';
import { customResources } from './cases/custom-resources.ts';
import { defaults } from './cases/defaults.ts';
import { deletions } from './cases/deletions.ts';
import { discovery } from './cases/discovery.ts';
import { escalation } from './cases/escalation.ts';
import { evictions } from './cases/evictions.ts';
import { fields } from './cases/fields.ts';
import { managedFields } from './cases/managed-fields.ts';
import { owners } from './cases/owners.ts';
import { pages } from './cases/pages.ts';
import { patches } from './cases/patches.ts';
import { policies } from './cases/policies.ts';
import { policyMatching } from './cases/policy-matching.ts';
import { policyRequests } from './cases/policy-requests.ts';
import { protobuf } from './cases/protobuf.ts';
import { refusals } from './cases/refusals.ts';
import { rights } from './cases/rights.ts';
import { selectors } from './cases/selectors.ts';
import { shapes } from './cases/shapes.ts';
import { subresources } from './cases/subresources.ts';
import { tables } from './cases/tables.ts';
import { users } from './cases/users.ts';
import { validity } from './cases/validity.ts';
import { versions } from './cases/versions.ts';
import { watches } from './cases/watches.ts';
import { controllerBudgets } from './controllers/budgets.ts';
import { controllerScheduling } from './controllers/scheduling.ts';
import { controllerWorkloads } from './controllers/workloads.ts';
import type { Area } from './suite.ts';

/** Guarantees of the API server alone, and of a garbage collector with it. */
export const SERVER_AREAS: readonly Area[] = [
  refusals,
  protobuf,
  shapes,
  defaults,
  fields,
  validity,
  versions,
  selectors,
  pages,
  watches,
  patches,
  managedFields,
  apply,
  applyStructures,
  subresources,
  customResources,
  evictions,
  deletions,
  owners,
  access,
  users,
  rights,
  escalation,
  policies,
  policyRequests,
  policyMatching,
  discovery,
  tables,
];

/** Effects of controllers, scheduler and kubelets. */
export const CONTROLLER_AREAS: readonly Area[] = [
  controllerBudgets,
  controllerWorkloads,
  controllerScheduling,
];
