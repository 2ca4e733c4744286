/**
 * Maps identities that a cluster chose (resource versions, UIDs, names) to those of the model.
 *
 * Promises: translates identities only; everything else must equal the model.
 */

/** The table of one path. */
export interface DrawnNames {
  /** Maps the live text to the model's `drawn`. */
  readonly note: (live: string, drawn: string) => void;
  /** Maps all identities of a live value whose model is `drawn`. */
  readonly match: (live: unknown, drawn: unknown) => void;
  /** Translates a live value to the model's identities. */
  readonly translate: (live: unknown) => unknown;
  /** The difference between a live value and `drawn`; `undefined` when they are equal. */
  readonly difference: (live: unknown, drawn: unknown) => string | undefined;
}

const IDENTITIES: ReadonlySet<string> = new Set(['resourceVersion', 'uid', 'key', 'name']);
/** Fields that a model cannot predict: human-readable texts, times, and what a cluster counts. */
const UNDRAWN: ReadonlySet<string> = new Set([
  'why',
  'policy',
  'retryAfterSeconds',
  'retryAfterMs',
  'startedAt',
  'sinceSeconds',
  'generation',
  'observedGeneration',
  'createdMs',
  'copiedLabels',
  'acquireTime',
  'transitions',
  'sentAtMs',
  'answeredAtMs',
  // Those of a Node that matter are also read one by one.
  'taints',
]);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const differing = (live: unknown, drawn: unknown, path: string): string | undefined => {
  if (isRecord(live) && isRecord(drawn)) {
    return Object.keys(drawn)
      .filter((field) => !UNDRAWN.has(field))
      .map((field) => differing(live[field], drawn[field], `${path}.${field}`))
      .find((found) => found !== undefined);
  }
  const [seen, expected] = [JSON.stringify(live), JSON.stringify(drawn)];
  return seen === expected ? undefined : `${path} is ${seen}, drawn is ${expected}`;
};

/** An empty table. */
export const drawnNames = (): DrawnNames => {
  const drawnBy = new Map<string, string>();
  const note = (live: string, drawn: string): void => {
    if (live !== drawn) drawnBy.set(live, drawn);
  };
  const match = (live: unknown, drawn: unknown): void => {
    if (!isRecord(live) || !isRecord(drawn)) return;
    for (const [field, expected] of Object.entries(drawn)) {
      const seen = live[field];
      if (IDENTITIES.has(field) && typeof seen === 'string' && typeof expected === 'string') {
        note(seen, expected);
      } else match(seen, expected);
    }
  };
  const translate = (live: unknown): unknown => {
    if (typeof live === 'string') return drawnBy.get(live) ?? live;
    if (Array.isArray(live)) return live.map(translate);
    if (!isRecord(live)) return live;
    return Object.fromEntries(
      Object.entries(live).map(([field, value]) => [field, translate(value)]),
    );
  };
  return {
    note,
    match,
    translate,
    difference: (live, drawn) => differing(translate(live), drawn, 'the answer'),
  };
};
