/**
 * Names of the objects that Tidegate writes (UPN-04, AVC-01). The mapping is deterministic, and
 * every name is valid for the API server.
 */
import type { MachineId } from './ids.ts';
import { sha256Hex } from './sha256.ts';

/** Hexadecimal digits kept of a hash: 128 bits, enough against accidental collisions. */
const HASH_DIGITS = 32;
const SUBDOMAIN_LENGTH_MAX = 253;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Whether `name` is a DNS-1123 subdomain, as the API server requires for most names. */
export const isSubdomain = (name: string): boolean =>
  name.length <= SUBDOMAIN_LENGTH_MAX && SUBDOMAIN.test(name);

const hashed = (text: string): string => sha256Hex(text).slice(0, HASH_DIGITS);

/**
 * `un-<machine id>`, or `un-` and a hash when that is invalid. A hash cannot be reversed; the
 * annotation `bigfleet.lucy.sh/machine-id` holds the id.
 */
export const upcomingNodeName = (machine: MachineId): string => {
  const plain = `un-${machine}`;
  return isSubdomain(plain) ? plain : `un-${hashed(machine)}`;
};

/** `ac-` and a hash of the update's supersedes key. */
export const availableCapacityName = (supersedesKey: string): string =>
  `ac-${hashed(supersedesKey)}`;
