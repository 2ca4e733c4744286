/** What one CapacityRequest asks for: on which terms, and how much. */
import { canonicalQuantity, type Quantity, type QuantityFormat } from '../quantity.ts';
import { type Profile, profileFingerprint } from '../profile.ts';
import { compareText, escapeSeparators } from '../requirements.ts';

/** A profile and the group that it is wanted together with. */
export interface Terms {
  /** Equal keys, equal terms: what requests are added up by. */
  readonly key: string;
  readonly profile: Profile;
  /** Opaque co-location identity; empty for a request that stands alone. */
  readonly group: string;
}

/** The amount of one resource. */
export interface Amount {
  readonly resource: string;
  readonly quantity: Quantity;
}

/** The amounts of one request, by resource name. */
export interface Amounts {
  /** Equal keys, equal amounts in equal formats. */
  readonly key: string;
  readonly list: readonly Amount[];
}

const FORMAT_LETTERS: Readonly<Record<QuantityFormat, string>> = {
  BinarySI: 'b',
  DecimalSI: 'd',
  DecimalExponent: 'e',
};

/** The terms of a profile wanted together with `group`. */
export const termsOf = (profile: Profile, group: string): Terms => ({
  key: `${profileFingerprint(profile)}|group=${group}`,
  profile,
  group,
});

/** The amounts of one request, in canonical order. */
export const amountsOf = (amounts: readonly Amount[]): Amounts => {
  const list = amounts.toSorted((left, right) => compareText(left.resource, right.resource));
  const texts = list.map(({ resource, quantity }) =>
    `${escapeSeparators(resource)}=${canonicalQuantity(quantity)}${FORMAT_LETTERS[quantity.format]}`
  );
  return { key: texts.join(','), list };
};
