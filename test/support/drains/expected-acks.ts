/** What the fleet has read of acknowledgements, for tests of single nodes. */
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';
import type { FleetProcess } from '../processes/fleet-child.ts';
import { acksAt } from './reclaims.ts';

/** Waits for as many acknowledgements, each of an instruction for one node; in this order. */
export const expectAcks = async (
  fleet: FleetProcess,
  instructionIds: readonly (string | undefined)[],
): Promise<void> => {
  const acks = await eventually(async () => {
    const found = await acksAt(fleet);
    return found.length >= instructionIds.length && found;
  }, { what: `${instructionIds.length} acknowledgements` });
  expect(acks.map(({ instructionId }) => instructionId)).toEqual(instructionIds);
  // A cordon that takes longer than two seconds is not counted (DR-11).
  for (const { nodesStarted } of acks) expect(nodesStarted).toBeOneOf([0, 1]);
};
