/**
 * The interface by which a model test executes its paths on a cluster: which steps the cluster
 * cannot produce, and how to produce the others.
 */
import type { Layer } from 'effect';
import type { AnyStateMachine } from 'xstate';
import type { KubeApi } from '../../../src/effects/kube-api.ts';
import type { KubeconfigSource } from '../../../src/effects/api-credentials.ts';
import type { WriteGate } from '../../../src/effects/write-gate.ts';
import type { Writes } from '../../../src/effects/writes.ts';
import type { Step } from '../harness/interpreter.ts';
import type { ActGate } from './act-gate.ts';
import type { DrawnNames } from './drawn-names.ts';
import type { FaultLine } from './fault-line.ts';
import type { Hand, SiteAddress } from './site.ts';

/** A step that is not taken yet. */
export type Moment = Pick<Step, 'before' | 'event'>;

/** A step of an executed path, and the steps that follow. */
export interface PathStep<World = unknown> extends Moment {
  readonly rest: readonly Step[];
  /** The state before the step. */
  readonly world: World;
}

/** The source of the step's event. `word`: another actor of this process. */
export type StepSource = 'server' | 'line' | 'watch' | 'hand' | 'word' | 'clock';

/** Everything that the operator's acts use of an API server, behind the gate and the wire. */
export type Services = Layer.Layer<KubeApi | Writes | WriteGate>;

/** Where one path is executed. */
export interface RunEnvironment {
  readonly site: SiteAddress;
  /** A unique suffix for names. */
  readonly number: number;
  readonly hand: Hand;
  readonly line: FaultLine;
  readonly gate: ActGate;
  readonly services: Services;
  readonly names: DrawnNames;
}

/** One path that is being executed. */
export interface PathRun<World = unknown> {
  /** The statechart with its real effects. */
  readonly machine: AnyStateMachine;
  /** The initial input, when it differs from the model's. */
  readonly input?: unknown;
  /** Prepares the cluster or the wire so that the waiting request gets the path's answer. */
  readonly arrange: (pathStep: PathStep<World>) => Promise<StepSource>;
  /** The gate at which requests of the act wait; by default that of the environment. */
  readonly gateOf?: (act: string) => ActGate;
  /** True when the act that is to be answered has left the gate already. */
  readonly underWay?: (pathStep: PathStep<World>) => boolean;
  /** Runs after the request has left the gate. */
  readonly deferredSends?: (pathStep: PathStep<World>) => Promise<void>;
  /** Produces the event in the cluster, or sends it directly. */
  readonly observe: (
    pathStep: PathStep<World>,
  ) => Promise<{ readonly event: PathStep['event']; readonly by: StepSource }>;
  readonly stop: () => Promise<void>;
}

/** Objects that exist before any path is executed. */
export interface SessionEnvironment {
  readonly site: SiteAddress;
  readonly hand: Hand;
  /** An untouched connection to the server, for permanent watches. */
  readonly source: KubeconfigSource;
}

/** What all paths of one statechart share. */
export interface HarnessSession<World = unknown> {
  readonly begin: (environment: RunEnvironment, input: unknown) => Promise<PathRun<World>>;
  readonly close: () => Promise<void>;
}

/**
 * How to execute a statechart on a cluster. `World` is the state that decides what the cluster can
 * do.
 */
export interface ClusterHarness<World> {
  readonly world: World;
  /** Acts that are no invoked actors, by the types of the events that answer them. */
  readonly answers?: Readonly<Record<string, string>>;
  /** Answers of a server for which the model has another that leads to the same. */
  readonly events?: Readonly<Record<string, readonly object[]>>;
  /** How many configurations are looked at for paths; by default all of them. */
  readonly limit?: number;
  /**
   * Parts of the environment that are also looked at alone, each up to the limit: they have long
   * paths of one concern, which are cut off where everything can happen. Each tells what may.
   */
  readonly parts?: readonly ((moment: Moment) => boolean)[];
  /** Why no cluster can do this now; `undefined` when it can. */
  readonly hindrance: (world: World, moment: Moment) => string | undefined;
  /** The state after a step. */
  readonly follows: (world: World, step: Step) => World;
  readonly open: (environment: SessionEnvironment) => Promise<HarnessSession<World>>;
}
