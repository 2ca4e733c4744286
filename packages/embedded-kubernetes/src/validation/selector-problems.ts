/** Validates label selectors (`apimachinery/pkg/apis/meta/v1/validation`). */
import { listOrEmptyAt, textAt } from '../values/json.ts';
import { fieldForbidden, type FieldProblem, invalid, required } from './field-problem.ts';

const SETS = new Set(['In', 'NotIn']);
const PRESENCES = new Set(['Exists', 'DoesNotExist']);

/** Validates the selector at `field`. */
export const selectorProblems = (selector: unknown, field: string): readonly FieldProblem[] =>
  listOrEmptyAt(selector, 'matchExpressions').flatMap((expression, index) => {
    const at = `${field}.matchExpressions[${index}]`;
    const operator = textAt(expression, 'operator') ?? '';
    const valued = listOrEmptyAt(expression, 'values').length > 0;
    if (SETS.has(operator)) {
      const why = "must be specified when `operator` is 'In' or 'NotIn'";
      return valued ? [] : [required(`${at}.values`, why)];
    }
    if (PRESENCES.has(operator)) {
      const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      return valued ? [fieldForbidden(`${at}.values`, why)] : [];
    }
    return [invalid(`${at}.operator`, operator, 'not a valid selector operator')];
  });
