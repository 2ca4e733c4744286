/** The demand of one CapacityRequest: its terms and its amounts. */
import { canonicalQuantity, type Quantity, type QuantityFormat } from '../quantity.ts';
import { type Profile, profileFingerprint } from '../profile.ts';
import { compareText, escapeSeparators } from '../requirements.ts';

/** A profile and its co-location group. */
export interface Terms {
  /** Equal keys, equal terms: the key by which requests are aggregated. */
  readonly key: string;
  readonly profile: Profile;
  /** Opaque co-location identity; empty without co-location. */
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

/** The terms of a profile in `group`. */
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
