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
    libraries: ['pino', 'prom-client', 'effect', 'effect/observability', 'node:'],
    typesOf: ['xstate'],
  },
  view: { rooms: ['domain', 'api', 'machines'], libraries: ['xstate', 'xstate/graph', 'elkjs'] },
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
    libraries: ['effect', 'effect/cli', '@effect/platform-node', 'yaml', 'node:'],
  },
  web: {
    rooms: ['domain', 'api', 'machines', 'view'],
    libraries: ['preact', '@preact/signals', 'node:'],
  },
  'embedded/cluster': {
    rooms: ['domain', 'api', 'gen', 'embedded'],
    libraries: ['node:', 'undici', 'xstate', 'ajv', '@marcbachmann/cel-js'],
  },
  // Two readings of the contract that must agree: the fleet shares no code with the operator.
  'embedded/fleet': {
    rooms: ['api', 'gen'],
    libraries: [
      'node:',
      '@grpc/grpc-js',
      'undici',
      'xstate',
      '@bufbuild/protobuf',
      '@kubernetes/client-node',
      'yaml',
    ],
  },
  gen: { rooms: [], libraries: ['@bufbuild/protobuf'] },
};

/** The composition root may import everything. */
const COMPOSITION_ROOTS = new Set(['src/main.ts', 'src/demo.ts']);

/** The room of a path: `domain`, `embedded/fleet`; undefined outside of `src/`. */
const roomOf = (path: string): string | undefined => {
  const [source, first, second] = path.split('/');
  if (source !== 'src' || first === undefined || COMPOSITION_ROOTS.has(path)) return undefined;
  return first === 'embedded' ? `${first}/${second}` : first;
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
    if (one.from.startsWith('.')) return [];
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
    check: wrongRooms,
    planted: {
      path: 'src/embedded/fleet/planted.ts',
      text: "/** x */\nimport { a } from '../../domain/quantity.ts';\n",
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
