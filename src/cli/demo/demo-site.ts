/** The environment of a demo: an embedded cluster, a fleet and an operator. */

/** The environment of scenarios. */
export interface DemoSite {
  /** A file for kubectl. */
  readonly kubeconfig: string;
  /** The operator's live page, once it is served. */
  readonly page: () => { readonly url: string; readonly isOpened: boolean } | undefined;
  /** Objects of a collection, by its path in the API. */
  readonly list: (path: string) => readonly unknown[];
  /** Sends a request to the API server as a person would; fails when it is refused. */
  readonly ask: (
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
  ) => void | Promise<void>;
  /** Applies an object, or its status, as a field manager: an interceptor's report, for example. */
  readonly apply: (path: string, object: object, fieldManager: string) => void | Promise<void>;
  /** Cuts a node off from the API server, or ends that; fails where nobody can. */
  readonly silence: (node: string, isSilent: boolean) => void;
  readonly fleet: {
    /** The machines that are bound to this cluster. */
    readonly bound: () => readonly string[];
    /** Reclaims a machine. */
    readonly reclaim: (machine: string, graceSeconds: number) => void;
    /** The provider takes a drained machine and its Node. */
    readonly returnMachine: (machine: string) => void;
    /** Stops and restarts the fleet, as in a crash: bindings are kept. */
    readonly stop: () => Promise<void>;
    readonly start: () => Promise<void>;
  };
  /** Why the operator is not running; undefined while it is. */
  readonly failure: () => string | undefined;
  readonly stop: () => Promise<void>;
}

/** Creates the environment. */
export type StartDemoSite = (options: {
  readonly inspectAddress: string | undefined;
  /** The file for the recording of the operator's statecharts. */
  readonly recordFile: string | undefined;
  /** Further flags of the operator. */
  readonly operatorFlags: readonly string[];
}) => Promise<DemoSite>;
