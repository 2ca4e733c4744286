/**
 * Co-location groups: which requests must land under one value of a topology key.
 *
 * The identity is readable and stable: namespace, topology key and the canonical selector, with NUL
 * between them. The namespace is part of it, because equal selectors in two namespaces select
 * different pods (DEM-04).
 */
import { canonicalValues, compareText, escapeSeparators } from '../requirements.ts';

/** One expression of a label selector; the operator is kept as it was written. */
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

/** Which pods a request must be placed with, and under which topology key. */
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

/** `a=1,b=2,;tier In db,web;`: the same text for every spelling of a selector. */
const canonicalSelector = (selector: LabelSelector): string => {
  const labels = Object.entries(selector.matchLabels).map(labelText).sort(compareText);
  const expressions = canonicalValues(selector.matchExpressions.map(expressionText));
  return `${labels.join('')};${expressions.join('')}`;
};

/** The identity of the group that a co-located request of `namespace` belongs to. */
export const groupIdentity = (namespace: string, coLocation: CoLocation): string =>
  [namespace, coLocation.topologyKey, canonicalSelector(coLocation.selector)].join('\0');
