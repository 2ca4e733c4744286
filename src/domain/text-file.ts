/** A text that a person keeps in a file, and what became of it when it was read again. */

/** What was found in the file. */
export type TextReading =
  | { readonly _tag: 'Text'; readonly text: string }
  | { readonly _tag: 'Unreadable'; readonly problem: string };

/** What a new reading means for those who use the text. */
export type TextChange<Value> =
  | { readonly _tag: 'Accepted'; readonly value: Value }
  /** It cannot be used; whatever was good before stays. */
  | { readonly _tag: 'Kept'; readonly problem: string };

/** What a text is good for, or why it is not. */
export type Parsed<Value> =
  | { readonly _tag: 'Good'; readonly value: Value }
  | { readonly _tag: 'Bad'; readonly problem: string };
