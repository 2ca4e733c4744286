/** The steps of contract cases about server-side apply and the managers of fields. */
import { expect } from 'vitest';
import { listOrEmptyAt, recordAt, textAt } from '../../src/domain/json.ts';
import { config, like, merge, patch, refused, type Step, type Wanted } from './steps.ts';

/** Who applies, and how. */
interface ApplyOptions {
  readonly as?: string;
  readonly force?: boolean;
  /** Further parameters of the query. */
  readonly more?: string;
  readonly wanted?: Wanted;
}

/** Applies a configuration as the manager `me`, or as another. */
export const applies = (path: string, body: unknown, options: ApplyOptions = {}): Step => {
  const { as = 'me', force = false, more = '', wanted = 200 } = options;
  const query = `fieldManager=${as}${force ? '&force=true' : ''}${more}`;
  return patch(`${path}?${query}`, config(body), wanted);
};

/** A merge patch of a named manager. */
export const updates = (path: string, as: string, body: unknown): Step =>
  patch(`${path}?fieldManager=${as}`, merge(body));

/** Fields of a set, by path element. */
export interface Fields {
  readonly [element: string]: Fields;
}

const titleOf = (entry: unknown): string => {
  const part = textAt(entry, 'subresource');
  const title = `${textAt(entry, 'manager')} ${textAt(entry, 'operation')}`;
  return part === undefined ? title : `${title} ${part}`;
};

/** The managers of the newest answer, as `manager Operation subresource`, and their fields. */
export const managed = (wanted: Readonly<Record<string, Fields>>): Step => (run) => {
  const entries = listOrEmptyAt(run.answer.body, 'metadata', 'managedFields');
  const found = entries.map((entry) => [titleOf(entry), recordAt(entry, 'fieldsV1')]);
  expect(Object.fromEntries(found)).toEqual(wanted);
  expect(entries.length).toBe(Object.keys(wanted).length);
  return Promise.resolve();
};

/** The managers in the order of the newest answer. */
export const managersInOrder = (...wanted: readonly string[]): Step => (run) => {
  const entries = listOrEmptyAt(run.answer.body, 'metadata', 'managedFields');
  expect(entries.map(titleOf)).toEqual(wanted);
  return Promise.resolve();
};

/** A refusal that names these fields, each with its manager as messages write it. */
export const conflictsWith = (
  causes: readonly (readonly [manager: string, field: string])[],
  message: unknown = expect.stringMatching(/^Apply failed with \d+ conflict/),
): Wanted =>
  refused(409, 'Conflict', {
    message,
    details: {
      causes: expect.arrayContaining(
        causes.map(([manager, field]) => ({
          reason: 'FieldManagerConflict',
          message: `conflict with ${manager}`,
          field,
        })),
      ),
    },
  });

/** An apply that the API server cannot read as an object of the kind. */
export const untyped = (problem: string): Wanted => ({
  status: 500,
  body: {
    kind: 'Status',
    status: 'Failure',
    message: like(
      new RegExp(`^failed to create typed patch object .*${RegExp.escape(problem)}`),
    ),
  },
});
