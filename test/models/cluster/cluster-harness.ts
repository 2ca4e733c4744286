/**
 * What a model test has to know of a cluster, so that the paths of its statechart can be executed
 * there: what no cluster can do, and how one is brought to do the rest.
 */
import type { Layer } from 'effect';
import type { AnyStateMachine } from 'xstate';
import type { KubeApi } from '../../../src/effects/kube-api.ts';
import type { KubeconfigSource } from '../../../src/effects/kubeconfig.ts';
import type { WriteGate } from '../../../src/effects/write-gate.ts';
import type { Writes } from '../../../src/effects/writes.ts';
import type { Step } from '../harness/interpreter.ts';
import type { ActGate } from './act-gate.ts';
import type { DrawnNames } from './drawn-names.ts';
import type { FaultLine } from './fault-line.ts';
import type { Hand, SiteAddress } from './site.ts';

/** A step that is not taken yet. */
export type Moment = Pick<Step, 'before' | 'event'>;

/** A step of a path that is executed, and those that come after it. */
export interface PathStep<World = unknown> extends Moment {
  readonly rest: readonly Step[];
  /** What is so before the step. */
  readonly world: World;
}

/** Who made the actor move. `word` is what another actor of this process says. */
export type StepSource = 'server' | 'line' | 'watch' | 'hand' | 'word' | 'clock';

/** Everything that the operator's acts use of an API server, behind the gate and the wire. */
export type Services = Layer.Layer<KubeApi | Writes | WriteGate>;

/** Where one path is executed. */
export interface RunEnvironment {
  readonly site: SiteAddress;
  /** Of its own, also as a part of names. */
  readonly number: number;
  readonly hand: Hand;
  readonly line: FaultLine;
  readonly gate: ActGate;
  readonly services: Services;
  readonly names: DrawnNames;
}

/** One path that is being executed. */
export interface PathRun<World = unknown> {
  /** The statechart as it lives. */
  readonly machine: AnyStateMachine;
  /** With what it begins, when that is not what is drawn. */
  readonly input?: unknown;
  /** Brings the cluster, or the wire, to answer the act that waits as the path says. */
  readonly arrange: (pathStep: PathStep<World>) => Promise<StepSource>;
  /** True when the act that is to be answered has left the gate already. */
  readonly underWay?: (pathStep: PathStep<World>) => boolean;
  /** What is done once the act has left the gate. */
  readonly deferredSends?: (pathStep: PathStep<World>) => Promise<void>;
  /** The event as it is seen in the cluster, or said by hand. */
  readonly observe: (
    pathStep: PathStep<World>,
  ) => Promise<{ readonly event: PathStep['event']; readonly by: StepSource }>;
  readonly stop: () => Promise<void>;
}

/** What is there before any path is executed. */
export interface SessionEnvironment {
  readonly site: SiteAddress;
  readonly hand: Hand;
  /** To the server on a wire that nobody touches, for what is watched all the time. */
  readonly source: KubeconfigSource;
}

/** What all paths of one statechart share. */
export interface HarnessSession<World = unknown> {
  readonly begin: (environment: RunEnvironment, input: unknown) => Promise<PathRun<World>>;
  readonly close: () => Promise<void>;
}

/** How a statechart is executed on a cluster. `World` is what decides what that cluster can do. */
export interface ClusterHarness<World> {
  readonly world: World;
  /** Answers of a server for which the model has another that leads to the same. */
  readonly events?: Readonly<Record<string, readonly object[]>>;
  /** How many configurations are looked at for paths; by default all of them. */
  readonly limit?: number;
  /** Why no cluster can do this now; `undefined` when it can. */
  readonly hindrance: (world: World, moment: Moment) => string | undefined;
  /** What is so after a step. */
  readonly follows: (world: World, step: Step) => World;
  readonly open: (environment: SessionEnvironment) => Promise<HarnessSession<World>>;
}
