/** Finds a secret, or a part of it, in text that may have escaped it. */
import { expect } from 'vitest';

/** The shortest part that would help somebody. */
const PART_LENGTH = 6;

/** Parts of `secret` in `text`. */
const partsIn = (text: string, secret: string): readonly string[] =>
  Array.from(
    { length: secret.length - PART_LENGTH + 1 },
    (_, at) => secret.slice(at, at + PART_LENGTH),
  ).filter((part) => text.includes(part));

/** Fails when `text` has a part of `secret`, as it is or in base64; `where` names the text. */
export const expectNoSecret = (text: string, secret: string, where = 'the text'): void => {
  expect(partsIn(text, secret), `parts of the secret in ${where}`).toEqual([]);
  // A secret may begin at any of 3 bytes, and its first and last characters mix with others.
  for (const before of ['', 'x', 'xx']) {
    const encoded = btoa(`${before}${secret}`).slice(4, -4);
    expect(text.includes(encoded), `the secret in base64 in ${where}`).toBe(false);
  }
};
