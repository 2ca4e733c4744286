/**
 * Makes the tree of a template from its tokens.
 *
 * Promises: every text either parses or fails with `ParseFailure` in Go's words, on Go's line;
 * nothing nests deeper than `NESTING_DEPTH_MAX`. Source: Go, package text/template, sections
 * "Actions", "Pipelines", "Variables" and "Nested template definitions".
 */
import { type ByteString, fromBytes } from './byte-strings.ts';
import { lex } from './lexer.ts';
import type { BodyNode, BranchNode, JumpNode, ListNode } from './nodes.ts';
import { PipelineParser } from './pipeline-parser.ts';
import { quote } from './quoting.ts';
import { TokenReader, type TokenSource } from './token-reader.ts';
import type { Token } from './tokens.ts';

/** Trees by the names they are defined under. */
export type TreeSet = ReadonlyMap<ByteString, ListNode>;

/** What one parse shares among the templates defined in its text. */
interface Source extends TokenSource {
  readonly functions: ReadonlySet<string>;
  readonly trees: Map<ByteString, ListNode>;
}

/** What ends a list of nodes. */
type Ending =
  | { readonly kind: 'end'; readonly position: number }
  | { readonly kind: 'else'; readonly position: number };

/** White space as Go trims it. */
const GO_SPACE = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

/** Whether a body has nothing but space. */
const isEmptyBody = (list: ListNode): boolean =>
  list.nodes.every((node) => node.kind === 'text' && GO_SPACE.test(fromBytes(node.text)));

/** Reads one template; definitions inside it are read by parsers of their own. */
class Parser {
  readonly #source: Source;
  readonly #reader: TokenReader;
  readonly #pipelines: PipelineParser;
  #rangeDepth = 0;

  constructor(source: Source) {
    this.#source = source;
    this.#reader = new TokenReader(source);
    this.#pipelines = new PipelineParser(this.#reader, source.functions);
  }

  /** The whole text. */
  parseText(): void {
    const position = this.#reader.peek().position;
    const nodes: BodyNode[] = [];
    while (this.#reader.peek().kind !== 'eof') {
      const delimiter = this.#reader.next();
      if (delimiter.kind === 'leftDelimiter') {
        const word = this.#reader.nextNonSpace();
        if (word.kind === 'define') {
          new Parser(this.#source).#parseDefinition();
          continue;
        }
        this.#reader.putBack(word);
      }
      this.#reader.putBack(delimiter);
      const node = this.#textOrAction();
      if (node.kind === 'end' || node.kind === 'else') {
        return this.#reader.fail(`unexpected {{${node.kind}}}`);
      }
      nodes.push(node);
    }
    this.#add(this.#source.name, { kind: 'list', position, nodes });
  }

  #parseDefinition(): void {
    const context = 'define clause';
    const name = this.#reader.unquoted(this.#reader.expect(['string', 'rawString'], context));
    this.#reader.expect(['rightDelimiter'], context);
    const [list, ending] = this.#itemList();
    if (ending.kind !== 'end') return this.#reader.fail(`unexpected {{else}} in ${context}`);
    this.#add(name, list);
  }

