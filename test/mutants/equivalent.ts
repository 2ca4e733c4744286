/**
 * Mutations that change nothing that anyone could see, each with the reason.
 *
 * Promises: they are known by their file and their change, not by a line; samples are drawn as if
 * they did not exist.
 */

/** A mutation that no test can catch. */
export interface EquivalentMutation {
  readonly file: string;
  /** As the output of `npm run mutate` has it. */
  readonly what: string;
  readonly why: string;
}

export const EQUIVALENT: readonly EquivalentMutation[] = [
  {
    file: 'src/effects/frames.ts',
    what: 'bytes > SHARD_LIMITS.machine_bytes.max → (bytes) >= (SHARD_LIMITS.machine_bytes.max)',
    why: 'The exact check follows; this one saves it for frames that are small enough.',
  },
  {
    file: 'src/effects/exec-plugins.ts',
    what: "typeof authenticator !== 'object' || authenticator === null → " +
      "(typeof authenticator !== 'object') && (authenticator === null)",
    why: 'The authenticators of client-node are objects; the guard satisfies the type checker.',
  },
  {
    file: 'src/actors/informers/list-watches.ts',
    what: "listed ?? '' → listed",
    why: 'A list that ended has a resourceVersion; the fallback satisfies the type checker.',
  },
  {
    file: 'src/actors/informers/list-watches.ts',
    what: 'entry === undefined → false',
    why: 'A list-watch runs only while its entry is there; the guard names the defect otherwise.',
  },
  {
    file: 'src/domain/drain/eviction-index.ts',
    what: 'entry !== undefined → true',
    why: 'An entry that is removed was added; the guard satisfies the type checker.',
  },
  {
    file: 'src/actors/node-drains/drain-pods.ts',
    what: 'due.length < present.length → (due.length) <= (present.length)',
    why: 'A plan of the same pods on the same terms is the same plan.',
  },
  {
    file: 'src/actors/node-drains/drain-pods.ts',
    what: 'due.length < present.length → true',
    why: 'A plan of the same pods on the same terms is the same plan.',
  },
  {
    file: 'src/actors/node-drains/drain-pods.ts',
    what: '!uids.has(uid) → false',
    why: 'It frees the memory of pods that are gone; a UID never comes back.',
  },
  {
    file: 'src/actors/node-drains/drain-pods.ts',
    what: 'pods.length === 0 → false',
    why: 'What is acknowledged is asked in vain of a drain that keeps no pod.',
  },
  {
    file: 'src/actors/node-drains/drain-events.ts',
    what: 'this.#recorded.size === 0 && Object.keys(node.cordons).length === 0 → false',
    why: 'A Node without annotations has no unrecognized one, and nothing of it is forgotten.',
  },
];
