/**
 * The table of packages/embedded-kubernetes/src/gen/kubernetes/protobuf.ts: how Go clients encode
 * the built-in kinds in protobuf, made from the struct tags of Kubernetes' own Go sources.
 *
 * Promises: a type or a tag that this cannot read is an error, never a missing field.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BUILT_IN } from '../packages/embedded-kubernetes/src/kinds.ts';
import type { Page } from './pages.ts';
import { runCommand } from './testbed/commands.ts';
import { moduleFolder } from './testbed/go-builds.ts';

/** Folders of Go packages, by the module that has them; the first folder names the package. */
const PACKAGES: readonly (readonly [module: string, folder: string])[] = [
  ...['core', 'apps', 'policy', 'coordination', 'events', 'scheduling', 'storage'].map((name) =>
    ['k8s.io/api', `${name}/v1`] as const
  ),
  ['k8s.io/api', 'authentication/v1'],
  ['k8s.io/api', 'authorization/v1'],
  ['k8s.io/api', 'autoscaling/v1'],
  ['k8s.io/api', 'rbac/v1'],
  ['k8s.io/api', 'admissionregistration/v1'],
  ['k8s.io/apimachinery', 'pkg/apis/meta/v1'],
  ['k8s.io/apiextensions-apiserver', 'pkg/apis/apiextensions/v1'],
];

/** Types that are encoded in a form of their own, and the scalars. */
const NOTES: Readonly<Record<string, string>> = {
  'string': 's',
  'bool': 'b',
  'int32': 'i',
  'int64': 'i',
  'float64': 'n',
  '[]byte': 'y',
  'types.UID': 's',
  'types.NodeName': 's',
  'types.NamespacedName': 's',
  'resource.Quantity': 'q',
  'intstr.IntOrString': 'o',
  'meta.Time': 't',
  'meta.MicroTime': 'u',
  'meta.FieldsV1': 'j',
  'runtime.RawExtension': 'j',
  'apiextensions.JSON': 'j',
};

/** One named Go type: the fields of a struct, or what it is another name of. */
type GoType =
  | { readonly _tag: 'Struct'; readonly lines: readonly string[] }
  | { readonly _tag: 'Alias'; readonly of: string };

/** The named types of the packages, by `package.Name`. */
type GoTypes = Map<string, GoType>;

const packageOf = (folder: string): string => folder.split('/').at(-2) ?? folder;

const moduleDirectory = async (module: string): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(
    'go',
    ['list', '-m', '-f', '{{if .Replace}}{{.Replace.Dir}}{{else}}{{.Dir}}{{end}}', module],
    { cwd: moduleFolder },
  );
  if (code !== 0) throw new Error(`Cannot find the sources of ${module}: ${stderr}`);
  return stdout.trim();
};

const IMPORT = /^\s*(\w+)?\s*"k8s\.io\/(?:api\/|apimachinery\/pkg\/apis\/)(\w+)\/v1"$/gm;

/** The names under which a file imports other packages of the table. */
const importsOf = (source: string): ReadonlyMap<string, string> =>
  new Map([...source.matchAll(IMPORT)].map(([, alias = 'v1', name = '']) => [alias, name]));

const readSource = (types: GoTypes, own: string, source: string): void => {
  const imports = importsOf(source);
  /** A type as `package.Name`; a type without a package is of this one, or of Go. */
  const qualified = (text: string): string =>
    text.replace(
      /(?<![\w.])(?:(\w+)\.)?([A-Z]\w*)/g,
      (_, from, name) =>
        from === undefined ? `${own}.${name}` : `${imports.get(from) ?? from}.${name}`,
    );
  for (
    const [, name = '', body = ''] of source.matchAll(/^type (\w+) struct ?\{(?:\}|\n(.*?)^\})/gms)
  ) {
    const lines = body.split('\n').filter((line) =>
      line.includes('protobuf:"') && !line.trim().startsWith('//')
    );
    types.set(`${own}.${name}`, {
      _tag: 'Struct',
      lines: lines.map((line) => {
        const [before = '', tags = ''] = line.trim().split('`');
        const parts = before.trim().split(/\s+/);
        return `${qualified(parts.at(-1) ?? '')} ${tags}`;
      }),
    });
  }
  for (const [, name = '', of = ''] of source.matchAll(/^type (\w+) ([[\]\w.]+)(?: *\/\/.*)?$/gm)) {
    types.set(`${own}.${name}`, { _tag: 'Alias', of: qualified(of) });
  }
};

