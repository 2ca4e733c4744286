/**
 * Loaded with `--import` before a program: its wall clock is an hour ahead, and an hour behind
 * after SIGUSR2. Its monotonic clock and its timers are right.
 */
const HOUR_MS = 3_600_000;
const RightDate = Date;
let shiftMs = HOUR_MS;
process.on('SIGUSR2', () => {
  shiftMs = -HOUR_MS;
});

const now = (): number => RightDate.now() + shiftMs;

globalThis.Date = new Proxy(RightDate, {
  construct: (target, given) => Reflect.construct(target, given.length === 0 ? [now()] : given),
  get: (target, key) => key === 'now' ? now : Reflect.get(target, key),
});
