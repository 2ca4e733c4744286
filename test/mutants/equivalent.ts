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
    file: 'src/actors/node-drains/drains.ts',
    what: 'this.#isStopped → false',
    why: 'The slots are stopped in the same step and activate nothing afterwards.',
  },
];
