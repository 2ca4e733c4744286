/**
 * The metrics of a concurrency limit under the names of client-go's work queues.
 *
 * Promises: an object waits for a slot or holds one at most once, so `workqueue_depth` counts
 * objects, as it does in client-go.
 */
import type { ActorEnvironment } from './actor-environment.ts';
import type { SlotChange } from './concurrency-limit.ts';

/** Names of queues: the label `name` of their metrics. */
export type WorkqueueName = 'evictionrequests';

/** The `onChange` of a concurrency limit that counts as the work queue `name`. */
export const workqueueMetrics = (
  { telemetry, time }: Pick<ActorEnvironment<never>, 'telemetry' | 'time'>,
  name: WorkqueueName,
): (change: SlotChange, key: string) => void => {
  const labels = { name };
  /** Since when each waits, and since when each holds its slot. */
  const [waitingMs, workingMs] = [new Map<string, number>(), new Map<string, number>()];
  const secondsSince = (sinceMs: number | undefined): number =>
    sinceMs === undefined ? 0 : (time.monotonic() - sinceMs) / 1000;
  // Its series begin with the queue, so that the first retry is an increase.
  telemetry.gauge('workqueue_depth', 0, labels);
  telemetry.count('workqueue_adds_total', 0, labels);
  telemetry.count('workqueue_retries_total', 0, labels);
  return (change, key) => {
    switch (change) {
      case 'requested':
        waitingMs.set(key, time.monotonic());
        telemetry.count('workqueue_adds_total', 1, labels);
        break;
      case 'acquired':
        telemetry.observe(
          'workqueue_queue_duration_seconds',
          secondsSince(waitingMs.get(key)),
          labels,
        );
        waitingMs.delete(key);
        workingMs.set(key, time.monotonic());
        break;
      case 'released':
        telemetry.observe(
          'workqueue_work_duration_seconds',
          secondsSince(workingMs.get(key)),
          labels,
        );
        workingMs.delete(key);
    }
    telemetry.gauge('workqueue_depth', waitingMs.size, labels);
  };
};
