/**
 * The spans of reclaims, from the transitions of statecharts: a trace for each ReclaimInstruction,
 * with a span for the drain of each node, one for the eviction of each pod, and one for each
 * request to the API server about them.
 *
 * Promises: keeps open spans only; a drain that outlives its instruction's actor keeps the trace
 * open; drains of other owners, and requests that belong to no drain, have no span.
 */
import { Context, Exit, Option, type Tracer } from 'effect';
import { kindInId } from '../api/actor-board.ts';
import { listOrEmptyAt, textAt, valueAt } from '../domain/json.ts';
import { stateText } from '../domain/state-value.ts';
import type { Time } from '../domain/time.ts';
import type { ActorTransition, Inspector } from './inspector.ts';

const NANOS_PER_MS = 1_000_000;
const INSTRUCTION = 'reclaimInstruction';
const DRAIN = 'nodeDrain';
const EVICTION = 'podEviction';

/** A request to the API server, as far as its span names it. */
export interface TracedCall {
  readonly method: string;
  readonly path: string;
}

/** What the span of a request is called, and what it belongs to. */
export interface CallSpan {
  readonly name: string;
  readonly parent: Tracer.Span;
  /** By the semantic conventions of OpenTelemetry. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** An open span, and the last state that is an event of it. */
interface OpenSpan {
  readonly span: Tracer.Span;
  /** The instruction of a drain or of an eviction. */
  readonly root: string;
  state: string;
}

/** The root of a trace. */
interface OpenRoot {
  readonly span: Tracer.Span;
  readonly drains: Set<string>;
  /** Its actor is there, so that further drains may begin. */
  isFollowed: boolean;
}

type Snapshot = ActorTransition['snapshot'];

const isSettled = (snapshot: Snapshot): boolean =>
  snapshot.status !== 'active' ||
  ('tags' in snapshot && snapshot.tags instanceof Set && snapshot.tags.has('settled'));

const contextOf = (snapshot: Snapshot): unknown =>
  'context' in snapshot ? snapshot.context : undefined;

/** The state of the work; the region of a drain's clock is left out. */
const stateOf = (snapshot: Snapshot): string => {
  const value = 'value' in snapshot ? snapshot.value : undefined;
  return stateText(valueAt(value, 'work') ?? value);
};

/** The first instruction of a drain: of the orders that are not written yet, or of the Node. */
const instructionOf = (context: unknown): string | undefined => {
  const [first] = listOrEmptyAt(context, 'annotation', 'ids');
  if (typeof first === 'string') return first;
  return textAt(listOrEmptyAt(context, 'orders')[0], 'id');
};

const failureOf = (context: unknown): Exit.Exit<void, string> =>
  textAt(context, 'end') === 'Failed'
    ? Exit.fail('The deadline passed with pods on the node')
    : Exit.void;

const NODE_PATH = /^\/api\/v1\/nodes\/([^/]+)(\/status)?$/;
const EVICTION_PATH = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/eviction$/;

/** The actor that a request is of, and its path without names. */
const subjectOf = ({ path }: TracedCall): { readonly id: string; readonly template: string } => {
  const [, node, part = ''] = NODE_PATH.exec(path) ?? [];
  if (node !== undefined) {
    return { id: `${DRAIN}/${node}`, template: `/api/v1/nodes/{node}${part}` };
  }
  const [, namespace = '', pod = ''] = EVICTION_PATH.exec(path) ?? [];
  return {
    id: `${EVICTION}/${namespace}/${pod}`,
    template: '/api/v1/namespaces/{namespace}/pods/{pod}/eviction',
  };
};

/** The open spans of a process. */
export class ReclaimSpans {
  readonly #tracer: Tracer.Tracer;
  readonly #time: Pick<Time, 'now'>;
  readonly #roots = new Map<string, OpenRoot>();
  readonly #open = new Map<string, OpenSpan>();

  constructor(tracer: Tracer.Tracer, time: Pick<Time, 'now'>) {
    this.#tracer = tracer;
    this.#time = time;
  }

  readonly observe: Inspector = ({ id, snapshot }) => {
    const kind = kindInId(id);
    if (kind === INSTRUCTION) this.#onInstruction(id.slice(INSTRUCTION.length + 1), snapshot);
    else if (kind === DRAIN || kind === EVICTION) this.#onPart(kind, id, snapshot);
  };

