/** The first random seed of a process: the jitter of all its actors derives from it. */
import process from 'node:process';
import type { Seed } from '../../domain/random.ts';

/** Different for every process, so that those of one cluster do not retry in step. */
export const firstSeed = (): Seed => crypto.getRandomValues(new Uint32Array(1))[0] ?? process.pid;
