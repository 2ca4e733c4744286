/**
 * The tree of a parsed template, and how its nodes read when a message quotes them.
 *
 * Promises: plain data; `nodeText` gives what Go's `Node.String` gives.
 */
import type { ByteString } from './byte-strings.ts';
import type { NumberConstant } from './number-constants.ts';
import { quote } from './quoting.ts';

interface At {
  /** The byte in the template's text that messages point at. */
  readonly position: number;
}

export interface TextNode extends At {
  readonly kind: 'text';
  readonly text: ByteString;
}
export interface ListNode extends At {
  readonly kind: 'list';
  readonly nodes: readonly BodyNode[];
}
export interface ActionNode extends At {
  readonly kind: 'action';
  readonly pipe: PipeNode;
}
export interface BranchNode extends At {
  readonly kind: 'if' | 'range' | 'with';
  readonly pipe: PipeNode;
  readonly list: ListNode;
  readonly elseList: ListNode | undefined;
}
export interface JumpNode extends At {
  readonly kind: 'break' | 'continue';
}
export interface TemplateNode extends At {
  readonly kind: 'template';
  readonly name: ByteString;
  readonly pipe: PipeNode | undefined;
}
/** What stands in a body. */
export type BodyNode = TextNode | ActionNode | BranchNode | JumpNode | TemplateNode;

/** Commands joined by `|`, with the variables that get the result. */
export interface PipeNode extends At {
  readonly kind: 'pipe';
  readonly isAssign: boolean;
  readonly variables: readonly VariableNode[];
  readonly commands: readonly CommandNode[];
}
export interface CommandNode extends At {
  readonly kind: 'command';
  readonly operands: readonly [OperandNode, ...OperandNode[]];
}
/** A name with fields: `$x.Key` is `['$x', 'Key']`. */
export interface VariableNode extends At {
  readonly kind: 'variable';
  readonly names: readonly [ByteString, ...ByteString[]];
}
/** `.Requirements.Key` is `['Requirements', 'Key']`. */
export interface FieldNode extends At {
  readonly kind: 'field';
  readonly names: readonly ByteString[];
}
/** Fields of something that is neither a field nor a variable, such as `(index .List 0).Key`. */
export interface ChainNode extends At {
  readonly kind: 'chain';
  readonly of: PipeNode | IdentifierNode;
  readonly names: readonly ByteString[];
}
export interface IdentifierNode extends At {
  readonly kind: 'identifier';
  readonly name: ByteString;
}
export interface DotNode extends At {
  readonly kind: 'dot' | 'nil';
}
export interface BoolNode extends At {
  readonly kind: 'bool';
  readonly value: boolean;
}
export interface NumberNode extends At {
  readonly kind: 'number';
  readonly text: ByteString;
  readonly constant: Exclude<NumberConstant, { _tag: 'Malformed' }>;
}
export interface StringNode extends At {
  readonly kind: 'string';
  readonly quoted: ByteString;
  readonly value: ByteString;
}
/** What a term of a command may be, before fields are added to it. */
export type TermNode =
  | BoolNode
  | DotNode
  | FieldNode
  | IdentifierNode
  | NumberNode
  | PipeNode
  | StringNode
  | VariableNode;
/** One operand of a command. */
export type OperandNode = TermNode | ChainNode;
/** Any node of the tree. */
export type Node = BodyNode | ListNode | CommandNode | OperandNode;

const pipeText = (pipe: PipeNode): ByteString => {
  const variables = pipe.variables.map((variable) => variable.names.join('.')).join(', ');
  const target = variables === '' ? '' : `${variables} ${pipe.isAssign ? '=' : ':='} `;
  return target + pipe.commands.map(nodeText).join(' | ');
};

const operandText = (operand: OperandNode): ByteString =>
  operand.kind === 'pipe' ? `(${pipeText(operand)})` : nodeText(operand);

const branchText = (branch: BranchNode): ByteString => {
  const otherwise = branch.elseList === undefined ? '' : `{{else}}${nodeText(branch.elseList)}`;
  return `{{${branch.kind} ${pipeText(branch.pipe)}}}${nodeText(branch.list)}${otherwise}{{end}}`;
};

/** A node as it reads in a template. */
export const nodeText = (node: Node): ByteString => {
  switch (node.kind) {
    case 'text':
      return node.text;
    case 'list':
      return node.nodes.map(nodeText).join('');
    case 'action':
      return `{{${pipeText(node.pipe)}}}`;
    case 'if':
    case 'range':
    case 'with':
      return branchText(node);
    case 'break':
    case 'continue':
      return `{{${node.kind}}}`;
    case 'template':
      return `{{template ${quote(node.name)}${node.pipe ? ` ${pipeText(node.pipe)}` : ''}}}`;
    case 'pipe':
      return pipeText(node);
    case 'command':
      return node.operands.map(operandText).join(' ');
    case 'variable':
      return node.names.join('.');
    case 'field':
      return node.names.map((name) => `.${name}`).join('');
    case 'chain':
      return operandText(node.of) + node.names.map((name) => `.${name}`).join('');
    case 'identifier':
      return node.name;
    case 'dot':
      return '.';
    case 'nil':
      return 'nil';
    case 'bool':
      return String(node.value);
    case 'number':
      return node.text;
    case 'string':
      return node.quoted;
  }
};