  #add(name: ByteString, list: ListNode): void {
    const existing = this.#source.trees.get(name);
    if (existing === undefined || isEmptyBody(existing)) {
      this.#source.trees.set(name, list);
    } else if (!isEmptyBody(list)) {
      this.#reader.fail(`template: multiple definition of template ${quote(name)}`);
    }
  }

  #itemList(): readonly [ListNode, Ending] {
    return this.#reader.deeper(() => {
      const nodes: BodyNode[] = [];
      const { position } = this.#reader.peekNonSpace();
      while (this.#reader.peekNonSpace().kind !== 'eof') {
        const node = this.#textOrAction();
        if (node.kind === 'end' || node.kind === 'else') {
          return [{ kind: 'list', position, nodes }, node] as const;
        }
        nodes.push(node);
      }
      return this.#reader.fail('unexpected EOF');
    });
  }

  #textOrAction(): BodyNode | Ending {
    const token = this.#reader.nextNonSpace();
    if (token.kind === 'text') {
      return { kind: 'text', position: token.position, text: token.text };
    }
    if (token.kind !== 'leftDelimiter') return this.#reader.unexpected(token, 'input');
    this.#reader.actionLine = token.line;
    const node = this.#action();
    this.#reader.actionLine = 0;
    return node;
  }

  #action(): BodyNode | Ending {
    const token = this.#reader.nextNonSpace();
    switch (token.kind) {
      case 'block':
        return this.#block();
      case 'break':
      case 'continue':
        return this.#jump(token.kind, token.position);
      case 'else':
        return this.#else();
      case 'end':
        return { kind: 'end', position: this.#reader.expect(['rightDelimiter'], 'end').position };
      case 'if':
      case 'range':
      case 'with':
        return this.#branch(token.kind);
      case 'template':
        return this.#template();
      default:
        break;
    }
    this.#reader.putBack(token);
    const { position } = this.#reader.peek();
    return {
      kind: 'action',
      position,
      pipe: this.#pipelines.pipeline('command', 'rightDelimiter'),
    };
  }

  #jump(kind: JumpNode['kind'], position: number): JumpNode {
    const token = this.#reader.nextNonSpace();
    if (token.kind !== 'rightDelimiter') return this.#reader.unexpected(token, `{{${kind}}}`);
    if (this.#rangeDepth === 0) return this.#reader.fail(`{{${kind}}} outside {{range}}`);
    return { kind, position };
  }

  #else(): Ending {
    const token = this.#reader.peekNonSpace();
    // `{{else if …}}` ends the list here and leaves its `if` to be read as a branch.
    if (token.kind === 'if' || token.kind === 'with') {
      return { kind: 'else', position: token.position };
    }
    return { kind: 'else', position: this.#reader.expect(['rightDelimiter'], 'else').position };
  }

  #branch(kind: BranchNode['kind']): BranchNode {
    return this.#pipelines.scoped(() => this.#branchInScope(kind));
  }

  #branchInScope(kind: BranchNode['kind']): BranchNode {
    const pipe = this.#pipelines.pipeline(kind, 'rightDelimiter');
    if (kind === 'range') this.#rangeDepth += 1;
    const [list, ending] = this.#itemList();
    if (kind === 'range') this.#rangeDepth -= 1;
    const elseList = ending.kind === 'else' ? this.#elseList(kind, ending) : undefined;
    return { kind, position: pipe.position, pipe, list, elseList };
  }

  #elseList(kind: BranchNode['kind'], { position }: Ending): ListNode {
    if (kind !== 'range' && this.#reader.peek().kind === kind) {
      this.#reader.next();
      // The branch takes the one `{{end}}` that closes both.
      const nodes = [this.#reader.deeper(() => this.#branch(kind))];
      return { kind: 'list', position, nodes };
    }
    const [list, ending] = this.#itemList();
    return ending.kind === 'end' ? list : this.#reader.fail('expected end; found {{else}}');
  }

  #block(): BodyNode {
    const context = 'block clause';
    const token = this.#reader.nextNonSpace();
    const name = this.#templateName(token, context);
    const pipe = this.#pipelines.pipeline(context, 'rightDelimiter');
    const definition = new Parser(this.#source);
    const [list, ending] = definition.#itemList();
    if (ending.kind !== 'end') return this.#reader.fail(`unexpected {{else}} in ${context}`);
    definition.#add(name, list);
    return { kind: 'template', position: token.position, name, pipe };
  }

  #template(): BodyNode {
    const context = 'template clause';
    const token = this.#reader.nextNonSpace();
    const name = this.#templateName(token, context);
    const next = this.#reader.nextNonSpace();
    if (next.kind === 'rightDelimiter') {
      return { kind: 'template', position: token.position, name, pipe: undefined };
    }
    this.#reader.putBack(next);
    const pipe = this.#pipelines.pipeline(context, 'rightDelimiter');
    return { kind: 'template', position: token.position, name, pipe };
  }

  #templateName(token: Token, context: string): ByteString {
    return token.kind === 'string' || token.kind === 'rawString'
      ? this.#reader.unquoted(token)
      : this.#reader.unexpected(token, context);
  }
}

/**
 * Reads `text` as a template called `name`, which may call `functions`. Throws `ParseFailure`.
 * The result holds at least the template `name`.
 */
export const parseTrees = (
  name: ByteString,
  text: ByteString,
  functions: ReadonlySet<string>,
): TreeSet => {
  const trees = new Map<ByteString, ListNode>();
  const tokens = lex(text);
  new Parser({ name, tokens, functions, trees, next: 0, depth: 0 }).parseText();
  return trees;
};
