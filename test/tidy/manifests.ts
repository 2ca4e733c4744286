/** What the manifests of the operator and of the packages say, and what their installs hold. */
import { readdirSync, readFileSync } from 'node:fs';
import { PROJECT, SHIPPED, type SourceFile } from './source-file.ts';

/** The operator (folder ``) or a package (`packages/…/`). */
export interface Manifest {
  readonly folder: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** One manifest a folder. */
export const manifests = (): readonly Manifest[] => {
  const packages = readdirSync(`${PROJECT}packages`).map((name) => `packages/${name}/`);
  return ['', ...packages].map((folder) => {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(
      readFileSync(`${PROJECT}${folder}package.json`, 'utf8'),
    );
    return { folder, dependencies, devDependencies };
  });
};

/** Dependencies of a manifest that are not pinned to one version. */
export const looseVersions = ({ dependencies, devDependencies }: Manifest): readonly string[] =>
  Object.entries({ ...dependencies, ...devDependencies })
    .filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
    .map(([name, version]) => `${name}@${version}`);

/** Served as one bundle, which is committed. */
const BUNDLED = 'src/web/page/';

/** Loaded on demand, with words about what to install. */
const ON_DEMAND = /^(?:@tidegate\/(?:stand-in-fleet|embedded-kubernetes)|elkjs)(?:$|\/)/;

const isOf = ({ folder }: Manifest, { path }: SourceFile): boolean =>
  SHIPPED.test(path) && !path.startsWith(BUNDLED) &&
  (folder === '' ? path.startsWith('src/') : path.startsWith(folder));

/** Imports of shipped files that an installation without development packages does not have. */
export const missingDependencies = (
  manifest: Manifest,
  files: readonly SourceFile[],
): readonly string[] =>
  files.filter((file) => isOf(manifest, file)).flatMap(({ imports, path }) =>
    imports
      .filter(({ from }) => !/^[.]|^node:/.test(from) && !ON_DEMAND.test(from))
      .filter(({ from }) =>
        !Object.keys(manifest.dependencies).some((name) =>
          from === name || from.startsWith(`${name}/`)
        )
      )
      .map(({ from }) => `${path} imports ${from}`)
  );

/** Dependencies that no shipped file imports. */
export const unusedDependencies = (
  manifest: Manifest,
  files: readonly SourceFile[],
): readonly string[] => {
  const used = files.filter((file) => isOf(manifest, file))
    .flatMap(({ imports }) => imports.map(({ from }) => from));
  return Object.keys(manifest.dependencies).filter((name) =>
    !used.some((from) => from === name || from.startsWith(`${name}/`))
  );
};

interface Locked {
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Lock = Readonly<Record<string, Locked>>;

/** Where Node finds `name` from the package at `place`: the nearest `node_modules` upwards. */
const placeOf = (lock: Lock, place: string, name: string): string | undefined => {
  for (let from = place;; from = from.slice(0, Math.max(0, from.lastIndexOf('/')))) {
    const candidate = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
    if (lock[candidate] !== undefined) return candidate;
    if (from === '') return undefined;
  }
};

const requiredBy = (locked: Locked): readonly string[] => {
  const optional = locked.peerDependenciesMeta ?? {};
  const peers = Object.keys(locked.peerDependencies ?? {})
    .filter((name) => optional[name]?.optional !== true);
  return [
    ...Object.keys(locked.dependencies ?? {}),
    ...Object.keys(locked.optionalDependencies ?? {}),
    ...peers,
  ];
};

/** Names of all that a production install of the operator holds, by the lock file. */
export const productionInstall = (): ReadonlySet<string> => {
  const { packages: lock }: { readonly packages: Lock } = JSON.parse(
    readFileSync(`${PROJECT}package-lock.json`, 'utf8'),
  );
  const places = new Set(['']);
  for (const place of places) {
    const { link, resolved } = lock[place] ?? {};
    if (link === true && resolved !== undefined) places.add(resolved);
    for (const name of requiredBy(lock[place] ?? {})) {
      const found = placeOf(lock, place, name);
      if (found !== undefined) places.add(found);
    }
  }
  return new Set(
    [...places].filter((place) => place.includes('node_modules/'))
      .map((place) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)),
  );
};
