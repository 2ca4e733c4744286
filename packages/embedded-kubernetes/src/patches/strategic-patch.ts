/**
 * Strategic merge patches: merge patches whose lists are merged by a key of their entries.
 *
 * Source: the `patchStrategy` and `patchMergeKey` tags of `k8s.io/api`, and
 * `apimachinery/pkg/util/strategicpatch`. Merge keys are looked up by field name, which suffices
 * for the served kinds; every other list is replaced whole, as its tag demands.
 */
import { asList, asRecord, asText, type JsonRecord } from '../values/json.ts';
import { sameJson } from './same-json.ts';

const KEYS: Readonly<Record<string, string>> = {
  addresses: 'type',
  conditions: 'type',
  containers: 'name',
  env: 'name',
  ephemeralContainers: 'name',
  hostAliases: 'ip',
  hostIPs: 'ip',
  imagePullSecrets: 'name',
  initContainers: 'name',
  ownerReferences: 'uid',
  podIPs: 'ip',
  resourceClaims: 'name',
  schedulingGates: 'name',
  secrets: 'name',
  topologySpreadConstraints: 'topologyKey',
  volumeDevices: 'devicePath',
  volumeMounts: 'mountPath',
  volumes: 'name',
};

const SETS = new Set(['finalizers']);

/** Ports of a Service and of a container have different merge keys. */
const keyOf = (field: string, parent: string): string | undefined => {
  if (field === 'ports') return parent === 'spec' ? 'port' : 'containerPort';
  return Object.hasOwn(KEYS, field) ? KEYS[field] : undefined;
};

const DIRECTIVE = '$patch';
const RETAIN = '$retainKeys';
const DELETE_FROM = '$deleteFromPrimitiveList/';
const ORDER = '$setElementOrder/';

const isDirective = (key: string): boolean => key.startsWith('$');

const withoutDirectives = (record: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries(record).filter(([key]) => !isDirective(key)));

/** The result of a patch on an absent value: without nulls and directives. */
const bare = (value: unknown): unknown => {
  const list = asList(value);
  if (list !== undefined) {
    return list.filter((item) => asRecord(item)?.[DIRECTIVE] !== 'delete').map(bare);
  }
  const record = asRecord(value);
  if (record === undefined) return value;
  return Object.fromEntries(
    Object.entries(withoutDirectives(record))
      .filter(([, item]) => item !== null)
      .map(([key, item]) => [key, bare(item)]),
  );
};

const keyed = (item: unknown, key: string): unknown => asRecord(item)?.[key];

const mergedList = (
  current: readonly unknown[],
  patch: readonly unknown[],
  key: string,
): readonly unknown[] => {
  const replaces = patch.some((item) =>
    asRecord(item)?.[DIRECTIVE] === 'replace' && keyed(item, key) === undefined
  );
  const wanted = patch.filter((item) => keyed(item, key) !== undefined);
  if (replaces) return wanted.map(bare);
  const list = [...current];
  for (const item of wanted) {
    const index = list.findIndex((old) => sameJson(keyed(old, key), keyed(item, key)));
    if (asRecord(item)?.[DIRECTIVE] === 'delete') {
      if (index >= 0) list.splice(index, 1);
    } else if (index < 0) list.push(bare(item));
    else list[index] = strategicPatched(list[index], item, key);
  }
  return ordered(list, { named: wanted, current, key });
};

const union = (current: readonly unknown[], added: readonly unknown[]): readonly unknown[] =>
  ordered([...current, ...added.filter((item) => !current.some((old) => sameJson(old, item)))], {
    named: added,
    current,
    key: undefined,
  });

const placeIn = (
  list: readonly unknown[],
  item: unknown,
  key: string | undefined,
): number =>
  list.findIndex((one) =>
    key === undefined ? sameJson(one, item) : sameJson(keyed(one, key), keyed(item, key))
  );

/**
 * Orders a merged list like the real server (`normalizeElementOrder`): patched entries follow the
 * patch's order; another entry precedes one of them only if it did before, so new entries come
 * first.
 */
const ordered = (
  list: readonly unknown[],
  { named, current, key }: {
    readonly named: readonly unknown[];
    readonly current: readonly unknown[];
    readonly key: string | undefined;
  },
): readonly unknown[] => {
  const right = list.filter((item) => placeIn(named, item, key) >= 0)
    .toSorted((one, other) => placeIn(named, one, key) - placeIn(named, other, key));
  const left = list.filter((item) => placeIn(named, item, key) < 0);
  const result: unknown[] = [];
  for (const item of right) {
    const before = placeIn(current, item, key);
    while (left.length > 0 && before >= 0) {
      const place = placeIn(current, left[0], key);
      if (place < 0 || place > before) break;
      result.push(left.shift());
    }
    result.push(item);
  }
  return [...result, ...left];
};

const listsOf = (
  patch: JsonRecord,
  prefix: string,
): readonly (readonly [string, readonly unknown[]])[] =>
  Object.entries(patch)
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, value]) => [key.slice(prefix.length), asList(value) ?? []] as const);

const fieldPatched = (
  { current, patch, field, parent }: {
    readonly current: unknown;
    readonly patch: unknown;
    readonly field: string;
    readonly parent: string;
  },
): unknown => {
  const [list, changes] = [asList(current), asList(patch)];
  if (changes === undefined) return strategicPatched(current, patch, field);
  if (SETS.has(field)) return union(list ?? [], changes);
  const key = keyOf(field, parent);
  return key === undefined ? changes : mergedList(list ?? [], changes, key);
};

const afterDirectives = (
  merged: Record<string, unknown>,
  patch: JsonRecord,
  parent: string,
): JsonRecord => {
  for (const [field, gone] of listsOf(patch, DELETE_FROM)) {
    merged[field] = (asList(merged[field]) ?? []).filter((item) =>
      !gone.some((one) => sameJson(one, item))
    );
  }
  for (const [field, order] of listsOf(patch, ORDER)) {
    const list = asList(merged[field]);
    if (list !== undefined) {
      const key = SETS.has(field) ? undefined : keyOf(field, parent);
      merged[field] = ordered(list, { named: order, current: list, key });
    }
  }
  const retained = asList(patch[RETAIN]);
  if (retained === undefined) return merged;
  return Object.fromEntries(Object.entries(merged).filter(([key]) => retained.includes(key)));
};

/** Merges the patch into the value; `field` is the name of the field that holds it. */
export const strategicPatched = (current: unknown, patch: unknown, field = ''): unknown => {
  const changes = asRecord(patch);
  const record = asRecord(current);
  if (changes === undefined) return patch;
  const directive = asText(changes[DIRECTIVE]);
  if (directive === 'delete') return {};
  if (record === undefined || directive === 'replace') return bare(changes);
  const merged: Record<string, unknown> = { ...record };
  for (const [key, value] of Object.entries(withoutDirectives(changes))) {
    if (value === null) delete merged[key];
    else {
      merged[key] = fieldPatched({ current: merged[key], patch: value, field: key, parent: field });
    }
  }
  return afterDirectives(merged, changes, field);
};
