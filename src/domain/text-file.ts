/** A text file maintained by a person, and the results of reading it again. */

/** The content of the file. */
export type TextReading =
  | { readonly _tag: 'Text'; readonly text: string }
  | { readonly _tag: 'Unreadable'; readonly problem: string };

/** The effect of a new reading on the users of the text. */
export type TextChange<Value> =
  | { readonly _tag: 'Accepted'; readonly value: Value }
  /** Invalid; the last valid value stays in use. */
  | { readonly _tag: 'Kept'; readonly problem: string };

/** The result of parsing a text. */
export type Parsed<Value> =
  | { readonly _tag: 'Good'; readonly value: Value }
  | { readonly _tag: 'Bad'; readonly problem: string };
