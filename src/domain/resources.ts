/** Types that frames, custom resources and demand share. */

/** Resource name → quantity, as text. */
export type ResourceMap = Readonly<Record<string, string>>;

/** Operators that a CapacityRequest may use. */
export type StandardOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
/**
 * Operators of the wire: `Same` (one value for the whole group) is generated here, never authored.
 */
export type RequirementOperator = StandardOperator | 'Same';

/** A condition on the labels of a machine. */
export interface Requirement<Operator extends RequirementOperator = RequirementOperator> {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

/** A taint that a node will have. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}