const readPackages = async (): Promise<GoTypes> => {
  const types: GoTypes = new Map();
  for (const [module, folder] of PACKAGES) {
    const directory = join(await moduleDirectory(module), folder);
    for (const name of await readdir(directory)) {
      if (!/^(?:types.*|micro_time|time)\.go$/.test(name)) continue;
      readSource(types, packageOf(folder), await readFile(join(directory, name), 'utf8'));
    }
  }
  return types;
};

const found = (text: string, pattern: RegExp): string | undefined => pattern.exec(text)?.[1];

/** Writes types down, each once, with those that they refer to. */
class TableWriter {
  readonly written = new Map<string, Readonly<Record<string, string>>>();
  readonly #types: GoTypes;

  constructor(types: GoTypes) {
    this.#types = types;
  }

  /** `s`, `.package.Type`, `[` of items, `{` of values. */
  note(type: string): string {
    const known = NOTES[type];
    if (known !== undefined) return known;
    if (type.startsWith('[]')) return `[${this.note(type.slice(2))}`;
    const values = found(type, /^map\[[\w.]+\](.*)$/);
    if (values !== undefined) return `{${this.note(values)}`;
    const named = this.#types.get(type);
    if (named === undefined) throw new Error(`Cannot find the Go type ${type}`);
    if (named._tag === 'Alias') return this.note(named.of);
    this.write(type, named.lines);
    return `.${type}`;
  }

  write(type: string, lines: readonly string[]): void {
    if (this.written.has(type)) return;
    this.written.set(type, {});
    this.written.set(type, Object.fromEntries(lines.map((line) => this.field(line))));
  }

  /** The number of a field, and `name:note`, with `?` where Go omits a zero value. */
  field(line: string): readonly [number: string, text: string] {
    const [type = '', ...tags] = line.split(' ');
    const text = tags.join(' ');
    const number = found(text, /protobuf:"\w+,(\d+)/);
    if (number === undefined) throw new Error(`Cannot read the tags ${text}`);
    const json = found(text, /json:"([^"]*)"/) ?? '';
    const isInline = json.startsWith(',inline');
    const named = json.split(',')[0] ?? '';
    const name = named === '' || named === '-' ? found(text, /name=(\w+)/) ?? '' : named;
    const isOmitted = json.includes('omit') && !type.startsWith('*');
    const note = this.note(type.replace(/^\*/, ''));
    return [
      number,
      `${isInline ? '' : name}:${isOmitted && /^[sbin]$/.test(note) ? '?' : ''}${note}`,
    ];
  }
}

/** Types of bodies that are no kind of their own. */
const OTHER_ROOTS = [
  'meta.DeleteOptions',
  'policy.Eviction',
  'core.Binding',
  'autoscaling.Scale',
  'authentication.TokenRequest',
];

const groupName = (group: string): string => group === '' ? 'core' : group.split('.')[0] ?? '';

/** The page that the Go sources of the test bed's module lead to. */
export const protobufPage = async (): Promise<Page> => {
  const writer = new TableWriter(await readPackages());
  const roots = BUILT_IN.map(({ group, kind }) => `${groupName(group)}.${kind}`);
  for (const root of [...roots, ...OTHER_ROOTS]) writer.note(root);
  return {
    path: 'packages/embedded-kubernetes/src/gen/kubernetes/protobuf.ts',
    text: [
      '// Generated by tools/kubernetes-protobuf.ts from the Go sources of Kubernetes.',
      '/** Fields of messages by number, as `name:note`: `s` text, `y` bytes, `i` integer, `n` number, `b`',
      ' * boolean, `q` quantity, `o` integer or text, `t` time, `u` time with microseconds, `j` JSON,',
      ' * `.package.Type`, `[` a list of, `{` a map of. No name: its fields are those of the message',
      ' * around it. `?`: left out when it is zero. */',
      'export const MESSAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {',
      ...[...writer.written].map(([name, fields]) =>
        `  ${JSON.stringify(name)}: ${JSON.stringify(fields)},`
      ),
      '};',
      '',
    ].join('\n'),
  };
};
