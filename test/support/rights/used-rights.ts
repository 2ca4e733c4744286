/**
 * What operators on a test bed did with their rights, by the API server's audit log.
 *
 * Promises: a suite with a bed fails when one of its operators was refused for lack of a right, and
 * when it is a witness in `right-witnesses.ts` and its operators no longer used such a right. Only
 * processes with a single role are witnesses: of others it is open which role used it.
 */
import { expect, type RunnerTestSuite } from 'vitest';
import { rightName } from '../../../src/domain/operator-rights.ts';
import { ROLE_NAMES, type RoleName } from '../../../src/domain/operator-roles.ts';
import type { AuditEntry } from '../../../tools/testbed/audit.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';
import { WITNESSES } from './right-witnesses.ts';
import { hasAccounts, rolesOfEntry } from './role-account.ts';

/** Rights such as `patch nodes/status` that a role used. */
export type UsedRights = ReadonlyMap<RoleName, ReadonlySet<string>>;

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
export const usedRights = (entries: readonly AuditEntry[]): UsedRights => {
  const used = new Map<RoleName, Set<string>>(ROLE_NAMES.map((role) => [role, new Set()]));
  for (const entry of entries) {
    const [role, ...others] = rolesOfEntry(entry) ?? [];
    if (role === undefined || others.length > 0) continue;
    for (const right of rightsOf(entry)) used.get(role)?.add(right);
  }
  return used;
};

type EndedSuite = Pick<RunnerTestSuite, 'fullName' | 'tasks'>;

/** Whether all of its tests ran and passed: a part of them shows a part of the rights. */
const isComplete = ({ tasks }: Pick<EndedSuite, 'tasks'>): boolean =>
  tasks.every((task) => task.type === 'suite' ? isComplete(task) : task.result?.state === 'pass');

/** Checks the operators of a suite that has ended. */
export const expectRights = async (bed: Testbed, suite: EndedSuite): Promise<void> => {
  if (!hasAccounts(bed)) return;
  const entries = (await bed.audit()).filter((entry) => rolesOfEntry(entry) !== undefined);
  const refused = entries.filter(({ isUnauthorized }) => isUnauthorized)
    .map((entry) => `${rolesOfEntry(entry)?.join()}: ${rightsOf(entry)[0] ?? entry.uri}`);
  expect([...new Set(refused)], 'no operator lacks a right').toEqual([]);
  if (!isComplete(suite)) return;
  const used = usedRights(entries);
  for (const role of ROLE_NAMES) {
    const shown = WITNESSES[role][suite.fullName] ?? [];
    const unused = shown.filter((right) => used.get(role)?.has(right) !== true);
    expect(unused, `rights of the role ${role} that are no longer used here`).toEqual([]);
  }
};
