/** What an author of an interceptor writes. */
import type { AbortReason, TargetPod } from './observed-request.ts';
import type { Progress } from './report.ts';

/** The reason of an aborted signal. */
export class InterceptionAborted extends Error {
  readonly reason: AbortReason;

  constructor(reason: AbortReason) {
    super(`The interception was aborted: ${reason}`);
    this.name = 'InterceptionAborted';
    this.reason = reason;
  }
}

/** The reason for which a signal was aborted; `undefined` when it was not. */
export const abortReasonIn = (signal: AbortSignal): AbortReason | undefined =>
  signal.reason instanceof InterceptionAborted ? signal.reason.reason : undefined;

/** What an interceptor is called with. */
export interface Interception {
  /** The pod that must leave; it exists with this UID. */
  readonly pod: TargetPod;
  /** The name of the EvictionRequest, in the namespace of the pod. */
  readonly request: string;
  /** The UID of the EvictionRequest. */
  readonly uid: string;
  /** Who requests it. */
  readonly requesters: readonly string[];
  /** An earlier process may have begun: continue, or begin again without harm. */
  readonly resumed: boolean;
  /** Aborted when the interceptor must not act any more, with an `InterceptionAborted`. */
  readonly signal: AbortSignal;
}

/** An interceptor. */
export interface InterceptorDefinition {
  /** A domain name with three labels or more, under which pods register it. */
  readonly name: string;
  /**
   * How far it is; asked every 15 seconds. A heartbeat is sent only after it has answered: one that
   * hangs or throws is replaced after the deadline of the controller.
   */
  readonly progress?: (pod: TargetPod) => Progress | Promise<Progress>;
  /**
   * Acts. A text that it returns is its last message. When it throws, it gives up with the reason,
   * and the next interceptor takes over.
   */
  readonly intercept: (interception: Interception) => Promise<string | void>;
  /** Called once by each process, before its first interception: mends what a crash has left. */
  readonly recover?: () => Promise<void>;
}

const LABEL = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?';
const QUALIFIED_NAME = new RegExp(`^(${LABEL}\\.){2,}${LABEL}$`, 'u');
const NAME_MAX = 253;

/** Checks the definition. Throws when its name is not qualified, or reserved for Kubernetes. */
export const defineInterceptor = (definition: InterceptorDefinition): InterceptorDefinition => {
  const { name } = definition;
  if (name.length > NAME_MAX || !QUALIFIED_NAME.test(name)) {
    throw new Error(
      `Cannot define interceptor "${name}": its name needs three lower-case labels or more, ` +
        'such as "backup.example.com"',
    );
  }
  if (/\.(?:k8s|kubernetes)\.io$/.test(name)) {
    throw new Error(`Cannot define interceptor "${name}": its domain is reserved for Kubernetes`);
  }
  return definition;
};
