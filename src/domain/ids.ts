/** Branded names, so that a machine id cannot be passed as a node name. */
import { API_GROUP } from './api-group.ts';

declare const brand: unique symbol;

/** A string that is known to be a `Name`. */
export type Branded<Name extends string> = string & { readonly [brand]: Name };

/** The fleet's name for a machine (`NodeStateUpdate.machine_id`). */
export type MachineId = Branded<'MachineId'>;
/** The fleet's name for this cluster (`--cluster-id`). */
export type ClusterId = Branded<'ClusterId'>;
/** The shard's name for a reclaim (`ReclaimInstruction.instruction_id`). */
export type InstructionId = Branded<'InstructionId'>;
/** `namespace/name`, or `name` for an object of the cluster. */
export type ObjectKey = Branded<'ObjectKey'>;
/** `metadata.uid`. */
export type Uid = Branded<'Uid'>;
/** `metadata.resourceVersion`: opaque, compared for equality and handed back. */
export type ResourceVersion = Branded<'ResourceVersion'>;

/**
 * Holds the machine's id on its UpcomingNode, because a hashed name cannot be reversed; may also be
 * a label of its Node.
 */
export const MACHINE_ID_KEY = `${API_GROUP}/machine-id`;

/**
 * The same as a label of a Node that a kubelet may not write (NodeRestriction), so that it outranks
 * `MACHINE_ID_KEY` there.
 */
export const RESTRICTED_MACHINE_ID_KEY = `${API_GROUP}.node-restriction.kubernetes.io/machine-id`;

/** Each brands a text; nothing is validated. */
export const machineId = (id: string): MachineId => id as MachineId;
export const clusterId = (id: string): ClusterId => id as ClusterId;
export const instructionId = (id: string): InstructionId => id as InstructionId;
export const uid = (id: string): Uid => id as Uid;
export const resourceVersion = (version: string): ResourceVersion => version as ResourceVersion;

/** The key of an object: `namespace/name`, or `name` when it has no namespace. */
export const objectKey = (name: string, namespace?: string): ObjectKey =>
  (namespace === undefined || namespace === '' ? name : `${namespace}/${name}`) as ObjectKey;
