/**
 * A bed as it was when it was new, for the next test.
 *
 * Promises: only objects of the control plane itself are left, which is looked up in etcd, behind
 * every cache and finalizer; a bed of which a test has changed these is refused.
 */
import type { Layout } from './control-plane.ts';
import { deleteStored, type Stored, storedObjects } from './etcd.ts';
import { eventually } from './waiting.ts';

/** What a new bed holds: its revisions by key. */
export type Origin = ReadonlyMap<string, string>;

/** What is in a new bed. */
export const originOf = async (layout: Layout): Promise<Origin> =>
  new Map((await storedObjects(layout)).map(({ key, revision }) => [key, revision]));

/** What the API server writes of its own accord, at any time. */
const OF_API_SERVER =
  /^\/registry\/(?:leases\/kube-system\/apiserver-|peerserverleases\/|masterleases\/)/;
/** What the controllers write into each namespace, some seconds after their start. */
const OF_CONTROLLERS =
  /^\/registry\/(?:serviceaccounts|configmaps)\/(?:default|kube-[^/]+)\/(?:default|kube-root-ca\.crt)$/;
/** The rights, namespaces, priorities and kinds of a new bed stay as they are. */
const UNCHANGED =
  /^\/registry\/(?:namespaces|clusterroles|clusterrolebindings|roles|rolebindings|priorityclasses|apiextensions\.k8s\.io)\//;

const isOwn = (key: string, origin: Origin, hasControllers: boolean): boolean =>
  origin.has(key) || OF_API_SERVER.test(key) ||
  (hasControllers && OF_CONTROLLERS.test(key));

/** The first object of a new bed that is missing or changed. */
const spoilt = (origin: Origin, stored: readonly Stored[]): string | undefined => {
  const now = new Map(stored.map(({ key, revision }) => [key, revision]));
  return [...origin].find(([key, revision]) => UNCHANGED.test(key) && now.get(key) !== revision)
    ?.[0];
};

/** How often in a row nothing may be found: controllers may still answer what was deleted. */
const LOOKS = 2;

/** Deletes what tests left. Rejects when the bed cannot be as new. */
export const empty = async (
  layout: Layout,
  origin: Origin,
  hasControllers: boolean,
): Promise<void> => {
  const isLeftOver = (key: string): boolean => !isOwn(key, origin, hasControllers);
  let looks = 0;
  await eventually(async () => {
    const keys = (await storedObjects(layout)).map(({ key }) => key).filter(isLeftOver);
    await deleteStored(layout, keys);
    looks = keys.length === 0 ? looks + 1 : 0;
    if (looks >= LOOKS) return true;
    throw new Error(`there was ${keys[0]}`);
  }, { what: 'a bed to be empty', timeoutMs: 20_000 });
  const changed = spoilt(origin, await storedObjects(layout));
  if (changed !== undefined) throw new Error(`A test changed ${changed}`);
};
