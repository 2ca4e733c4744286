/** Ends of drains, as their Events report them. */
import type { EndedDrain } from '../../../src/actors/node-drains/ended-drain.ts';

/** A drain that emptied its node in twelve seconds, but for these traits. */
export const endedDrain = (traits: Partial<EndedDrain> = {}): EndedDrain => ({
  end: 'Drained',
  seconds: 12.4,
  statelessSeconds: 12.4,
  lastError: '',
  forbidden: false,
  volumes: [],
  tolerating: [],
  acknowledged: [],
  lostPods: 0,
  ...traits,
});
