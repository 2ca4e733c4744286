/** The requests of an operator to an embedded cluster, by kind, and its Events by Node. */
import type { ClusterRequest, ClusterResponse } from '../../packages/embedded-kubernetes/mod.ts';
import { booleanAt, listOrEmptyAt, textAt } from '../../src/domain/json.ts';

type Counts = Readonly<Record<string, number>>;

const GROUP = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\//;
const NAMESPACED = /^namespaces\/[^/]+\/(?=.)/;

/** A Node goes back into service: it is uncordoned, or loses its conditions. */
const returns = ({ body }: ClusterRequest): boolean => {
  const conditions = listOrEmptyAt(body, 'status', 'conditions');
  return booleanAt(body, 'spec', 'unschedulable') === false ||
    (conditions.length > 0 && conditions.every((one) => textAt(one, '$patch') === 'delete'));
};

const RETURN = ', back into service';

/** `patch nodes/status`, `post pods/eviction`, `watch pods`. */
const kindOf = (request: ClusterRequest): string => {
  const [place = '', query = ''] = request.path.split('?');
  const [resource = '', , subresource] = place.replace(GROUP, '').replace(NAMESPACED, '')
    .split('/');
  const verb = query.includes('watch=') ? 'watch' : request.method.toLowerCase();
  const kind = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
  return resource === 'nodes' && returns(request) ? `${kind}${RETURN}` : kind;
};

/** Not counted as the cost of a drain (DR-50): watches, leases, Events. */
const isFree = (kind: string): boolean =>
  kind.startsWith('watch ') || kind.endsWith(' leases') || kind.endsWith(' events');

const isReturn = (kind: string): boolean => kind.endsWith(RETURN);

const addTo = (counts: Map<string, number>, key: string, count = 1): void =>
  void counts.set(key, (counts.get(key) ?? 0) + count);

const chosen = (
  counts: ReadonlyMap<string, number>,
  isChosen: (key: string) => boolean,
): Counts => Object.fromEntries([...counts].filter(([key]) => isChosen(key)).toSorted());

/** Counts requests; none was sent yet. */
export class RequestCounts {
  readonly #kinds = new Map<string, number>();
  readonly #refused = new Map<string, number>();
  readonly #bytes = new Map<string, number>();
  readonly #events = new Map<string, number>();
  readonly #reasons = new Map<string, number>();

  /** A request, and its answer. */
  readonly add = (request: ClusterRequest, response: ClusterResponse): void => {
    const { body } = request;
    const kind = kindOf(request);
    addTo(this.#kinds, kind);
    addTo(this.#bytes, kind, JSON.stringify(body ?? '').length);
    if (response._tag === 'Answer' && response.status >= 300) {
      addTo(this.#refused, `${kind}: ${response.status}`);
    }
    if (!kind.endsWith(' events')) return;
    addTo(this.#reasons, textAt(body, 'reason') ?? kind);
    if (textAt(body, 'regarding', 'kind') !== 'Node') return;
    addTo(this.#events, textAt(body, 'regarding', 'name') ?? '');
  };

  /** Counts from now on. */
  readonly reset = (): void => {
    const all = [this.#kinds, this.#refused, this.#bytes, this.#events, this.#reasons];
    for (const one of all) one.clear();
  };

  /** The cost of a drain, by kind. */
  readonly drain = (): Counts => chosen(this.#kinds, (kind) => !isFree(kind) && !isReturn(kind));

  /** What gives Nodes back, by kind. */
  readonly returns = (): Counts => chosen(this.#kinds, isReturn);

  /** By kind and status. */
  readonly refused = (): Counts => chosen(this.#refused, () => true);

  /** Bytes of the bodies of one kind. */
  readonly bytesOf = (kind: string): number => this.#bytes.get(kind) ?? 0;

  /** Events by reason. */
  readonly reasons = (): Counts => chosen(this.#reasons, () => true);

  /** The most Events about one Node. */
  readonly eventsOfNodeMax = (): number => Math.max(0, ...this.#events.values());
}

/** The sum of counts. */
export const totalOf = (counts: Counts): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
