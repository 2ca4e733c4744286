/**
 * A kind's names and strategy (`pkg/registry/<group>/<kind>/strategy.go` of Kubernetes).
 *
 * Promises: an absent rule means the default, so a kind lists only its exceptions. Rules are pure:
 * they take objects and the time, and return objects and problems.
 */
import type { JsonRecord } from '../values/json.ts';
import type { UserOfToken } from '../authentication/authenticator.ts';
import type { User } from '../authentication/user.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { FieldProblem } from '../validation/field-problem.ts';
import type { Store } from '../storage/store.ts';

/** The context of a rule beside the object. */
export interface Moment {
  readonly nowMs: number;
  readonly store: Store;
}

/** What a virtual kind answers from. */
export interface ReviewContext {
  readonly caller: User;
  readonly authorizer: Authorizer;
  readonly userOfToken: UserOfToken;
  readonly nowMs: number;
}

/** A wanted object and the current one that it replaces. */
export interface Change {
  readonly wanted: JsonRecord;
  readonly current: JsonRecord;
}

/** Where an object keeps the parts of a Scale; paths like `['spec', 'replicas']`. */
export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** A serialized selector, or a `LabelSelector`. */
  readonly selector?: readonly string[];
}

/** A printer column, as a CRD declares it. */
export interface DeclaredColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

/** The names of a kind. */
export interface KindNames {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
}

/** Which fields a write through `/status` preserves. */
export type StatusScope = 'spec' | 'spec and labels' | 'all but status';

/** A kind with its rules. */
export interface Kind extends KindNames {
  /** The store's resource name: `pods`, `deployments.apps`. */
  readonly resource: string;
  /** Defined by a CRD: list items name their kind, strategic patches are refused. */
  readonly custom: boolean;
  /** Verbs that are served; undefined serves all. */
  readonly verbs?: readonly string[];
  /** Whether `/status` is served. */
  readonly status: StatusScope | undefined;
  readonly scale?: ScalePaths;
  /** Fields whose change increments the generation; undefined keeps no generation. */
  readonly generationOf?: (object: JsonRecord) => unknown;
  /** Default: `subdomain`. */
  readonly nameRule?: 'subdomain' | 'label' | 'service' | 'path segment';
  /** Keeps only the fields of the kind; undefined uses the built-in schema. */
  readonly pruned?: (object: JsonRecord) => JsonRecord;
  /** Applies defaults, on every write. */
  readonly defaulted?: (object: JsonRecord) => JsonRecord;
  /** Runs before creation. */
  readonly onCreate?: (object: JsonRecord, moment: Moment) => JsonRecord;
  /** Runs before an update, except through `/status`. */
  readonly onUpdate?: (change: Change, moment: Moment) => JsonRecord;
  /** Admission of a creation or update: throws a problem to refuse. */
  readonly admit?: (object: JsonRecord, moment: Moment) => void;
  /** Admission of a deletion: throws a problem to refuse. */
  readonly admitDelete?: (object: JsonRecord) => void;
  readonly problems?: (object: JsonRecord) => readonly FieldProblem[];
  readonly changeProblems?: (change: Change) => readonly FieldProblem[];
  /** Field selectors beside `metadata.name` and `metadata.namespace`. */
  readonly fields?: (object: JsonRecord) => Readonly<Record<string, string>>;
  /** Grace seconds of a deletion; undefined deletes at once. */
  readonly grace?: (object: JsonRecord, askedSeconds: number | undefined) => number | undefined;
  /** True while something other than finalizers blocks the removal of a deleted object. */
  readonly held?: (object: JsonRecord) => boolean;
  /** Runs before the deletion timestamp is set. */
  readonly onDeleting?: (object: JsonRecord) => JsonRecord;
  /** Whether the garbage collector follows its owner references; default true. */
  readonly collected?: boolean;
  /** A deletion responds with the object instead of a Status. */
  readonly returnsDeleted?: boolean;
  /** False: an update must name its resourceVersion. */
  readonly unconditionalUpdate: boolean;
  /** A `PUT` of an absent object creates it. */
  readonly createOnUpdate?: boolean;
  /** Another version of the same stored objects. */
  readonly conversion?: Conversion;
  /** A virtual kind: a `POST` is answered and nothing is stored. */
  readonly respond?: (object: JsonRecord, context: ReviewContext) => JsonRecord;
  readonly columns?: readonly DeclaredColumn[];
  /** The OpenAPI schema of a CRD. */
  readonly schema?: JsonRecord;
}

/** Converts objects of this version to and from the stored form. */
export interface Conversion {
  readonly toStored: (object: JsonRecord) => JsonRecord;
  readonly fromStored: (object: JsonRecord) => JsonRecord;
}

/** The default names of a kind. */
export const kindNames = (
  group: string,
  kind: string,
  names: Partial<KindNames> & Pick<KindNames, 'namespaced'>,
): KindNames => {
  const singular = names.singular ?? kind.toLowerCase();
  return {
    group,
    version: 'v1',
    kind,
    plural: `${singular}s`,
    singular,
    listKind: `${kind}List`,
    shortNames: [],
    categories: [],
    ...names,
  };
};

/** `apps/v1`, `v1`. */
export const apiVersionOf = ({ group, version }: Pick<KindNames, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;

/** `deployments.apps`, `pods`: the store's name of a kind. */
export const resourceOf = ({ group, plural }: Pick<KindNames, 'group' | 'plural'>): string =>
  group === '' ? plural : `${plural}.${group}`;

/** The resource as error messages name it. */
export const subjectOf = ({ group, plural }: Pick<KindNames, 'group' | 'plural'>) => ({
  group,
  kind: plural,
});

/** The kind as error messages name it. */
export const kindSubjectOf = ({ group, kind }: Pick<KindNames, 'group' | 'kind'>) => ({
  group,
  kind,
});
