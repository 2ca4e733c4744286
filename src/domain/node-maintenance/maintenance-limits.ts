/** The bounds of a NodeMaintenance: what its schema accepts and what a reader keeps. */

/** Lengths of lists and texts. */
export const NODE_MAINTENANCE_LIMITS = {
  /** Terms of the node selector, any of which may hold. */
  selectorTerms: 10,
  /** Conditions of one term, and of a pod selector. */
  conditions: 10,
  /** Of a pod selector in a status, which has labels as conditions. */
  reportedConditions: 20,
  /** Values of one condition. */
  values: 100,
  /** A value of a label, or the name of a node. */
  valueCharacters: 253,
  /** Entries of the written plan; twelve more are added (NM-24). */
  planEntries: 32,
  reasonCharacters: 1024,
  /** A week. */
  windowMinutes: 10_080,
  /** A name, a label key or a label value. */
  textCharacters: 253,
  /** Nodes of one maintenance; its status must fit into one object (NM-40). */
  nodes: 1000,
  /** Items of `drainTargets` of one node. */
  drainTargets: 64,
  /** What readers keep of a message, and writers write. */
  messageCharacters: 1024,
  statusConditions: 32,
  /** Findings of a preview. */
  findings: 20,
  stages: 4,
} as const;
