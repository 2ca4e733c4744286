/** Actors with their data, as a process would show them, for tests of the drain board. */
import type { ActorBoard, ActorRow, ActorStep } from '../../../src/api/actor-board.ts';
import { kindInId } from '../../../src/api/actor-board.ts';

/** The time of these scenes. */
export const NOW_MS = Date.parse('2026-01-01T12:00:00Z');
const MINUTE_MS = 60_000;

/** An actor: what is left out is as usual. */
export interface SceneActor extends Partial<Omit<ActorRow, 'id'>> {
  readonly id: string;
  readonly context?: unknown;
  /** Its history; one step by default. */
  readonly path?: readonly ActorStep[];
}

/** A board of these actors. */
export const sceneOf = (actors: readonly SceneActor[]): Pick<ActorBoard, 'rows' | 'context'> => {
  const contexts = new Map(actors.map(({ id, context }) => [id, context]));
  return ({
    rows: () =>
      actors.map(({ context: _, path: __, ...row }): ActorRow => ({
        kind: kindInId(row.id),
        state: '',
        reason: null,
        status: 'active',
        sinceMs: NOW_MS - MINUTE_MS,
        bornMs: NOW_MS - MINUTE_MS,
        ...row,
      })),
    context: (id) => contexts.get(id),
  });
};

const DRAINING = 'clock.beforeLastQuarter bindings.complete work.underway.draining.open';

/** A drain that goes on, with so many pods left. */
export const drainOf = (
  node: string,
  left: number,
  more: Partial<SceneActor> & { readonly with?: object } = {},
): SceneActor => {
  const { with: extra, ...row } = more;
  return {
    id: `nodeDrain/${node}`,
    state: DRAINING,
    reason: 'WaitingForPods',
    ...row,
    context: {
      name: node,
      owner: 'reclaim',
      node: { unschedulable: true, cordons: {} },
      orders: [],
      annotation: {
        ids: ['reclaim-1'],
        sinceMs: NOW_MS - MINUTE_MS,
        deadlineMs: NOW_MS + 10 * MINUTE_MS,
        graceSeconds: 660,
      },
      podCounts: { left, tiers: [] },
      end: null,
      problem: '',
      verdict: null,
      ...extra,
    },
  };
};

/** The eviction of a pod `default/<name>`. */
export const podOf = (
  name: string,
  node: string,
  more: Partial<SceneActor> & { readonly budget?: string; readonly with?: object } = {},
): SceneActor => {
  const { budget, with: extra, ...row } = more;
  const need = budget === undefined ? { _tag: 'None' } : { _tag: 'One', budget };
  return {
    id: `podEviction/default/${name}`,
    state: budget === undefined ? 'asking' : 'queued',
    reason: budget === undefined ? 'WaitingForTurn' : 'BlockedByBudget',
    ...row,
    context: { uid: `uid-${name}`, key: `default/${name}`, node, facts: { need }, ...extra },
  };
};

/** The budget `default/db` with ten pods. */
export const budgetOf = (
  queue: readonly string[],
  { maxUnavailable = 1, healthy = 10, reservations = 0 } = {},
): SceneActor => {
  const desiredHealthy = 10 - maxUnavailable;
  return {
    id: 'budget/default/db',
    state: 'exhausted',
    reason: 'BlockedByBudget',
    context: {
      budget: {
        key: 'default/db',
        namespace: 'default',
        name: 'db',
        generation: 1,
        observedGeneration: 1,
        disruptionsAllowed: Math.max(0, healthy - desiredHealthy),
        currentHealthy: healthy,
        desiredHealthy,
        expectedPods: 10,
        disruptedPods: {},
        countsControllers: true,
        syncProblem: '',
        limit: { field: 'maxUnavailable', value: String(maxUnavailable) },
      },
      queue: queue.map((name) => `uid-${name}`),
      reservations: Array.from({ length: reservations }, (_, at) => ({ pod: `uid-held-${at}` })),
    },
  };
};

/** A machine in a phase, with a node of the same name. */
export const machineIn = (node: string, phase: string, lastError = ''): SceneActor => ({
  id: `upcomingNode/${node}`,
  state: 'settled',
  context: { name: node, facts: { current: { nodeName: node, phase, lastError } } },
});
