/**
 * Interceptors of EvictionRequests: your code runs before a pod is evicted, and reports while it
 * does. README.md has examples.
 */
export {
  defineInterceptor,
  type Interception,
  InterceptionAborted,
  type InterceptorDefinition,
} from './src/interceptor-definition.ts';
export {
  type InterceptionStatus,
  type InterceptorOptions,
  type Log,
  type RunningInterceptor,
  startInterceptor,
} from './src/running-interceptor.ts';
export type { InterceptionTiming } from './src/interception-context.ts';
export { interception } from './src/interception.ts';
export { requestWatch } from './src/request-watch.ts';
export type { AbortReason, TargetPod } from './src/observed-request.ts';
export type { Progress } from './src/report.ts';
export {
  errorTagOf,
  type KubernetesAnswer,
  type KubernetesClient,
  KubernetesError,
  type KubernetesErrorTag,
  type KubernetesRequest,
  type WatchLine,
} from './src/kubernetes-client.ts';
export type { Time } from './src/time.ts';
export { processSeed, realTime } from './src/real-time.ts';
export { type Surge, surge, type SurgeOptions } from './src/surge/surge.ts';
export type { SurgeTiming } from './src/surge/surge-context.ts';
export type { WithoutSurge } from './src/surge/surge-refusal.ts';
export { workloadSurge } from './src/surge/workload-surge.ts';
export { removal, type RemovalGate, type RemovalOptions } from './src/removal/removal.ts';
export { podRemoval, type RemovalVerdict } from './src/removal/pod-removal.ts';
export { command, type CommandOptions } from './src/command/command.ts';
export { jobRun } from './src/command/job-run.ts';
export type { JobTemplate } from './src/command/job.ts';
