/**
 * What operators on a test bed did with their rights, by the API server's audit log.
 *
 * Promises: a suite with a bed fails when one of its operators was refused for lack of a right, and
 * when it is a witness in `right-witnesses.ts` and its operators no longer used such a right. Only
 * processes with a single role are witnesses: of others it is open which role used it.
 */
import { expect } from 'vitest';
import { NEEDED_RIGHTS, rightName } from '../../../src/domain/operator-rights.ts';
import { ROLE_NAMES, type RoleName } from '../../../src/domain/operator-roles.ts';
import type { AuditEntry } from '../../../tools/testbed/audit.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';
import { WITNESSES } from './right-witnesses.ts';
import { hasAccounts, rolesOfEntry } from './role-account.ts';

/** Rights such as `patch nodes/status` that a role used. */
type UsedRights = ReadonlyMap<RoleName, ReadonlySet<string>>;

const CREATED = 201;

/** A patch by server-side apply that creates needs both verbs. */
const verbsOf = ({ verb, code }: AuditEntry): readonly string[] =>
  verb === 'patch' && code === CREATED ? ['create', 'patch'] : [verb];

const rightsOf = (entry: AuditEntry): readonly string[] => {
  const { apiGroup: group, resource, subresource } = entry;
  if (resource === '') return [];
  return verbsOf(entry).map((verb) => `${verb} ${rightName({ group, resource, subresource })}`);
};

/** What the processes of each role used, of those that have that role alone. */
const usedRights = (entries: readonly AuditEntry[]): UsedRights => {
  const used = new Map<RoleName, Set<string>>(ROLE_NAMES.map((role) => [role, new Set()]));
  for (const entry of entries) {
    const [role, ...others] = rolesOfEntry(entry) ?? [];
    if (role === undefined || others.length > 0) continue;
    for (const right of rightsOf(entry)) used.get(role)?.add(right);
  }
  return used;
};

/** A suite as far as it matters here. */
export interface EndedSuite {
  readonly fullName: string;
  readonly tasks: readonly EndedTask[];
}

type EndedTask =
  | { readonly type: 'test'; readonly result?: { readonly state: string } }
  | { readonly type: 'suite'; readonly tasks: readonly EndedTask[] };

/** Whether all of its tests ran and passed: a part of them shows a part of the rights. */
const isComplete = ({ tasks }: Pick<EndedSuite, 'tasks'>): boolean =>
  tasks.every((task) => task.type === 'suite' ? isComplete(task) : task.result?.state === 'pass');

/** The rights of roles. */
const grantedTo = (roles: readonly RoleName[]): ReadonlySet<string> =>
  new Set(
    roles.flatMap((role) => NEEDED_RIGHTS[role])
      .flatMap((right) => right.verbs.map((verb) => `${verb} ${rightName(right)}`)),
  );

/** What is wrong with the rights of the operators of a suite, by the requests of its bed. */
export const rightsProblems = (
  entries: readonly AuditEntry[],
  suite: EndedSuite,
  isRestarted: boolean,
): readonly string[] => {
  const refused = entries.filter(({ isUnauthorized }) => isUnauthorized)
    .flatMap((entry) => {
      const roles = rolesOfEntry(entry);
      const [right = entry.uri] = rightsOf(entry);
      if (roles === undefined || (isRestarted && grantedTo(roles).has(right))) return [];
      return `${roles.join()} may not ${right}`;
    });
  const used = usedRights(entries);
  const unused = ROLE_NAMES.flatMap((role) =>
    (isComplete(suite) ? WITNESSES[role][suite.fullName] ?? [] : [])
      .filter((right) => used.get(role)?.has(right) !== true)
      .map((right) => `${role} did not ${right}, which this suite is a witness of`)
  );
  return [...new Set([...refused, ...unused])];
};

/** Checks the operators of a suite that has ended. */
export const expectRights = async (bed: Testbed, suite: EndedSuite): Promise<void> => {
  if (!hasAccounts(bed)) return;
  const problems = rightsProblems(await bed.audit(), suite, bed.isRestarted());
  expect(problems, 'the rights of operators').toEqual([]);
};
