/**
 * One named object of a watched collection, and changes to it.
 *
 * Promises: when a promise resolves, the operator's own watch and projection have seen the change.
 */
import type { Identity } from '../../../src/domain/facts.ts';
import { type JsonRecord, textAt } from '../../../src/domain/json.ts';
import { mergePatched } from '../../../packages/embedded-kubernetes/src/patches/merge-patch.ts';
import type { ObservedCollection } from './observed-collection.ts';
import type { Hand } from './site.ts';

/** The wanted content of an object. */
export interface Wanted {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

/** The object of one path. */
export interface ObjectFixture<T extends Identity> {
  readonly name: string;
  /** The object as the operator sees it. */
  readonly now: () => T | undefined;
  /** Creates or updates it; `anew` writes it even if it is unchanged. */
  readonly put: (wanted: Wanted, how?: { readonly anew: boolean }) => Promise<T>;
  /** Deletes it; returns its last state. */
  readonly remove: () => Promise<T | undefined>;
  /** Makes an irrelevant change. */
  readonly touch: () => Promise<void>;
}

/** Where the object is, and what it is called. */
export interface Address {
  readonly path: string;
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
}

const MISSING = 404;

const resourceVersionOf = (raw: unknown): string =>
  textAt(raw, 'metadata', 'resourceVersion') ?? '';

/** True when a patch would be a no-op. */
const isLike = (current: unknown, wanted: object): boolean =>
  JSON.stringify(current) === JSON.stringify(mergePatched(current, wanted));

/** The object at an address. */
export const objectFixture = <T extends Identity>(
  hand: Hand,
  collection: ObservedCollection<T>,
  { path, name, ...type }: Address,
): ObjectFixture<T> => {
  const at = `${path}/${name}`;
  let touches = 0;
  const now = (): T | undefined => [...collection.values()].find(({ key }) => key.endsWith(name));
  const until = (resourceVersion: string): Promise<T> =>
    collection.until(() => {
      const seen = now();
      return seen?.resourceVersion === resourceVersion ? seen : undefined;
    });
  /** The current object, whatever the watch has delivered. */
  const look = async (): Promise<JsonRecord | undefined> => {
    const { status, body } = await hand.call('GET', at);
    return status === MISSING ? undefined : body;
  };
  const touch = async (): Promise<void> => {
    touches += 1;
    const annotations = { 'tidegate.dev/touched': `${touches}` };
    const made = await hand.must('PATCH', at, { metadata: { annotations } });
    await until(resourceVersionOf(made));
  };
  return {
    name,
    now,
    put: async ({ metadata = {}, spec, status }, how) => {
      const body = { metadata, ...(spec === undefined ? {} : { spec }) };
      const known = await look();
      if (known === undefined) {
        await hand.must('POST', path, { ...type, ...body, metadata: { name } });
      } else if (how?.anew === true) await touch();
      const current = await look();
      let made = isLike(current, body) ? current : await hand.must('PATCH', at, body);
      if (status !== undefined) made = await hand.must('PATCH', `${at}/status`, { status });
      return await until(resourceVersionOf(made));
    },
    remove: async () => {
      const current = await look();
      if (current === undefined) return undefined;
      // The watch may be behind what an act of the path has just written.
      const { key } = await until(resourceVersionOf(current));
      const absence = collection.absence(key);
      await hand.remove(at);
      return await absence;
    },
    touch,
  };
};
