/**
 * Decides whether Nodes that go offline together are a failure of the network or of the control
 * plane rather than of machines (RS-06).
 *
 * Promises: pure; a Node that was handled before the storm is not counted again, and one that is
 * still protected is.
 */

/** When Nodes count together, and how many make a storm. */
export const STORM_LIMITS = { windowMs: 300_000, nodes: 3, percent: 20 } as const;

/** A Node that is offline. */
export interface OfflineNode {
  readonly name: string;
  /** How long ago it went offline; null for one that a former process handled. */
  readonly sinceMs: number | null;
  /** It is in a storm already. */
  readonly isProtected: boolean;
}

/** The limits and the size of the cluster. */
export interface StormTerms {
  /** All Nodes of the cluster. */
  readonly nodes: number;
  /** `--offline-storm-limit`: the percentage that is no storm yet; 100 turns the guard off. */
  readonly limitPercent: number;
}

/** The Nodes of the storm, by name; none without one. */
export const stormNodes = (
  offline: readonly OfflineNode[],
  { nodes, limitPercent }: StormTerms,
): readonly string[] => {
  const counted = offline.filter(({ sinceMs, isProtected }) =>
    isProtected || (sinceMs !== null && sinceMs <= STORM_LIMITS.windowMs)
  );
  const isStorm = counted.length > STORM_LIMITS.nodes &&
    counted.length * 100 > limitPercent * nodes && limitPercent < 100;
  return isStorm ? counted.map(({ name }) => name).toSorted() : [];
};
