/** The reasons of Nodes that fail, a part of the registry in `src/api/reasons.ts`. */
import type { Reason } from '../reason.ts';

const registry = <const Entries extends Record<string, Reason>>(entries: Entries): Entries =>
  entries;

/** What a Node waits for, and what became of its pods. */
export const AVAILABILITY_REASONS = registry({
  NodeDegraded: {
    type: 'Warning',
    action: 'TaintNode',
    sentence: 'A problem condition of the Node lasts, so no new pods are placed there',
    canAct: 'platform',
    runbook: 'node-degraded',
  },
  NodeProblemSettling: {
    type: 'Normal',
    action: 'WatchNode',
    sentence: 'A problem condition of the Node has just begun or ended and may change again',
    canAct: 'nobody',
  },
  NodeOffline: {
    type: 'Warning',
    action: 'ReplacePods',
    sentence: 'The Node does not answer; its stateless pods are replaced elsewhere',
    canAct: 'provider',
    runbook: 'node-offline',
  },
  NodeOfflineSettling: {
    type: 'Normal',
    action: 'WatchNode',
    sentence: 'The Node has just gone offline; other Nodes may follow, which would be a storm',
    canAct: 'nobody',
  },
  NodeBack: {
    type: 'Normal',
    action: 'WatchNode',
    sentence: 'The Node answers again after it was offline',
    canAct: 'nobody',
  },
  OfflineStorm: {
    type: 'Warning',
    action: 'WatchNodes',
    sentence: 'Many Nodes went offline together, so none of their pods is deleted',
    canAct: 'platform',
    runbook: 'offline-storm',
  },
  VolumeHomeNodeOffline: {
    type: 'Warning',
    action: 'KeepPod',
    sentence: 'The Node that has the volumes of the pod is offline, so the pod is not replaced',
    canAct: 'platform',
    runbook: 'volume-home-node-offline',
  },
  LostPodsFailing: {
    type: 'Warning',
    action: 'ReplacePods',
    sentence: 'Pods of an offline Node could not be deleted',
    canAct: 'platform',
    runbook: 'lost-pods-failing',
  },
});
