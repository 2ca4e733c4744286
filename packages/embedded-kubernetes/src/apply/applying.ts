/**
 * `PATCH` with an applied configuration: server-side apply.
 *
 * Promises: an apply that changes nothing writes nothing; one that would change fields of other
 * managers is refused with all of them, unless it is forced. Source:
 * `apiserver/pkg/endpoints/handlers/patch.go` (applyPatcher), Kubernetes docs (Server-Side Apply).
 */
import { asList, asRecord, type JsonRecord, textAt } from '../values/json.ts';
import { type ApiServerState, servedBy, storedAt, type Target } from '../api-server-state.ts';
import { apiVersionOf, type Kind, kindSubjectOf, subjectOf } from '../kinds/kind.ts';
import { nameOf, namespaceOf, withMetadata } from '../kinds/metadata.ts';
import { type FieldPolicy, withKnownFields } from '../schema/known-fields.ts';
import { invalidObject } from '../validation/field-problem.ts';
import { ApiProblem, badRequest, conflict, notFound } from '../validation/problem.ts';
import { create, inNamespace } from '../verbs/creating.ts';
import { written } from '../verbs/patching.ts';
import type { Updated, UpdateOptions } from '../verbs/updating.ts';
import { objectProblems } from './applied-fields.ts';
import { fieldsLastApplied, withLastApplied } from './last-applied.ts';
import { BEFORE_FIRST_APPLY, entriesOf, type ManagedEntry } from './managed-fields.ts';
import { nullProblems } from './null-fields.ts';
import { appliedTo, type OwnedWrite, updatedEntries } from './ownership.ts';
import { ownedWrite, withoutManagers } from './tracking.ts';
import type { WritePart } from './tracked-subresources.ts';
import { zeroObject } from './zero-objects.ts';

/** An apply request. */
export interface Apply extends Omit<UpdateOptions, 'part'> {
  readonly body: unknown;
  readonly isForced: boolean;
  readonly fields: FieldPolicy;
  readonly part?: WritePart;
}

const typeText = (object: JsonRecord): string => {
  const version = textAt(object, 'apiVersion') ?? '';
  const whole = version.includes('/') ? version : `/${version}`;
  return `${whole}, Kind=${textAt(object, 'kind') ?? ''}`;
};

/** What is applied; throws when it is no object of the kind. */
const configOf = (body: unknown, kind: Kind): JsonRecord => {
  const config = asRecord(body);
  if (config === undefined) {
    throw badRequest(
      'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ' +
        'the body into Go value of type map[string]interface {}',
    );
  }
  if ((asList(asRecord(config['metadata'])?.['managedFields']) ?? []).length > 0) {
    throw badRequest('metadata.managedFields must be nil');
  }
  if (config['kind'] !== kind.kind || config['apiVersion'] !== apiVersionOf(kind)) {
    throw badRequest(`invalid object type: ${typeText(config)}`);
  }
  return config;
};

const assertShape = (config: JsonRecord, { type }: OwnedWrite): void => {
  const problems = objectProblems(config, type);
  if (problems.length === 0) return;
  const name = `${namespaceOf(config)}/${nameOf(config)}`;
  const list = problems.length === 1
    ? problems[0]
    : ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n');
  throw new ApiProblem({
    code: 500,
    message: `failed to create typed patch object (${name}; ${typeText(config)}): ${list}`,
  });
};

const assertNew = (config: JsonRecord, { kind, at }: Target): void => {
  const [name, uid] = [nameOf(config), textAt(config, 'metadata', 'uid') ?? ''];
  if (name === '') {
    throw badRequest(
      `the name of the object (${at.name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (name !== at.name) {
    throw badRequest(
      `the name of the object (${name}) does not match the name on the URL (${at.name})`,
    );
  }
  if (uid === '') return;
  throw conflict(
    subjectOf(kind),
    at.name,
    `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
  );
};

const NOBODY: readonly ManagedEntry[] = [];

const createdBy = (
  server: ApiServerState,
  target: Target,
  { config, given, write }: {
    readonly config: JsonRecord;
    readonly given: Apply;
    readonly write: OwnedWrite;
  },
): Updated => {
  const { kind, at } = target;
  if (given.part !== undefined) throw notFound(subjectOf(kind), at.name);
  assertNew(config, target);
  const application = { live: {}, entries: NOBODY, config, isForced: true };
  const { entries: owned } = appliedTo(application, write);
  const whole = withMetadata(config, { resourceVersion: undefined });
  const object = withKnownFields(whole, kind, given.fields);
  const { dryRun, manager } = given;
  return { object: create(server, target, { object, dryRun, manager, owned }), created: true };
};

/** The managers of an object; one that was not tracked had one manager of everything. */
const managersOf = (
  object: JsonRecord,
  kind: Kind,
  write: OwnedWrite,
): readonly ManagedEntry[] => {
  const entries = entriesOf(object);
  if (entries !== undefined) return entries;
  const before = { ...write, writer: { ...write.writer, manager: BEFORE_FIRST_APPLY } };
  return updatedEntries(NOBODY, { before: zeroObject(kind), after: object }, before);
};

/** Applies a configuration to an object, or creates it. */
export const apply = (server: ApiServerState, target: Target, given: Apply): Updated => {
  const { kind } = target;
  const { manager, part, isForced } = given;
  const config = configOf(given.body, kind);
  const write = ownedWrite(server, kind, { manager, part });
  assertShape(config, write);
  inNamespace(config, target);
  const stored = storedAt(server, target);
  if (stored === undefined) return createdBy(server, target, { config, given, write });
  const current = servedBy(kind, stored);
  const live = withoutManagers(current);
  const { object, entries: owned } = appliedTo({
    live,
    entries: managersOf(current, kind, write),
    config,
    isForced,
    mayTake: fieldsLastApplied(live, manager, write.type),
  }, write);
  const problems = object === undefined ? [] : nullProblems(object, kind.schema);
  if (problems.length > 0) throw invalidObject(kindSubjectOf(kind), nameOf(live), problems);
  const result = withLastApplied(object ?? live, config, manager);
  const { body: _, ...options } = given;
  return {
    object: written(server, target, { result, current, options: { ...options, owned } }),
    created: false,
  };
};
