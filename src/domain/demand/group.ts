/**
 * Co-location groups: requests that must share one value of a topology key.
 *
 * The identity is readable and stable: namespace, topology key and the canonical selector,
 * separated by NUL. The namespace is included, because equal selectors in two namespaces select
 * different pods (DEM-04).
 */
import { canonicalValues, compareText, escapeSeparators } from '../requirements.ts';

/** An expression of a label selector; the operator is kept as written. */
export interface SelectorExpression {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** A label selector. */
export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly SelectorExpression[];
}

/** The pods that a request must be placed with, and the topology key. */
export interface CoLocation {
  readonly topologyKey: string;
  readonly selector: LabelSelector;
}

const labelText = ([key, value]: readonly [string, string]): string =>
  `${escapeSeparators(key)}=${escapeSeparators(value)},`;

const expressionText = ({ key, operator, values }: SelectorExpression): string =>
  `${escapeSeparators(key)} ${operator} ${
    canonicalValues(values).map(escapeSeparators).join(',')
  };`;

/** `a=1,b=2,;tier In db,web;`: the same text for every notation of a selector. */
const canonicalSelector = (selector: LabelSelector): string => {
  const labels = Object.entries(selector.matchLabels).map(labelText).sort(compareText);
  const expressions = canonicalValues(selector.matchExpressions.map(expressionText));
  return `${labels.join('')};${expressions.join('')}`;
};

/** The identity of the group of a co-located request in `namespace`. */
export const groupIdentity = (namespace: string, coLocation: CoLocation): string =>
  [namespace, coLocation.topologyKey, canonicalSelector(coLocation.selector)].join('\0');
