/**
 * What a surge has changed, as it stands in an annotation of the object whose count it raised.
 *
 * Promises: what is read back is what was written; text that is not the surge's restores nothing.
 */
import { numberAt, parseJson, textAt, valueAt } from '../json.ts';

/** On the object whose count is raised, while it is: what to restore. */
export const BASELINE_ANNOTATION = 'surge.tidegate.dev/baseline';

/** What the surge has changed. */
export interface SurgeBaseline {
  /** The replicas of the Deployment before. */
  readonly replicas: number;
  /** The count that the surge wrote; another value is somebody else's, and stays. */
  readonly raisedTo: number;
  /** The ReplicaSet has removed another pod than the one with the lowest cost. */
  readonly isUnaimed: boolean;
  /** Of an autoscaler; null on a Deployment, whose count are its replicas. */
  readonly autoscaled: AutoscaledBaseline | null;
}

/** What the surge has changed of an autoscaler. */
export interface AutoscaledBaseline {
  /** The fewest replicas that it had before; null: the field was absent. */
  readonly least: number | null;
  /** The replicas that the Deployment has still, after the surge lowered the autoscaler. */
  readonly loweredFrom: number | null;
}

/** No object has this count, so that nothing is restored from it. */
const UNREADABLE: SurgeBaseline = {
  replicas: -1,
  raisedTo: -1,
  isUnaimed: false,
  autoscaled: null,
};

const autoscaledIn = (parsed: unknown): AutoscaledBaseline | null => {
  const least = valueAt(parsed, 'least');
  if (least === undefined) return null;
  return {
    least: typeof least === 'number' ? least : null,
    loweredFrom: numberAt(parsed, 'loweredFrom') ?? null,
  };
};

/** The baseline that stands on an object; null without one. */
export const baselineOf = (object: unknown): SurgeBaseline | null => {
  const text = textAt(object, 'metadata', 'annotations', BASELINE_ANNOTATION);
  if (text === undefined) return null;
  const parsed = parseJson(text);
  const [replicas, raisedTo] = [numberAt(parsed, 'replicas'), numberAt(parsed, 'raisedTo')];
  if (replicas === undefined || raisedTo === undefined) return UNREADABLE;
  return {
    replicas,
    raisedTo,
    isUnaimed: valueAt(parsed, 'isUnaimed') === true,
    autoscaled: autoscaledIn(parsed),
  };
};

/** The text of the annotation. */
export const baselineText = (
  { replicas, raisedTo, isUnaimed, autoscaled }: SurgeBaseline,
): string =>
  JSON.stringify({
    replicas,
    raisedTo,
    ...(isUnaimed ? { isUnaimed } : {}),
    ...(autoscaled === null ? {} : { least: autoscaled.least }),
    ...(autoscaled === null || autoscaled.loweredFrom === null
      ? {}
      : { loweredFrom: autoscaled.loweredFrom }),
  });
