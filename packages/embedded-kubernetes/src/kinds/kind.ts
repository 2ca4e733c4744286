/**
 * What the API server knows of a kind: its names, and the rules that differ from kind to kind
 * (`pkg/registry/<group>/<kind>/strategy.go` of Kubernetes).
 *
 * Promises: a rule that is absent means the common one, so a kind says only what is special about
 * it. Rules are pure: they get the objects and the moment, and give objects and problems back.
 */
import type { JsonRecord } from '../values/json.ts';
import type { FieldProblem } from '../validation/field-problem.ts';
import type { Store } from '../storage/store.ts';

/** What rules may look at beside the object. */
export interface Moment {
  readonly nowMs: number;
  readonly store: Store;
}

/** An object that is wanted in place of the current one. */
export interface Change {
  readonly wanted: JsonRecord;
  readonly current: JsonRecord;
}

/** Where the parts of a Scale stand in an object; paths like `['spec', 'replicas']`. */
export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** A text, or a `LabelSelector`. */
  readonly selector?: readonly string[];
}

/** A column of `kubectl get`, as a CRD declares it. */
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

/** Which fields a write through `/status` leaves as they are. */
export type StatusScope = 'spec' | 'spec and labels' | 'all but status';

/** A kind with its rules. */
export interface Kind extends KindNames {
  /** Where its objects are stored: `pods`, `deployments.apps`. */
  readonly resource: string;
  /** Served by a CRD: lists name the kind of each item, strategic patches are refused. */
  readonly custom: boolean;
  /** Verbs that are served; undefined serves all. */
  readonly verbs?: readonly string[];
  /** Whether `/status` is served. */
  readonly status: StatusScope | undefined;
  readonly scale?: ScalePaths;
  /** Fields whose change makes a new generation; undefined keeps no generation. */
  readonly generationOf?: (object: JsonRecord) => unknown;
  /** Default: `subdomain`. */
  readonly nameRule?: 'subdomain' | 'label' | 'service' | 'path segment';
  /** The object with the fields alone that the kind has; undefined goes by the built-in ones. */
  readonly pruned?: (object: JsonRecord) => JsonRecord;
  /** Fills in what is not said; on every write. */
  readonly defaulted?: (object: JsonRecord) => JsonRecord;
  /** Before an object is made. */
  readonly onCreate?: (object: JsonRecord, moment: Moment) => JsonRecord;
  /** Before an object is written over, not through `/status`. */
  readonly onUpdate?: (change: Change, moment: Moment) => JsonRecord;
  /** Admission: an object that comes is refused by throwing a problem. */
  readonly admit?: (object: JsonRecord, moment: Moment) => void;
  /** Admission: an object that is to go is kept by throwing a problem. */
  readonly admitDelete?: (object: JsonRecord) => void;
  readonly problems?: (object: JsonRecord) => readonly FieldProblem[];
  readonly changeProblems?: (change: Change) => readonly FieldProblem[];
  /** Fields that `fieldSelector` takes beside the name and the namespace. */
  readonly fields?: (object: JsonRecord) => Readonly<Record<string, string>>;
  /** How many seconds a deletion waits; undefined deletes at once. */
  readonly grace?: (object: JsonRecord, askedSeconds: number | undefined) => number | undefined;
  /** True while something beside finalizers keeps a deleted object. */
  readonly held?: (object: JsonRecord) => boolean;
  /** Before an object is marked as deleted. */
  readonly onDeleting?: (object: JsonRecord) => JsonRecord;
  /** Whether the garbage collector minds its owners; default true. */
  readonly collected?: boolean;
  /** The object itself answers its deletion, not a Status. */
  readonly returnsDeleted?: boolean;
  /** False: an update must say which resourceVersion it changes. */
  readonly unconditionalUpdate: boolean;
  /** A `PUT` of what is not there makes it. */
  readonly createOnUpdate?: boolean;
  /** Another version of the same stored objects. */
  readonly conversion?: Conversion;
  /** A kind of questions: a `POST` is answered and nothing is stored. */
  readonly respond?: (object: JsonRecord) => JsonRecord;
  readonly columns?: readonly DeclaredColumn[];
  /** OpenAPI schema, when it came with a CRD. */
  readonly schema?: JsonRecord;
}

/** How the objects of this version are stored. */
export interface Conversion {
  readonly toStored: (object: JsonRecord) => JsonRecord;
  readonly fromStored: (object: JsonRecord) => JsonRecord;
}

/** The usual names of a kind. */
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

/** `deployments.apps`, `pods`: where objects of that kind are stored. */
export const resourceOf = ({ group, plural }: Pick<KindNames, 'group' | 'plural'>): string =>
  group === '' ? plural : `${plural}.${group}`;

/** The resource as it stands in refusals. */
export const subjectOf = ({ group, plural }: Pick<KindNames, 'group' | 'plural'>) => ({
  group,
  kind: plural,
});

/** The kind as it stands in refusals. */
export const kindSubjectOf = ({ group, kind }: Pick<KindNames, 'group' | 'kind'>) => ({
  group,
  kind,
});
