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
  ...['this.#frameSlots.stop();', 'this.#drainSlots.stop();'].map((call) => ({
    file: 'src/actors/upcoming-nodes/upcoming-node-actor.ts',
    what: `without ${call}`,
    why: 'A registry that has stopped activates nothing, so that each slot is released at once.',
  })),
  {
    file: 'src/actors/capacity-requests/pod-demand-actor.ts',
    what: 'without this.#slots.stop();',
    why: 'A registry that has stopped activates nothing, so that each slot is released at once.',
  },
  {
    file: 'src/actors/fleet-session/session-events.ts',
    what: "connected ?? 'stopped' → connected",
    why:
      'The only state with states in it is `connected`; the fallback satisfies the type checker.',
  },
  {
    file: 'src/domain/drain/eviction-index.ts',
    what: 'entry !== undefined → true',
    why: 'An entry that is removed was added; the guard satisfies the type checker.',
  },
  {
    file: 'src/actors/pod-evictions/eviction-dispatcher.ts',
    what: 'compareCandidates(candidate, best.candidate, view) < 0 → ' +
      '(compareCandidates(candidate, best.candidate, view)) <= (0)',
    why: 'Ranks have no ties, and no pod is considered twice.',
  },
  {
    file: 'src/actors/pod-evictions/eviction-dispatcher.ts',
    what: 'this.#options.isCircuitClosed() → true',
    why: 'The dispatch that follows asks the circuit itself.',
  },
  {
    file: 'src/actors/pod-evictions/eviction-dispatcher.ts',
    what: 'this.#inFlight.delete(pod) → true',
    why: 'One more dispatch chooses what the one before would have chosen.',
  },
  {
    file: 'src/actors/pod-evictions/eviction-circuit-actor.ts',
    what: '!this.#isClosed → true',
    why: 'The statechart of a closed circuit ignores the event.',
  },
  {
    file: 'src/actors/pod-evictions/budget-actor.ts',
    what: "snapshot.matches('idle') → true",
    why: 'A budget that is not idle has a queue or calls, and stays when it is reviewed.',
  },
  {
    file: 'src/actors/pod-evictions/node-changes.ts',
    what: 'this.#changed.size === 1 → true',
    why: 'A second flush of the same microtask finds nothing to emit.',
  },
  {
    file: 'src/actors/pod-evictions/pod-eviction-actor.ts',
    what: 'actor.getSnapshot().matches(state) → true',
    why: 'A pod cancels its wait when it leaves the state; each of the two suffices.',
  },
  {
    file: 'src/actors/pod-evictions/pod-eviction-actor.ts',
    what: 'without dispatcher.cancel(uidOf(uid));',
    why: 'A pod that left the state is no candidate, and asks anew by replacing its wait.',
  },
  {
    file: 'src/actors/pod-evictions/pod-evictions.ts',
    what: "entry.state === 'gone' → false",
    why: 'A final actor takes no event, and a release ends no slot of an accepted eviction.',
  },
  {
    file: 'src/actors/pod-evictions/pod-evictions.ts',
    what: 'without this.#withSlot.delete(uid);',
    why: 'A pod that has no released actor is passed over at each step of a budget.',
  },
  {
    file: 'src/actors/node-availability/node-availabilities.ts',
    what: 'this.#protected.has(uid) === isProtected → false',
    why: 'The gauge is set again to the value that it has.',
  },
  {
    file: 'src/actors/informers/shared-informers.ts',
    what: 'union === undefined → false',
    why: 'A copy of the first part has the same fields.',
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
    what: 'pods.length === 0 → false',
    why: 'What is acknowledged is asked in vain of a drain that keeps no pod.',
  },
  {
    file: 'src/actors/node-drains/drain-events.ts',
    what: 'this.#recorded.size === 0 && Object.keys(node.cordons).length === 0 → false',
    why: 'A Node without annotations has no unrecognized one, and nothing of it is forgotten.',
  },
  {
    file: 'src/actors/node-drains/drains.ts',
    what: 'this.#isStopped → false',
    why: 'The slots are stopped in the same step and activate nothing afterwards.',
  },
  {
    file: 'src/domain/drain/rollouts.ts',
    what: 'known.length < 2 → false',
    why: 'Of one template none is younger.',
  },
  {
    file: 'src/domain/drain/cordon-limits.ts',
    what: 'text.length <= max → (text.length) < (max)',
    why: 'The beginning of a text that is just as long is that text.',
  },
  {
    file: 'src/effects/kube-connection.ts',
    what: 'call.answerBytesMax === undefined → false',
    why: 'An undefined bound is the default, as one that is left out.',
  },
  {
    file: 'src/effects/kube-connection.ts',
    what: 'call.mayLeave === undefined → false',
    why: 'An undefined question is the default, as one that is left out.',
  },
  {
    file: 'src/domain/drain/budget-index.ts',
    what: 'found.size === 0 → false',
    why: 'Any empty set is as good as the one that all pods without a budget share.',
  },
];
