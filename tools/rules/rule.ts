/** What a rule of the reference page is made of. */

/**
 * One rule: what holds, and what shows it: titles of tests, or their beginnings, or whole files
 * (`test/…`, `packages/…/test/…`).
 */
export interface Rule {
  readonly id: string;
  readonly text: string;
  readonly shownBy: readonly string[];
}

/** Rules that belong together. */
export interface RuleChapter {
  readonly title: string;
  readonly intro: string;
  readonly rules: readonly Rule[];
}
