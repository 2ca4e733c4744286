/** The bounds of an EvictionRequest: what its schema accepts and what a reader keeps. */

/** Lengths of lists and texts. */
export const EVICTION_REQUEST_LIMITS = {
  /** Names in `spec.requesters` (ER-06). */
  requesters: 100,
  /** Names in the annotation of a pod. */
  podInterceptors: 15,
  /** Of the pod, two defaults by owner, and the imperative eviction. */
  targetInterceptors: 18,
  conditions: 32,
  /** What the schema accepts, so that a long text never blocks a heartbeat (ER-41). */
  messageCharacters: 65_536,
  /** What readers keep of a message. */
  messageCharactersRead: 4000,
  /** A pod name, a UID, a reason. */
  textCharacters: 253,
} as const;
