/**
 * The packages that ship with the operator, from the lock file: what its production install has,
 * and what is bundled into the live page.
 *
 * Promises: versions are found as Node finds modules, from the nearest folder outwards; a package
 * without version, integrity or an allowed licence throws.
 */
import { readFileSync } from 'node:fs';
import { asRecord, parseJson, textAt, textRecordOrEmptyAt } from '../src/domain/json.ts';

/** A package that ships. */
export interface ShippedPackage {
  readonly name: string;
  readonly version: string;
  /** A licence of SPDX, or an expression of several. */
  readonly licence: string;
  /** SHA-512 of its archive, in hexadecimal digits. */
  readonly sha512: string;
  /** Its folder. */
  readonly path: string;
  /** The folders of the packages that it uses. */
  readonly uses: readonly string[];
}

/** Licences of what ships; another one is a decision. */
const LICENCES = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'PSF-2.0',
  'Unlicense',
];

/** Bundled into the live page, by `tools/page.ts`. */
const BUNDLED = ['preact', '@preact/signals'];
/** Installed with the operator, unlike the other workspaces. */
const SHIPPED_WORKSPACES = ['packages/go-template', 'packages/interceptor'];

type Entries = ReadonlyMap<string, unknown>;

const LOCK = new URL('../package-lock.json', import.meta.url);

/** The entries of the lock file, by folder; the root is ''. */
export const lockEntries = (): Entries => {
  const packages = asRecord(asRecord(parseJson(readFileSync(LOCK, 'utf8')))?.['packages']) ?? {};
  return new Map(Object.entries(packages));
};

/** The folder of `name` as imported from `folder`; undefined when it is not installed. */
const folderOf = (entries: Entries, folder: string, name: string): string | undefined => {
  const parts = folder.split('/');
  for (let length = parts.length; length >= 0; length -= 1) {
    const start = parts.slice(0, length).join('/');
    const found = `${start === '' ? '' : `${start}/`}node_modules/${name}`;
    if (entries.has(found)) return found;
  }
  return undefined;
};

const usedBy = (entries: Entries, folder: string): readonly string[] => {
  const entry = entries.get(folder);
  const names = ['dependencies', 'optionalDependencies', 'peerDependencies']
    .flatMap((kind) => Object.keys(textRecordOrEmptyAt(entry, kind)));
  return [...new Set(names)].flatMap((name) => folderOf(entries, folder, name) ?? []);
};

const isLink = (entries: Entries, folder: string): boolean =>
  asRecord(entries.get(folder))?.['link'] === true;

const nameOf = (folder: string): string => folder.split('node_modules/').at(-1) ?? folder;

const packageAt = (entries: Entries, path: string): ShippedPackage => {
  const entry = entries.get(path);
  const version = textAt(entry, 'version');
  const integrity = textAt(entry, 'integrity') ?? '';
  const licence = textAt(entry, 'license') ?? 'none';
  if (version === undefined || !integrity.startsWith('sha512-')) {
    throw new Error(`Cannot ship "${path}": the lock file has no version or no SHA-512 of it`);
  }
  const licences = licence.replaceAll(/[()]/g, '').split(/ (?:AND|OR) /);
  if (!licences.every((one) => LICENCES.includes(one))) {
    throw new Error(`Cannot ship "${path}": its licence is "${licence}"; decide on it first`);
  }
  return {
    name: nameOf(path),
    version,
    licence,
    sha512: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex'),
    path,
    uses: usedBy(entries, path).filter((used) => !isLink(entries, used)),
  };
};

/** Every package that ships, by name and version. */
export const shippedPackages = (entries: Entries = lockEntries()): readonly ShippedPackage[] => {
  const bundled = BUNDLED.flatMap((name) => folderOf(entries, '', name) ?? []);
  const used = ['', ...SHIPPED_WORKSPACES].flatMap((folder) => usedBy(entries, folder));
  const pending = [...used, ...bundled];
  const shipped = new Map<string, ShippedPackage>();
  for (const path of pending) {
    if (shipped.has(path) || isLink(entries, path)) continue;
    const found = packageAt(entries, path);
    shipped.set(path, found);
    pending.push(...found.uses);
  }
  return [...shipped.values()].toSorted((one, other) =>
    `${one.name}@${one.version}` < `${other.name}@${other.version}` ? -1 : 1
  );
};
