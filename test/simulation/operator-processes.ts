/** The operator processes of a simulated world: which run, which leads, and restarts. */
import { textAt } from '../../src/domain/json.ts';
import type { ApiTap } from './api-line.ts';
import type { Sent } from './invariant.ts';
import {
  LEASE,
  NAMESPACE,
  ORDINARY_FLAGS,
  type ProcessFlags,
  type SimulatedProcess,
  startProcess,
} from './simulated-process.ts';
import type { WorldState } from './world-state.ts';

/** The expiry of a lease, and the initial lists of the next leader. */
export const TAKEOVER_MS = 25_000;

const tapOf = ({ invariants }: WorldState) => (process: string): ApiTap => ({
  leaves: (call) => {
    const sent: Sent = { process, call };
    for (const invariant of invariants) invariant.leaves?.(sent);
    return (answer) => {
      for (const invariant of invariants) invariant.answered?.(sent, answer);
    };
  },
  done: (call, answer) => {
    for (const invariant of invariants) invariant.done?.({ process, call }, answer);
  },
  arrives: (path, lines) => {
    for (const invariant of invariants) invariant.arrives?.(process, path, lines);
  },
});

/** Creates the set of processes, with none running. */
export const operatorProcesses = (state: WorldState, flags: ProcessFlags = ORDINARY_FLAGS) => {
  const { time, siteOptions, site, invariants, interceptor, weather, starts, trouble, log } = state;
  const processes: SimulatedProcess[] = [];
  let number = 0;

  const start = (): void => {
    number += 1;
    // Before it runs: for invariants.
    starts.set(`process-${number}`, time.monotonic());
    log.note(`process-${number} starts`);
    trouble(TAKEOVER_MS);
    processes.push(startProcess({
      time,
      seed: siteOptions.seed,
      handle: site.answer,
      script: () => site.script,
      interceptor,
      weather,
      flags,
      witness: {
        tap: tapOf(state),
        frame: (from, frame) => {
          for (const invariant of invariants) invariant.frame?.(from, frame);
        },
        delivered: (to, frame) => {
          for (const invariant of invariants) invariant.delivered?.(to, frame);
        },
        logged: (from, entry) => {
          for (const invariant of invariants) invariant.logged?.(from, entry);
        },
        ...(invariants.some(({ inspection }) => inspection !== undefined)
          ? {
            inspection: (from, event) =>
              invariants.forEach((invariant) => invariant.inspection?.(from, event)),
          }
          : {}),
      },
    }, number));
  };
  /** The lease holder; else any running process. */
  const leader = (): SimulatedProcess | undefined => {
    const lease = site.cluster.store.collection('leases.coordination.k8s.io')
      .get({ namespace: NAMESPACE, name: LEASE });
    const holder = textAt(lease, 'spec', 'holderIdentity');
    return processes.find(({ identity }) => identity === holder) ?? processes[0];
  };
  /** Another process starts after `forMs`, if given. */
  const leave = (process: SimulatedProcess, forMs?: number): void => {
    processes.splice(processes.indexOf(process), 1);
    trouble((forMs ?? 0) + TAKEOVER_MS);
    if (forMs !== undefined) time.schedule(forMs, start);
  };
  const cutOff = (process: SimulatedProcess | undefined, forMs: number): void => {
    if (process === undefined) return;
    log.note(`${process.identity} is cut off`);
    process.api.cutOff(true);
    time.schedule(forMs, () => process.api.cutOff(false));
  };
  return {
    start,
    leader,
    all: (): readonly SimulatedProcess[] => [...processes],
    /** Kills the leader; another process starts after `forMs`, if given. */
    crash: (forMs?: number): void => {
      const process = leader();
      if (process === undefined) return;
      log.note(`${process.identity} is killed`);
      process.crash();
      leave(process, forMs);
    },
    /** Stops the leader, as a rollout does; its successor starts at the same time. */
    replace: (): void => {
      const process = leader();
      if (process === undefined) return;
      log.note(`${process.identity} is stopped`);
      leave(process, 0);
      void process.stop();
    },
    /** Stops the leader without a successor; resolves when it is gone. */
    dismiss: async (): Promise<void> => {
      const process = leader();
      if (process === undefined) return;
      log.note(`${process.identity} is stopped`);
      leave(process);
      await process.stop();
    },
    /** Cuts the leader off from the API server for `forMs`. */
    cutOffLeader: (forMs: number): void => cutOff(leader(), forMs),
    /** Cuts a standby off from the API server for `forMs`. */
    cutOffStandby: (forMs: number): void =>
      cutOff(processes.find((process) => process !== leader()), forMs),
    /** Delays the frames between the leader and the shard until `forMs` are over. */
    holdFrames: (forMs: number): void => {
      const process = leader();
      if (process === undefined) return;
      log.note(`the frames of ${process.identity} are held`);
      process.shard.hold();
      time.schedule(forMs, process.shard.letThrough);
    },
    /** Moves the wall clock of every machine with an operator, and of nothing else. */
    jumpWallClocks: (ms: number): void => {
      log.note(`the clocks of the operators step by ${ms} ms`);
      for (const { line } of processes) line.jumpWallClock(ms);
    },
    /** Suspends the machine of the leader for `forMs`; its connections break meanwhile. */
    suspend: (forMs: number): void => {
      const process = leader();
      if (process === undefined) return;
      log.note(`the machine of ${process.identity} is suspended`);
      process.line.suspend();
      process.api.dropWatches('cut');
      trouble(forMs + TAKEOVER_MS);
      time.schedule(forMs, () => {
        log.note(`the machine of ${process.identity} resumes`);
        process.line.thaw();
      });
    },
    /** Freezes the leader for `forMs`. */
    freeze: (forMs: number): void => {
      const process = leader();
      if (process === undefined || process.line.frozen()) return;
      log.note(`${process.identity} freezes`);
      process.line.freeze();
      trouble(forMs + TAKEOVER_MS);
      time.schedule(forMs, () => {
        log.note(`${process.identity} thaws`);
        process.line.thaw();
      });
    },
  };
};
