/** The name of a NodeMaintenance, branded, so that it cannot be passed as the name of a node. */
import type { Branded } from '../ids.ts';

/** `metadata.name` of a NodeMaintenance. */
export type MaintenanceName = Branded<'MaintenanceName'>;

/** Brands a text; nothing is validated. */
export const maintenanceName = (name: string): MaintenanceName => name as MaintenanceName;
