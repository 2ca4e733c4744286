/**
 * The CustomResourceDefinition kind and its establishing, updating and finalizing.
 *
 * Promises: a kind is served in the same step in which its definition is stored; deleting a
 * definition deletes its objects first. Source:
 * `apiextensions-apiserver/pkg/{registry/customresourcedefinition,controller}`.
 */
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  recordAt,
  textAt,
  valueAt,
} from '../values/json.ts';
import { rfc3339Seconds } from '../values/time.ts';
import type { ApiServerState } from '../api-server-state.ts';
import { withCondition } from '../kinds/conditions.ts';
import { customKind, schemaOf } from '../kinds/custom-kind.ts';
import { specAlone } from '../kinds/generations.ts';
import { type Kind, kindNames } from '../kinds/kind.ts';
import { finalizersOf, isDeleting, nameOf, withMetadata } from '../kinds/metadata.ts';
import { type FieldProblem, invalid, notSupported, required } from '../validation/field-problem.ts';
import { remove } from '../verbs/deleting.ts';
import { isReleased } from '../verbs/updating.ts';

const RESOURCE = 'customresourcedefinitions.apiextensions.k8s.io';
const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

const versionsOf = (definition: JsonRecord): readonly JsonRecord[] =>
  listOrEmptyAt(definition, 'spec', 'versions').map((one) => asRecord(one) ?? {});

const withNames = (definition: JsonRecord): JsonRecord => {
  const spec = recordAt(definition, 'spec') ?? {};
  const names = recordAt(spec, 'names') ?? {};
  const kind = textAt(names, 'kind') ?? '';
  return {
    ...definition,
    spec: {
      ...spec,
      names: { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names },
      conversion: recordAt(spec, 'conversion') ?? { strategy: 'None' },
    },
  };
};

/** Paths at which a schema is not structural. */
const structureProblems = (schema: JsonRecord, field: string): FieldProblem[] => {
  const free = schema['x-kubernetes-preserve-unknown-fields'] === true ||
    schema['x-kubernetes-int-or-string'] === true;
  const typeless = (textAt(schema, 'type') ?? '') === '' && !free;
  const inner = Object.entries(recordAt(schema, 'properties') ?? {}).flatMap(([name, property]) =>
    structureProblems(asRecord(property) ?? {}, `${field}.properties[${name}]`)
  );
  const items = recordAt(schema, 'items');
  const values = recordAt(schema, 'additionalProperties');
  return [
    ...(typeless
      ? [required(`${field}.type`, 'must not be empty for specified object fields')]
      : []),
    ...inner,
    ...(items === undefined ? [] : structureProblems(items, `${field}.items`)),
    ...(values === undefined ? [] : structureProblems(values, `${field}.additionalProperties`)),
  ];
};

const compileProblems = (
  definition: JsonRecord,
  version: JsonRecord,
  field: string,
): FieldProblem[] => {
  try {
    customKind(definition, version);
    return [];
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return [invalid(field, schemaOf(version), `the embedded cluster cannot compile it: ${why}`)];
  }
};

const versionProblems = (
  definition: JsonRecord,
  version: JsonRecord,
  index: number,
): FieldProblem[] => {
  const field = `spec.versions[${index}].schema.openAPIV3Schema`;
  const schema = recordAt(version, 'schema', 'openAPIV3Schema');
  if (schema === undefined) return [required(field, 'schemas are required')];
  const structure = structureProblems(schema, field);
  return structure.length > 0 ? structure : compileProblems(definition, version, field);
};

const SCOPES = ['Cluster', 'Namespaced'];

const problems = (definition: JsonRecord): readonly FieldProblem[] => {
  const plural = textAt(definition, 'spec', 'names', 'plural') ?? '';
  const group = textAt(definition, 'spec', 'group') ?? '';
  const scope = textAt(definition, 'spec', 'scope') ?? '';
  const versions = versionsOf(definition);
  const stored = versions.filter((version) => version['storage'] === true);
  return [
    ...(nameOf(definition) === `${plural}.${group}`
      ? []
      : [invalid('metadata.name', nameOf(definition), 'must be spec.names.plural+"."+spec.group')]),
    ...(group === '' ? [required('spec.group')] : []),
    ...(SCOPES.includes(scope) ? [] : [notSupported('spec.scope', scope, SCOPES)]),
    ...(versions.length === 0 ? [required('spec.versions', 'must have at least one version')] : []),
    ...(stored.length === 1 ? [] : [
      invalid('spec.versions', versions, 'must have exactly one version marked as storage version'),
    ]),
    ...['plural', 'kind'].filter((name) => !textAt(definition, 'spec', 'names', name))
      .map((name) => required(`spec.names.${name}`)),
    ...versions.flatMap((version, index) => versionProblems(definition, version, index)),
  ];
};

