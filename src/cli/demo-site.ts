/** What a demo plays on: an embedded cluster, a fleet and an operator, as its stories use them. */

/** Where the stories happen. */
export interface DemoSite {
  /** A file, good for kubectl. */
  readonly kubeconfig: string;
  /** The operator's live page, once it is served. */
  readonly page: () => { readonly url: string; readonly isOpened: boolean } | undefined;
  /** Objects of a collection, by its path in the API. */
  readonly list: (path: string) => readonly unknown[];
  /** Asks the API server as a person would; fails with a sentence when it refuses. */
  readonly ask: (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) => void;
  readonly fleet: {
    /** The machines that are bound to this cluster. */
    readonly bound: () => readonly string[];
    /** Asks for a machine back. */
    readonly reclaim: (machine: string, graceSeconds: number) => void;
    /** The provider takes an empty machine; its Node goes with it. */
    readonly returnMachine: (machine: string) => void;
    /** Away and back, as by a crash: what is bound is remembered. */
    readonly stop: () => Promise<void>;
    readonly start: () => Promise<void>;
  };
  /** Why the operator is not running; undefined while it is. */
  readonly trouble: () => string | undefined;
  readonly stop: () => Promise<void>;
}

/** What sets a stage. */
export type StartDemoSite = (options: {
  readonly inspectAddress: string | undefined;
  /** Where the operator writes down what its statecharts go through. */
  readonly recordFile: string | undefined;
}) => Promise<DemoSite>;
