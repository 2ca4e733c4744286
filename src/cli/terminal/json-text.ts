/** The JSON of `-o json`: for people, and for programs that read the whole of it. */

/** A value as indented JSON, with a line feed at its end. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
