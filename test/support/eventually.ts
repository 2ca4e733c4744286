/** Bounded waiting, only for real processes: our own state is tested on simulated time. */
export { eventually, pause } from '../../tools/testbed/waiting.ts';