  /** Undefined for a request that belongs to no reclaim. */
  readonly callSpan = (call: TracedCall): CallSpan | undefined => {
    const { id, template } = subjectOf(call);
    const parent = this.#open.get(id);
    return parent && {
      name: `${call.method} ${template}`,
      parent: parent.span,
      attributes: {
        'http.request.method': call.method,
        'url.template': template,
        'url.path': call.path,
        'tidegate.state': parent.state,
      },
    };
  };

  /** Ends what is open: this process stops, and another goes on. */
  readonly close = (): void => {
    for (const { span } of this.#open.values()) span.end(this.#now(), Exit.void);
    for (const { span } of this.#roots.values()) span.end(this.#now(), Exit.void);
    this.#open.clear();
    this.#roots.clear();
  };

  #now(): bigint {
    return BigInt(Math.round(this.#time.now() * NANOS_PER_MS));
  }

  #start(name: string, parent: Option.Option<Tracer.Span>): Tracer.Span {
    return this.#tracer.span({
      name,
      parent,
      annotations: Context.empty(),
      links: [],
      startTime: this.#now(),
      kind: 'internal',
      root: Option.isNone(parent),
      sampled: true,
    });
  }

  #root(instruction: string): OpenRoot {
    const known = this.#roots.get(instruction);
    if (known !== undefined) return known;
    const span = this.#start('reclaim', Option.none());
    span.attribute('tidegate.reclaim.instruction', instruction);
    const root: OpenRoot = { span, drains: new Set(), isFollowed: false };
    this.#roots.set(instruction, root);
    return root;
  }

  #onInstruction(instruction: string, snapshot: Snapshot): void {
    const settled = isSettled(snapshot);
    if (settled && !this.#roots.has(instruction)) return;
    this.#root(instruction).isFollowed = !settled;
    this.#endRoot(instruction);
  }

  #endRoot(instruction: string): void {
    const root = this.#roots.get(instruction);
    if (root === undefined || root.isFollowed || root.drains.size > 0) return;
    this.#roots.delete(instruction);
    root.span.end(this.#now(), Exit.void);
  }

  #onPart(kind: typeof DRAIN | typeof EVICTION, id: string, snapshot: Snapshot): void {
    const context = contextOf(snapshot);
    const open = this.#open.get(id);
    if (isSettled(snapshot)) {
      if (open !== undefined) this.#end(id, open, failureOf(context));
      return;
    }
    const one = open ?? (kind === DRAIN ? this.#drain(id, context) : this.#eviction(id, context));
    const state = stateOf(snapshot);
    if (one === undefined || one.state === state) return;
    one.state = state;
    one.span.event(state, this.#now());
  }

  #end(id: string, { span, root }: OpenSpan, exit: Exit.Exit<void, string>): void {
    this.#open.delete(id);
    span.end(this.#now(), exit);
    if (this.#roots.get(root)?.drains.delete(id) === true) this.#endRoot(root);
  }

  #drain(id: string, context: unknown): OpenSpan | undefined {
    const instruction = instructionOf(context);
    if (textAt(context, 'owner') !== 'reclaim' || instruction === undefined) return undefined;
    const root = this.#root(instruction);
    root.drains.add(id);
    const one = this.#opened(id, { name: 'drain node', parent: root.span, root: instruction });
    one.span.attribute('k8s.node.name', textAt(context, 'name'));
    const uid = textAt(context, 'node', 'uid');
    if (uid !== undefined) one.span.attribute('k8s.node.uid', uid);
    return one;
  }

  #eviction(id: string, context: unknown): OpenSpan | undefined {
    const node = textAt(context, 'node') ?? '';
    const drain = this.#open.get(`${DRAIN}/${node}`);
    if (drain === undefined) return undefined;
    const one = this.#opened(id, { name: 'evict pod', parent: drain.span, root: drain.root });
    const [namespace = '', pod = ''] = (textAt(context, 'key') ?? '').split('/');
    const attributes = {
      'k8s.namespace.name': namespace,
      'k8s.pod.name': pod,
      'k8s.pod.uid': textAt(context, 'uid'),
      'k8s.node.name': node,
    };
    for (const [name, value] of Object.entries(attributes)) {
      one.span.attribute(name, value);
    }
    return one;
  }

  #opened(
    id: string,
    { name, parent, root }: {
      readonly name: string;
      readonly parent: Tracer.Span;
      readonly root: string;
    },
  ): OpenSpan {
    const one = { span: this.#start(name, Option.some(parent)), root, state: '' };
    this.#open.set(id, one);
    return one;
  }
}
