/**
 * Every verb that is granted is used. The rights of a role are those that its witnesses use, suites
 * with an operator of that role alone (`test/support/rights`), and those that the policies of the
 * chart ask for; of a few, other tests send the requests. A new right needs a witness; a witness
 * that no longer uses a right fails.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { NEEDED_RIGHTS, type NeededRight, rightName } from '../../../src/domain/operator-rights.ts';
import { ROLE_NAMES } from '../../../src/domain/operator-roles.ts';
import { NOT_WITNESSED, WITNESSES } from '../../support/rights/right-witnesses.ts';
import { PROJECT } from '../../tidy/source-file.ts';

const POLICIES = `${PROJECT}charts/tidegate/files/policies/`;
const CHECK =
  /authorizer\s*\.group\('([^']*)'\)\s*\.resource\('([^']*)'\)(?:\s*\.\w+\((?:'[^']*'|[^()]*)\))*?\s*\.check\('([^']*)'\)/g;

/** What the policies ask the authorizer. */
const askedByPolicies = new Set(
  readdirSync(POLICIES).flatMap((file) =>
    [...readFileSync(`${POLICIES}${file}`, 'utf8').matchAll(CHECK)].map((
      [, group = '', resource = '', verb = ''],
    ) => `${verb} ${rightName({ group, resource, subresource: '' })}`)
  ),
);

const verbsOf = (right: NeededRight): readonly string[] =>
  right.verbs.map((verb) => `${verb} ${rightName(right)}`);

test('the policies ask for the verbs that only they know', () => {
  expect([...askedByPolicies].toSorted()).toEqual([
    'act controllers.lifecycle.tidegate.dev',
    'delete nodes',
    'delete pods',
    'drain nodes',
    'report interceptors.lifecycle.tidegate.dev',
  ]);
});

describe.each(ROLE_NAMES)('the rights of the role %s', (role) => {
  const granted = new Set(NEEDED_RIGHTS[role].flatMap(verbsOf));
  const witnessed = Object.values(WITNESSES[role]).flat();
  const explained = Object.keys(NOT_WITNESSED[role]);

  test('are used by a witness, or asked for by a policy', () => {
    const used = new Set([...witnessed, ...explained, ...askedByPolicies]);
    expect([...granted].filter((right) => !used.has(right))).toEqual([]);
  });

  test('are all that its witnesses use', () => {
    expect([...witnessed, ...explained].filter((right) => !granted.has(right))).toEqual([]);
  });

  test('have no other explanation where they have a witness', () => {
    expect(explained.filter((right) => witnessed.includes(right))).toEqual([]);
  });

  test.each(Object.entries(NOT_WITNESSED[role]))('%s is tested by %s', (_, file) => {
    expect(existsSync(`${PROJECT}${file}`)).toBe(true);
  });

  test.each(Object.keys(WITNESSES[role]))('%s is a suite', (name) => {
    const [file = '', title = ''] = name.split(' > ');
    expect(readFileSync(`${PROJECT}${file}`, 'utf8')).toContain(title);
  });
});
