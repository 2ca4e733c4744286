/**
 * Preloaded into a test's Node process: each SIGHUP sets its wall clock two hours ahead and leaves
 * its monotonic clock alone, like a clock correction.
 */
import process from 'node:process';

const JUMP_MS = 2 * 3600 * 1000;

let aheadMs = 0;
process.on('SIGHUP', () => {
  aheadMs += JUMP_MS;
});

const RealDate = globalThis.Date;
const present = (): number => RealDate.now() + aheadMs;

/** A Date whose present is ahead; times that are given stay as they are. */
const jumpingDate = new Proxy(RealDate, {
  construct: (date, given) => Reflect.construct(date, given.length === 0 ? [present()] : given),
  get: (date, key) => key === 'now' ? present : Reflect.get(date, key),
});

Reflect.set(globalThis, 'Date', jumpingDate);
