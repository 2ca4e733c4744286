/** 409 of an apply that would change fields of other managers, in the API server's words. */
import { ApiProblem } from '../validation/problem.ts';
import { type FieldSet, pathsIn } from './field-set.ts';
import type { ManagedEntry } from './managed-fields.ts';

/** The fields of another manager that an apply would change. */
export interface ManagerConflict {
  readonly entry: ManagedEntry;
  readonly fields: FieldSet;
}

const managerText = ({ manager, operation, apiVersion, subresource }: ManagedEntry): string => {
  const part = subresource === undefined ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  const version = operation === 'Update' ? ` using ${apiVersion}` : '';
  return `${JSON.stringify(manager)}${part}${version}`;
};

/** The problem that refuses the apply. */
export const applyConflict = (conflicts: readonly ManagerConflict[]): ApiProblem => {
  const managers = conflicts
    .map(({ entry, fields }) => ({ who: managerText(entry), paths: pathsIn(fields) }))
    .toSorted((left, right) => (left.who < right.who ? -1 : 1));
  const causes = managers.flatMap(({ who, paths }) =>
    paths.map((field) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${who}`,
      field,
    }))
  );
  const [only] = causes;
  const text = causes.length === 1 && only !== undefined
    ? `Apply failed with 1 conflict: ${only.message}: ${only.field}`
    : [
      `Apply failed with ${causes.length} conflicts: ` +
      managers.map(({ who, paths }) =>
        [`conflicts with ${who}:`, ...paths.map((path) => `- ${path}`)].join('\n')
      ).join('\n'),
    ].join('');
  return new ApiProblem({ code: 409, reason: 'Conflict', message: text, details: { causes } });
};
