/** The key pair of a session, and the results of reading its files. */

/** PEM texts that match. `fingerprint` changes when any of them does. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
  readonly fingerprint: string;
}

/** The result of the last read. */
export type CredentialsReading =
  | { readonly _tag: 'Usable'; readonly pair: KeyPair }
  | { readonly _tag: 'Unusable'; readonly problem: string };

/** A change of the key pair. */
export type CredentialsChange =
  /** A pair to dial with from now on. */
  | { readonly _tag: 'Accepted'; readonly pair: KeyPair }
  /** No pair is available. */
  | { readonly _tag: 'Refused'; readonly problem: string }
  /** The files are invalid, perhaps half-written; the previous pair stays in use. */
  | { readonly _tag: 'Kept'; readonly problem: string };
