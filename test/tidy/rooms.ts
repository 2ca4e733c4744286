/** Who may import whom, and which library lives where (the design's table of rooms). */
import type { Import, Rule, SourceFile, Violation } from './source-file.ts';

interface Room {
  readonly rooms: readonly string[];
  /** Packages, by name or by name and entry; `node:` stands for all of Node's modules. */
  readonly libraries: readonly string[];
  /** Packages of which only types may be used. */
  readonly typesOf?: readonly string[];
}

const ROOMS: Readonly<Record<string, Room>> = {
  domain: { rooms: [], libraries: [] },
  api: { rooms: ['domain'], libraries: ['effect'] },
  machines: { rooms: ['domain', 'api'], libraries: ['xstate'] },
  streams: { rooms: ['domain', 'api'], libraries: ['rxjs'] },
  effects: {
    rooms: ['domain', 'api', 'gen'],
    libraries: [
      'effect',
      '@kubernetes/client-node',
      'undici',
      '@grpc/grpc-js',
      '@bufbuild/protobuf',
      'croner',
      'yaml',
      'node:',
    ],
  },
  actors: {
    rooms: ['domain', 'api', 'machines', 'streams', 'effects'],
    libraries: ['xstate', 'rxjs', 'effect'],
  },
  observability: {
    rooms: ['domain', 'api'],
    libraries: ['pino', 'prom-client', 'effect', 'effect/http', 'effect/observability', 'node:'],
    typesOf: ['xstate'],
  },
  view: {
    rooms: ['domain', 'api', 'machines'],
    libraries: ['xstate', 'xstate/graph', 'elkjs', 'get-east-asian-width'],
  },
  cli: {
    rooms: [
      'domain',
      'api',
      'machines',
      'streams',
      'effects',
      'actors',
      'observability',
      'view',
      'web',
      'gen',
    ],
    libraries: ['effect', 'effect/cli', '@effect/platform-node-shared', 'yaml', 'node:'],
  },
  web: {
    rooms: ['domain', 'api', 'machines', 'view'],
    libraries: ['preact', '@preact/signals', 'node:'],
  },
  gen: { rooms: [], libraries: ['@bufbuild/protobuf'] },
  'packages/go-template': { rooms: [], libraries: [] },
  'packages/embedded-kubernetes': {
    rooms: [],
    libraries: ['node:', 'ajv', '@marcbachmann/cel-js'],
  },
  'packages/interceptor': {
    rooms: [],
    libraries: ['node:', '@kubernetes/client-node', 'undici', 'xstate'],
  },
  'packages/stand-in-fleet': {
    rooms: [],
    libraries: ['node:', '@bufbuild/protobuf', 'undici', 'xstate', 'yaml'],
  },
};

/** The composition root may import everything. */
const COMPOSITION_ROOTS = new Set(['src/main.ts', 'src/demo.ts', 'src/demo-operator.ts']);

/** Which files of the operator may import a package of this repository. */
const PACKAGE_USERS: Readonly<Record<string, ReadonlySet<string>>> = {
  '@tidegate/go-template': new Set(['src/domain/bootstrap.ts']),
  '@tidegate/interceptor': new Set([
    'src/actors/interceptors/daemon-set-gate.ts',
    'src/actors/interceptors/interceptor-client.ts',
    'src/actors/interceptors/interceptors-role.ts',
  ]),
  '@tidegate/embedded-kubernetes': new Set(['src/cli/on-demand-packages.ts', 'src/demo.ts']),
  '@tidegate/stand-in-fleet': new Set(['src/cli/on-demand-packages.ts', 'src/demo.ts']),
};

/**
 * The room of a path: `domain`, `packages/go-template`; undefined for tests and
 * tools.
 */
const roomOf = (path: string): string | undefined => {
  const [source, first, second, third] = path.split('/');
  if (source === 'packages') {
    return second === 'src' || third === undefined ? `${source}/${first}` : undefined;
  }
  if (source !== 'src' || first === undefined || COMPOSITION_ROOTS.has(path)) return undefined;
  return first;
};

