/**
 * Retired names do not come back: in no identifier, no event of a statechart, no file name.
 *
 * Each retired name is also planted, so that an entry of the list that finds nothing fails.
 */
import { describe, expect, test } from 'vitest';
import { projectFiles, sourceFile, violationText } from './tidy/source-file.ts';
import {
  PLANTED_NAMES,
  retiredFileNames,
  retiredNames,
  VOCABULARY_RULES,
} from './tidy/vocabulary.ts';

const files = projectFiles();

/** Names that contain letters of retired ones, or are given by others. */
const RIGHT = [
  'indoor',
  'returnValue',
  'lawful',
  'forecast',
  'takeUntil',
  'noteworthy',
  'parts',
  'members',
  'revisionHistoryLimit',
  'scheduler',
];

describe('vocabulary', () => {
  test.each(VOCABULARY_RULES)('$title', ({ check }) => {
    expect(files.flatMap(check).map(violationText)).toEqual([]);
  });

  test('no file that is no source file has a retired word in its name', () => {
    expect(retiredFileNames().map(violationText)).toEqual([]);
  });

  test.each(PLANTED_NAMES)('the retired name "$retired" is found', ({ planted }) => {
    const found = retiredNames(sourceFile(planted.path, planted.text)).map(violationText);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^src\/\S+:\d+: Its name ".+" has the retired ".+"\. Use ".+$/);
  });

  test('a retired name is found as the event of a statechart and in another case', () => {
    const text =
      // In two parts: this file is looked through as well.
      "/** Planted. */\nconst a = { on: { 'do" + "or.opened': 'b' } };\nconst KUBE_DOORS = 1;\n";
    const found = retiredNames(sourceFile('src/machines/planted.ts', text));
    expect(found.map(({ line }) => line).toSorted()).toEqual([2, 3]);
  });

  test.each(RIGHT)('the name "%s" is no retired one', (name) => {
    const text = `/** Planted. */\nexport const ${name} = 'shown';\n// It said so.\n`;
    expect(retiredNames(sourceFile('src/domain/planted.ts', text))).toEqual([]);
  });
});
