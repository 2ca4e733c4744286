/**
 * Rewrites a TypeScript file so that each of its functions reports when it runs and in which call
 * it was made.
 *
 * Promises: what the file does and its line numbers stay as they are; a generator or an async
 * function reports its context again after each suspension.
 */
import { parseSync, Visitor } from 'vite';

/** One function of the project. */
export interface SourceFunction {
  readonly file: string;
  readonly name: string;
  readonly line: number;
}

/** The file with reports, and its functions in the order of their numbers. */
export interface InstrumentedSource {
  readonly text: string;
  readonly functions: readonly SourceFunction[];
}

/** The global name under which the reports find the trace. */
export const TRACE_NAME = '$callTrace';

type Nodes = ReturnType<typeof parseSync>['program'];
interface Span {
  readonly start: number;
  readonly end: number;
}
interface FunctionSpan extends Span {
  readonly body: (Span & { readonly type: string }) | null;
}
interface Edit {
  readonly at: number;
  readonly text: string;
  /** Where the rewritten expression begins: of two that end together, the inner closes first. */
  readonly from: number;
}
interface Scope {
  readonly node: FunctionSpan;
  readonly variable: string;
  readonly name: string;
}

const lineOf = (text: string, at: number): number => text.slice(0, at).split('\n').length;

const applied = (text: string, edits: readonly Edit[]): string => {
  const parts: string[] = [];
  let from = 0;
  for (const { at, text: added } of edits.toSorted((a, b) => a.at - b.at || b.from - a.from)) {
    parts.push(text.slice(from, at), added);
    from = at;
  }
  return [...parts, text.slice(from)].join('');
};

/** The name that each function expression is known by, by its place. */
const namesIn = (program: Nodes, source: string): ReadonlyMap<number, string> => {
  const names = new Map<number, string>();
  const keep = (value: Span | null | undefined, key: Span): void => {
    if (value) names.set(value.start, source.slice(key.start, key.end));
  };
  new Visitor({
    VariableDeclarator: ({ id, init }) => {
      if (id.type === 'Identifier') keep(init, { start: id.start, end: id.start + id.name.length });
    },
    Property: ({ key, value }) => keep(value, key),
    MethodDefinition: ({ key, value }) => keep(value, key),
    PropertyDefinition: ({ key, value }) => keep(value, key),
    FunctionDeclaration: (node) => {
      if (node.id) keep(node, node.id);
    },
  }).visit(program);
  return names;
};

/** The texts around the body of a function, whose call is in `variable`. */
const bodyEdits = (
  source: string,
  { node, variable }: Scope,
  enter: string,
): readonly (readonly [at: number, text: string])[] => {
  const { body } = node;
  if (body === null) return [];
  const open = ` let ${variable} = ${enter}; try {`;
  const close = `} finally { ${TRACE_NAME}.exit(${variable}); }`;
  if (body.type === 'BlockStatement') return [[body.start + 1, open], [body.end - 1, close]];
  const arrow = source.lastIndexOf('=>', body.start) + 2;
  return [[arrow, ` {${open} return (`], [node.end, `); ${close} }`]];
};

/** `file` is the path in the project; `firstId` the number of its first function. */
export const instrumented = (
  file: string,
  source: string,
  firstId: number,
): InstrumentedSource => {
  const { program } = parseSync(file, source);
  const names = namesIn(program, source);
  const functions: SourceFunction[] = [];
  const edits: Edit[] = [];
  const scopes: Scope[] = [];
  const add = (from: number, at: number, text: string): void => void edits.push({ from, at, text });
  /** Defaults of parameters are made by the caller's side of a function. */
  const scopeAt = (start: number): Scope | undefined =>
    scopes.findLast(({ node }) => node.body !== null && start >= node.body.start);
  const enter = (node: FunctionSpan): void => {
    const outer = scopeAt(node.start);
    const line = lineOf(source, node.start);
    const name = names.get(node.start) ?? `${outer?.name ?? 'module'}:${line}`;
    const id = firstId + functions.length;
    const scope: Scope = { node, name, variable: `$call${scopes.length}` };
    const made = outer === undefined ? 'undefined' : outer.variable;
    functions.push({ file, name, line });
    scopes.push(scope);
    for (const [at, text] of bodyEdits(source, scope, `${TRACE_NAME}.enter(${id}, ${made})`)) {
      add(node.start, at, text);
    }
  };
  const exit = (): void => void scopes.pop();
  /** `word` is the end of `yield`, `yield*` or `await`. */
  const pause = (node: Span, word: number): void => {
    const scope = scopes.at(-1);
    if (scope === undefined) return;
    const { variable } = scope;
    const bare = source.slice(word, node.end).trim() === '';
    add(node.start, node.start, `${TRACE_NAME}.given(`);
    add(node.start, word, ` ${TRACE_NAME}.suspend(${variable}, ${bare ? 'undefined' : '('}`);
    add(
      node.start,
      node.end,
      `${bare ? '' : ')'}), ${variable} = ${TRACE_NAME}.resume(${variable}))`,
    );
  };
  new Visitor({
    ArrowFunctionExpression: enter,
    'ArrowFunctionExpression:exit': exit,
    FunctionExpression: enter,
    'FunctionExpression:exit': exit,
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': exit,
    YieldExpression: (node) =>
      pause(node, node.delegate ? source.indexOf('*', node.start) + 1 : node.start + 5),
    AwaitExpression: (node) => pause(node, node.start + 5),
  }).visit(program);
  return { text: applied(source, edits), functions };
};
