/** The parts of a rule of the reference page. */

/**
 * One rule and its tests: titles, beginnings of titles, or whole files (`test/…`,
 * `packages/…/test/…`).
 */
export interface Rule {
  readonly id: string;
  readonly text: string;
  readonly testedBy: readonly string[];
  /** Why no test sees it at a real API server; for rules that have to be seen there. */
  readonly elsewhere?: string;
  /** Why Tidegate does not keep it; such a rule has no test. */
  readonly unsupported?: string;
}

/** Rules that belong together. */
export interface RuleChapter {
  readonly title: string;
  readonly intro: string;
  readonly rules: readonly Rule[];
}
