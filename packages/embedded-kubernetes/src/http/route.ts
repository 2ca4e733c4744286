/** Parses an API path: kind, namespace, name and subresource. */
import type { Kinds } from '../api-server-state.ts';
import type { Kind } from '../kinds/kind.ts';

/** A path that names a kind. */
export interface Route {
  readonly kind: Kind;
  /** Undefined for all namespaces, '' for cluster-scoped objects. */
  readonly namespace: string | undefined;
  /** Undefined for the whole collection. */
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

interface Located {
  readonly group: string;
  readonly version: string;
  readonly rest: readonly string[];
}

/** The decoded segment; a malformed escape stays as it is and matches no object. */
const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

/** The segments of a path, decoded. */
export const decodedSegments = (path: string): readonly string[] => {
  const parts = path.split('/').filter((part) => part !== '');
  return path.includes('%') ? parts.map(decoded) : parts;
};

const located = (path: string): Located | undefined => {
  const [root, ...segments] = decodedSegments(path);
  if (root === 'api') {
    const [version = '', ...rest] = segments;
    return { group: '', version, rest };
  }
  if (root !== 'apis') return undefined;
  const [group = '', version = '', ...rest] = segments;
  return { group, version, rest };
};

/** Subresources of a namespace, whose paths look like namespaced resources. */
const OF_NAMESPACES = new Set(['status', 'finalize']);

/** Resolves a path; undefined when nothing is served there. */
export const routeOf = (path: string, kinds: Kinds): Route | undefined => {
  const at = located(path);
  if (at === undefined) return undefined;
  const { group, version, rest } = at;
  const [first, second, third] = rest;
  const inNamespace = first === 'namespaces' && third !== undefined &&
    !(group === '' && OF_NAMESPACES.has(third) && rest.length === 3);
  const [plural = '', name, subresource, ...more] = inNamespace ? rest.slice(2) : rest;
  const kind = kinds.find(group, version, plural);
  if (kind === undefined || more.length > 0) return undefined;
  if (kind.namespaced) {
    if (!inNamespace && name !== undefined) return undefined;
    return { kind, namespace: inNamespace ? second : undefined, name, subresource };
  }
  return inNamespace ? undefined : { kind, namespace: '', name, subresource };
};
