/**
 * The small slips of a source text: a condition that always or never holds, an operator beside the
 * right one, a statement that is missing.
 *
 * Promises: each mutation is valid TypeScript in its place; what only logs, counts or declares is
 * not mutated. Ranges are offsets in the text.
 */
import { type ESTree, parseSync, Visitor } from 'vite';

/** One slip. */
export interface Mutation {
  readonly start: number;
  readonly end: number;
  /** The expression in place of the original; `null` when a statement is left out. */
  readonly replacement: string | null;
  /** The change, in words that follow "line 12:". */
  readonly what: string;
}

/** Operators and their neighbours. */
const BESIDE: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '&&': '||',
  '||': '&&',
};

/** Methods and their opposites. */
const OPPOSITE: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['toSorted', 'slice'],
]);

/** Calls that only report. */
const REPORTS = /^(?:this\.#)?(?:\w+\.)*#?(?:telemetry|log|count|gauge|observe)\b/;

type Range = Pick<ESTree.Node, 'start' | 'end'>;

/** Collects the mutations of one text. */
class MutationFinder {
  readonly #text: string;
  readonly #found: Mutation[] = [];
  /** Literals that are types. */
  readonly #types = new Set<number>();

  constructor(text: string) {
    this.#text = text;
  }

  find(program: ESTree.Program): readonly Mutation[] {
    new Visitor({
      TSLiteralType: ({ literal }) => void this.#types.add(literal.start),
      IfStatement: ({ test }) => this.#mutateCondition(test),
      ConditionalExpression: ({ test }) => this.#mutateCondition(test),
      WhileStatement: ({ test }) => this.#replace(test, 'false'),
      LogicalExpression: (node) => this.#mutateLogical(node),
      BinaryExpression: (node) => this.#mutateOperator(node),
      UnaryExpression: (node) => {
        if (node.operator === '!') this.#replace(node, this.#of(node.argument));
      },
      Literal: (node) => {
        if (typeof node.value === 'boolean' && !this.#types.has(node.start)) {
          this.#replace(node, String(!node.value));
        }
      },
      CallExpression: (node) => this.#mutateCall(node),
      ExpressionStatement: (node) => this.#mutateStatement(node),
    }).visit(program);
    return this.#found.toSorted((left, right) => left.start - right.start || right.end - left.end);
  }

  #of({ start, end }: Range): string {
    return this.#text.slice(start, end);
  }

  #replace(range: Range, replacement: string): void {
    const original = this.#of(range);
    if (original === replacement) return;
    const { start, end } = range;
    const what = `${original} → ${replacement}`.replaceAll(/\s+/g, ' ');
    this.#found.push({ start, end, replacement, what });
  }

  #mutateCondition(test: ESTree.Expression): void {
    this.#replace(test, 'true');
    this.#replace(test, 'false');
  }

  #mutateLogical(node: ESTree.LogicalExpression): void {
    const left = this.#of(node.left);
    const right = this.#of(node.right);
    if (node.operator === '??') this.#replace(node, left);
    else this.#replace(node, `(${left}) ${BESIDE[node.operator]} (${right})`);
  }

  #mutateOperator(node: ESTree.BinaryExpression): void {
    const beside = BESIDE[node.operator];
    const left = this.#of(node.left);
    const right = this.#of(node.right);
    const isText = [left, right].some((side) => /^['"`]|['"`]$/.test(side));
    if (beside === undefined || (isText && node.operator === '+')) return;
    this.#replace(node, `(${left}) ${beside} (${right})`);
  }

  /** Not within an optional chain: it would end there. */
  #mutateCall({ start, end, callee }: ESTree.CallExpression): void {
    if (callee.type !== 'MemberExpression' || callee.computed) return;
    const opposite = OPPOSITE.get(this.#of(callee.property));
    if (opposite === undefined || this.#of(callee).includes('?.')) return;
    const rest = this.#text.slice(callee.end, end);
    this.#replace({ start, end }, `${this.#of(callee.object)}.${opposite}${rest}`);
  }

  #mutateStatement(node: ESTree.ExpressionStatement): void {
    const { start, end, expression } = node;
    const text = this.#of(node);
    if (expression.type === 'Literal' || REPORTS.test(text) || text.startsWith('super(')) return;
    const what = `without ${text}`.replaceAll(/\s+/g, ' ');
    this.#found.push({ start, end, replacement: null, what });
  }
}

/** The mutations of a source text, in the order of their places. */
export const mutationsIn = (file: string, text: string): readonly Mutation[] => {
  const { program, errors } = parseSync(file, text, { lang: 'ts', sourceType: 'module' });
  const [error] = errors;
  if (error !== undefined) throw new Error(`Cannot parse "${file}": ${error.message}`);
  return new MutationFinder(text).find(program);
};

/** An insertion into the text; of several at one place, the lower rank comes first. */
interface Insertion {
  readonly at: number;
  readonly rank: number;
  readonly inserted: string;
}

/**
 * The text with all its mutations, each behind a question of its id: `isMutant(id)` is asked where
 * the mutation would take effect.
 */
export const instrumented = (
  text: string,
  mutations: readonly Mutation[],
  idOf: (mutation: Mutation) => string,
): string => {
  const insertions = mutations.flatMap((mutation, index): readonly Insertion[] => {
    const { start, end, replacement } = mutation;
    const asks = `globalThis.isMutant(${JSON.stringify(idOf(mutation))})`;
    const [opens, closes] = replacement === null
      ? [`{ if (!${asks}) { `, ' } }']
      : [`(${asks} ? (${replacement}) : (`, '))'];
    // At one place outer ranges open first and close last, and an end comes before a beginning.
    return [
      { at: start, rank: mutations.length + index, inserted: opens },
      { at: end, rank: mutations.length - index, inserted: closes },
    ];
  }).toSorted((left, right) => left.at - right.at || left.rank - right.rank);
  let done = 0;
  let written = '';
  for (const { at, inserted } of insertions) {
    written += text.slice(done, at) + inserted;
    done = at;
  }
  return written + text.slice(done);
};
