/** What files cite: rule numbers that `docs/rules.md` has, and no document that is not here. */
import { CHAPTERS } from '../../tools/rules/chapters.ts';
import { lineAt, type Rule, type SourceFile, type Violation } from './source-file.ts';

const RULE_IDS = new Set(CHAPTERS.flatMap(({ rules }) => rules.map(({ id }) => id)));
const KINDS = new Set([...RULE_IDS].map((id) => id.replace(/-\d+$/, '')));
const CITED = new RegExp(`\\b(?:${[...KINDS].join('|')})-\\d+\\b`, 'g');

const unknownRules = (file: SourceFile): readonly Violation[] =>
  [...file.text.matchAll(CITED)].filter(([id]) => !RULE_IDS.has(id)).map((match) => ({
    path: file.path,
    line: lineAt(file.text, match.index),
    problem: `It cites rule ${match[0]}, which is not in docs/rules.md`,
    remedy: 'Cite a rule of tools/rules/, or write this one there with its tests',
  }));

/** Documents of elsewhere, with a rule or a section of theirs. */
const ELSEWHERE =
  /\((?:source: ?)?(?:seed|wire|drain[\s*]+rules)[:,)]|\b(?:seed|wire|drain[\s*]+rules): (?:rule \d|drains|operator|DR-)|\b(?:wire|drain-rules|design|conventions)\.md\b/g;

const absentDocuments = (file: SourceFile): readonly Violation[] =>
  [...file.comments.matchAll(ELSEWHERE)].map((match) => ({
    path: file.path,
    line: lineAt(file.comments, match.index),
    problem: `It cites "${match[0]}", a document that is not in the repository`,
    remedy: 'Cite the rule of docs/rules.md that says it',
  }));

/** Rules about citations. */
export const CITATION_RULES: readonly Rule[] = [
  {
    title: 'rules that are cited are in docs/rules.md',
    check: unknownRules,
    // Written in two parts: this file is looked through as well.
    planted: { path: 'src/domain/planted.ts', text: `/** As it must be (${'DR'}-99). */\n` },
  },
  {
    title: 'comments cite no document that is not in the repository',
    check: absentDocuments,
    planted: { path: 'src/domain/planted.ts', text: `/** Asked once (${'wire'}: rule 2). */\n` },
  },
];
