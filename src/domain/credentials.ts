/** The key pair that a session dials with, and what reading its files came to. */

/** PEM texts that fit together. `fingerprint` changes when any of them does. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
  readonly fingerprint: string;
}

/** What the files said when they were last read. */
export type CredentialsReading =
  | { readonly _tag: 'Usable'; readonly pair: KeyPair }
  | { readonly _tag: 'Unusable'; readonly problem: string };

/** What is new about the key pair. */
export type CredentialsChange =
  /** A pair to dial with from now on. */
  | { readonly _tag: 'Accepted'; readonly pair: KeyPair }
  /** There is no pair to dial with. */
  | { readonly _tag: 'Refused'; readonly problem: string }
  /** The files are not fit, perhaps half-written; the pair before them stays in use. */
  | { readonly _tag: 'Kept'; readonly problem: string };
