/** Where the chance of a process begins: jitter of all its actors is drawn from this seed. */
import process from 'node:process';
import type { Seed } from '../domain/random.ts';

/** Another one for every process, so that those of one cluster do not retry in step. */
export const firstSeed = (): Seed => crypto.getRandomValues(new Uint32Array(1))[0] ?? process.pid;
