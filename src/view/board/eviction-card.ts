/**
 * The card of an EvictionRequest: who is asked, who is next, and when the hand-over comes.
 *
 * Promises: the verdict is that of `tidegate evictions`; total, because the data of a recording may
 * be of another version.
 */
import type { InterceptorTiming } from '../../domain/eviction-requests/interceptor-deadline.ts';
import type { ObservedRequest } from '../../domain/eviction-requests/observed-request.ts';
import {
  type RequestSituation,
  requestVerdict,
} from '../../domain/eviction-requests/request-verdict.ts';
import { objectKey } from '../../domain/ids.ts';
import { asNumber, numberAt, textAt, valueAt } from '../../domain/json.ts';
import type { BoardActor } from './board-actors.ts';
import { type BoardVerdict, bySeverity, kubectlCommand } from './board-verdict.ts';

/** An open request. */
export interface EvictionCard {
  readonly id: string;
  /** The pod: `namespace/name`. */
  readonly key: string;
  readonly situation: RequestSituation;
  readonly severity: BoardVerdict['severity'];
  readonly requesters: readonly string[];
  readonly active: string | null;
  readonly next: string | null;
  readonly sinceMs: number;
  /** When the next one takes over without another report; null when nobody does. */
  readonly handOverMs: number | null;
  readonly verdict: BoardVerdict;
  readonly command: string;
}

const LISTS = [
  ['requesters'],
  ['reports'],
  ['status', 'targets'],
  ['status', 'processed'],
  ['status', 'conditions'],
] as const;

const isRequest = (value: unknown): value is ObservedRequest =>
  [['namespace'], ['name'], ['pod', 'name']].every((path) =>
    textAt(value, ...path) !== undefined
  ) &&
  LISTS.every((path) => Array.isArray(valueAt(value, ...path))) &&
  numberAt(value, 'createdMs') !== undefined &&
  (textAt(value, 'status', 'active') !== undefined ||
    valueAt(value, 'status', 'active') === null);

const isTiming = (value: unknown): value is InterceptorTiming =>
  ['deadlineMs', 'warningMs', 'skewMs'].every((field) =>
    asNumber(valueAt(value, field)) !== undefined
  );

const cardOf = (
  { id, kind, context, sinceMs }: BoardActor,
  nowMs: number,
): EvictionCard | undefined => {
  const [request, timing] = [valueAt(context, 'facts', 'request'), valueAt(context, 'timing')];
  if (!isRequest(request) || !isTiming(timing)) return undefined;
  const { situation, turn, next, waitsFor: _, ...verdict } = requestVerdict(request, {
    nowMs,
    timing,
  });
  if (situation === 'Evicted' || situation === 'Canceled') return undefined;
  return {
    id,
    key: objectKey(request.pod.name, request.namespace),
    situation,
    severity: verdict.severity,
    requesters: request.requesters,
    active: turn?.name ?? null,
    next,
    sinceMs: turn?.sinceMs ?? sinceMs,
    handOverMs: turn?.handOverMs ?? null,
    verdict: { ...verdict, forecast: '' },
    command: kubectlCommand({ kind, name: id.slice(kind.length + 1) }),
  };
};

/** The open requests: what needs a person first, then by hand-over. */
export const evictionCards = (
  actors: readonly BoardActor[],
  nowMs: number,
): readonly EvictionCard[] =>
  actors.flatMap((actor) => cardOf(actor, nowMs) ?? []).toSorted((left, right) =>
    bySeverity(left, right) ||
    (left.handOverMs ?? Number.POSITIVE_INFINITY) -
      (right.handOverMs ?? Number.POSITIVE_INFINITY) ||
    (left.key < right.key ? -1 : 1)
  );
