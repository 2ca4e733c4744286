/**
 * A Kubernetes API server with controllers and kubelets, in memory: over HTTP, or in the process of
 * a test and on its time. README.md has examples.
 */
export { type ClusterRunOptions, runCluster, type RunningCluster } from './src/run.ts';
export {
  type AuthorizationMode,
  type Cluster,
  type ClusterOptions,
  makeCluster,
} from './src/cluster.ts';
export type { TokenUser } from './src/authentication/authenticator.ts';
export { tokenUsersIn } from './src/authentication/token-file.ts';
export type { ClusterAnswer, ClusterRequest, ClusterResponse } from './src/api.ts';
export { type BoundAddress, serveCluster } from './src/http/server.ts';
export { withSimulation } from './src/http/simulation-routes.ts';
export { type Controllers, startControllers } from './src/controllers/controllers.ts';
export {
  type ControllerEnvironment,
  type ControllerTiming,
  DEFAULT_TIMING,
} from './src/controllers/controller-environment.ts';
export { storeEnvironment } from './src/controllers/store-environment.ts';
export { type LoadedList, type LoadedObjects, loadObjects } from './src/loading.ts';
export { startNode } from './src/kinds/nodes.ts';
export { type ScaledClock, scaledClock } from './src/scaled-clock.ts';
export { type SimulatedTime, simulatedTime } from './src/values/simulated-time.ts';
export { seededRandom } from './src/values/random.ts';
export type { Time } from './src/values/time.ts';
