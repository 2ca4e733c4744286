/** One invariant of the simulation, on a cluster without an operator that is calm throughout. */
import { onTestFinished } from 'vitest';
import { embeddedSite, type SiteOptions } from '../../simulation/embedded-site.ts';
import type { Bench, Invariant } from '../../simulation/invariant.ts';
import { simulatedTime } from '../time/simulated-time.ts';

const PROVIDER_DRAIN_MS = 60_000;

/** Builds it; it is taken down when the test has finished. */
export const invariantRig = (
  make: (bench: Bench) => Invariant,
  more: Partial<SiteOptions> = {},
) => {
  const time = simulatedTime();
  const site = embeddedSite({ seed: 1, providerDrainMs: PROVIDER_DRAIN_MS, ...more }, time);
  onTestFinished(site.stop);
  const names: string[] = [];
  const breaches: string[] = [];
  const invariant = make({
    site,
    time,
    broken: (name, what) => {
      names.push(name);
      breaches.push(what);
    },
    calmMs: () => Infinity,
    cordonedByPerson: new Set(),
    startedMs: () => 0,
  });
  return {
    time,
    site,
    invariant,
    /** The name of the invariant, once for each breach. */
    names,
    /** What was wrong. */
    breaches,
    /** Lets time pass, and asks the invariant each second. */
    pass: async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        await time.advance(1000);
        invariant.tick?.();
      }
    },
  };
};