/** The kind CustomResourceDefinition. */
export const definitionKind: Kind = {
  ...kindNames('apiextensions.k8s.io', 'CustomResourceDefinition', {
    namespaced: false,
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
  }),
  resource: RESOURCE,
  custom: false,
  status: 'spec',
  generationOf: specAlone,
  defaulted: withNames,
  onCreate: (definition) => ({
    ...definition,
    status: {
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: versionsOf(definition).filter((one) => one['storage'] === true)
        .map((one) => textAt(one, 'name')),
    },
  }),
  problems,
  changeProblems: ({ wanted, current }) =>
    ['group', 'scope'].filter((field) =>
      valueAt(wanted, 'spec', field) !== valueAt(current, 'spec', field)
    ).map((field) =>
      invalid(`spec.${field}`, valueAt(wanted, 'spec', field), 'field is immutable')
    ),
  unconditionalUpdate: false,
};

const kindsOf = (definition: JsonRecord): readonly Kind[] =>
  versionsOf(definition).filter((version) => version['served'] === true)
    .map((version) => customKind(definition, version));

const established = (definition: JsonRecord, now: string): JsonRecord => {
  const named = withCondition(definition, {
    type: 'NamesAccepted',
    status: 'True',
    reason: 'NoConflicts',
    message: 'no conflicts found',
    now,
  });
  const whole = withCondition(named, {
    type: 'Established',
    status: 'True',
    reason: 'InitialNamesAccepted',
    message: 'the initial names have been accepted',
    now,
  });
  const status = {
    ...recordAt(whole, 'status'),
    acceptedNames: recordAt(definition, 'spec', 'names'),
  };
  return withMetadata({ ...whole, status }, {
    finalizers: [...new Set([...finalizersOf(definition), CLEANUP])],
  });
};

const isEstablished = (definition: JsonRecord): boolean =>
  listOrEmptyAt(definition, 'status', 'conditions').some((one) =>
    textAt(one, 'type') === 'Established'
  );

const emptied = (server: ApiServerState, kinds: readonly Kind[]): void => {
  for (const kind of kinds.slice(0, 1)) {
    for (const object of [...server.store.collection(kind.resource).objects()]) {
      const at = { namespace: textAt(object, 'metadata', 'namespace') ?? '', name: nameOf(object) };
      remove(server, { kind, at }, { dryRun: false });
    }
  }
};

const released = (server: ApiServerState, definition: JsonRecord): void => {
  const at = { namespace: '', name: nameOf(definition) };
  const rest = finalizersOf(definition).filter((one) => one !== CLEANUP);
  const object = withMetadata(definition, { finalizers: rest.length > 0 ? rest : undefined });
  if (isReleased(object, definitionKind)) server.store.remove(RESOURCE, at);
  else server.store.put(RESOURCE, at, object);
};

/** Serves the kinds of stored and future definitions. */
export const serveDefinitions = (server: ApiServerState): () => void => {
  const { kinds, store, time } = server;
  const served = new Map<string, readonly Kind[]>();

  const withdraw = (name: string): void => {
    for (const kind of served.get(name) ?? []) kinds.remove(kind);
    served.delete(name);
  };
  const serve = (definition: JsonRecord): void => {
    withdraw(nameOf(definition));
    const made = kindsOf(definition);
    for (const kind of made) kinds.add(kind);
    served.set(nameOf(definition), made);
  };
  const observe = (definition: JsonRecord): void => {
    if (isDeleting(definition)) {
      if (!finalizersOf(definition).includes(CLEANUP)) return;
      emptied(server, served.get(nameOf(definition)) ?? []);
      released(server, definition);
      return;
    }
    serve(definition);
    if (isEstablished(definition)) return;
    const at = { namespace: '', name: nameOf(definition) };
    store.put(RESOURCE, at, established(definition, rfc3339Seconds(time.now())));
  };

  for (const definition of [...store.collection(RESOURCE).objects()]) observe(definition);
  return store.subscribe(({ resource, type, object }) => {
    if (resource !== RESOURCE) return;
    if (type === 'DELETED') withdraw(nameOf(object));
    else observe(object);
  });
};