/** Where a relative import leads, as a path of the project. */
const targetOf = (path: string, from: string): string => {
  const parts = path.split('/').slice(0, -1);
  for (const part of from.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
};

const violation = (
  file: SourceFile,
  { line }: Import,
  text: Pick<Violation, 'problem' | 'remedy'>,
): Violation => ({ path: file.path, line, ...text });

const wrongRooms = (file: SourceFile): readonly Violation[] => {
  const name = roomOf(file.path);
  const room = ROOMS[name ?? ''];
  if (name === undefined) return [];
  return file.imports.flatMap((one) => {
    const target = one.from.startsWith('.') ? roomOf(targetOf(file.path, one.from)) : undefined;
    if (target === undefined || target === name || room?.rooms.includes(target)) return [];
    const may = room?.rooms.join(', ') || 'no other room';
    return [violation(file, one, {
      problem: `"${name}" imports "${target}"`,
      remedy: `It may import ${may}: move the code, or hand it in as a value`,
    })];
  });
};

/** `@scope/name/entry` → `@scope/name`. */
const packageOf = (from: string): string =>
  from.split('/').slice(0, from.startsWith('@') ? 2 : 1).join('/');

/** What the names of the packages of this repository begin with. */
const OWN_SCOPE = '@tidegate/';

/** Packages whose entries are listed one by one, because one entry belongs to one room. */
const BY_ENTRY = new Set(['effect', 'xstate']);

const libraryOf = (from: string): string => {
  if (from.startsWith('node:')) return 'node:';
  return BY_ENTRY.has(packageOf(from)) && /^effect\/[a-z]/.test(from) ? from : packageOf(from);
};

const wrongLibraries = (file: SourceFile): readonly Violation[] => {
  const name = roomOf(file.path);
  const room = ROOMS[name ?? ''];
  if (name === undefined || room === undefined) return [];
  return file.imports.flatMap((one) => {
    if (one.from.startsWith('.') || one.from.startsWith(OWN_SCOPE)) return [];
    const library = libraryOf(one.from);
    if (room.libraries.includes(library)) return [];
    if (room.typesOf?.includes(library) && one.typeOnly) return [];
    const may = room.libraries.join(', ') || 'no library';
    return [violation(file, one, {
      problem: `"${name}" uses "${one.from}"`,
      remedy: `It may use ${may}: the act belongs into the room that owns this library`,
    })];
  });
};

/** The folder of a package, `packages/go-template/`; undefined outside of `packages/`. */
const packageFolderOf = (path: string): string | undefined => /^packages\/[^/]+\//.exec(path)?.[0];

const importsOutsideOfPackage = (file: SourceFile): readonly Violation[] => {
  const folder = packageFolderOf(file.path);
  if (folder === undefined) return [];
  const leaves = ({ from }: Import): boolean =>
    from.startsWith('.')
      ? !targetOf(file.path, from).startsWith(folder)
      : from.startsWith(OWN_SCOPE) || from.startsWith('tidegate');
  return file.imports.filter(leaves).map((one) =>
    violation(file, one, {
      problem: `A package imports "${one.from}"`,
      remedy: `A package knows nothing of the operator: keep what it needs in ${folder}`,
    })
  );
};

/** Packages that an operator is installed without: their types, and imports when asked for. */
const ON_DEMAND = new Set(['@tidegate/embedded-kubernetes', '@tidegate/stand-in-fleet']);

const isMissedAtStart = ({ from, typeOnly, statement }: Import): boolean =>
  ON_DEMAND.has(packageOf(from)) && !typeOnly && !statement.startsWith('import(');

const wrongPackageUse = (file: SourceFile): readonly Violation[] =>
  file.path.startsWith('src/')
    ? file.imports.filter((one) =>
      one.from.startsWith('.')
        ? packageFolderOf(targetOf(file.path, one.from)) !== undefined
        : one.from.startsWith(OWN_SCOPE) &&
          (!PACKAGE_USERS[packageOf(one.from)]?.has(file.path) || isMissedAtStart(one))
    ).map((one) =>
      violation(file, one, {
        problem: `The operator imports "${one.from}" here`,
        remedy: 'A package is imported by its name, and only by the files in PACKAGE_USERS',
      })
    )
    : [];

const unknownRoom = (file: SourceFile): readonly Violation[] => {
  const name = roomOf(file.path);
  return name === undefined || Object.hasOwn(ROOMS, name) ? [] : [{
    path: file.path,
    line: 1,
    problem: `"${name}" is no room of the design`,
    remedy: `Put the file into one of ${Object.keys(ROOMS).join(', ')}`,
  }];
};

const wrongSpecifiers = (file: SourceFile): readonly Violation[] =>
  file.imports.flatMap((one) =>
    !one.from.startsWith('.') || /\.(?:tsx?|json)$/.test(one.from) ? [] : [violation(file, one, {
      problem: `"${one.from}" has no extension`,
      remedy: 'Write the name of the file with its .ts: both runtimes load it as it is',
    })]
  );

/** Rules about imports. */
export const ROOM_RULES: readonly Rule[] = [
  {
    title: 'rooms import only rooms that the design lets them import',
    check: wrongRooms,
    planted: {
      path: 'src/machines/planted.ts',
      text: "/** x */\nimport { a } from '../effects/settings.ts';\n",
    },
  },
  {
    title: 'the stand-in fleet shares no code with the operator',
    check: importsOutsideOfPackage,
    planted: {
      path: 'packages/stand-in-fleet/src/planted.ts',
      text: "/** x */\nimport { a } from '../../../src/gen/bigfleet/v1alpha1/shard_pb.ts';\n",
    },
  },
  {
    title: 'packages know nothing of the operator and nothing of each other',
    check: importsOutsideOfPackage,
    planted: {
      path: 'packages/go-template/src/planted.ts',
      text: "/** x */\nimport { a } from '../../../src/domain/quantity.ts';\n",
    },
  },
  {
    title: 'the operator imports a package by its name, and only where it needs it',
    check: wrongPackageUse,
    planted: {
      path: 'src/effects/planted.ts',
      text: "/** x */\nimport { parseTemplate } from '@tidegate/go-template';\n",
    },
  },
  {
    title: 'libraries are used only in the room that owns them',
    check: wrongLibraries,
    planted: {
      path: 'src/machines/planted.ts',
      text: "/** x */\nimport { Effect } from 'effect';\n",
    },
  },
  {
    title: 'what is marked unstable in a library is used in one room only',
    check: wrongLibraries,
    planted: {
      path: 'src/effects/planted.ts',
      text: "/** x */\nimport { Command } from 'effect/cli';\n",
    },
  },
  {
    title: 'every source file stands in a room of the design',
    check: unknownRoom,
    planted: { path: 'src/misc/planted.ts', text: '/** x */\n' },
  },
  {
    title: 'relative imports name the file with its extension',
    check: wrongSpecifiers,
    planted: { path: 'src/domain/planted.ts', text: "import { a } from './other';\n" },
  },
];
