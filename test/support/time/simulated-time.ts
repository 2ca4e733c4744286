/** Time that moves only when a test moves it: the simulated clock of the embedded cluster. */
export {
  type SimulatedTime,
  simulatedTime,
} from '../../../packages/embedded-kubernetes/src/values/simulated-time.ts';
