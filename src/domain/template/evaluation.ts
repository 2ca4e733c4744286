/**
 * Runs a parsed template over a value.
 *
 * Promises: gives the output, or throws `RenderFailure` with Go's words and place; nests no deeper
 * than `EVALUATION_DEPTH_MAX` and works no more than its meter allows. Source: Go, package
 * text/template, sections "Actions", "Arguments", "Pipelines" and "Variables".
 */
import type { ByteString } from './byte-strings.ts';
import { type Builtin, BUILTINS, type Parameter } from './builtins.ts';
import { FunctionFailure } from './comparison.ts';
import {
  type ActionNode,
  type BodyNode,
  type BranchNode,
  type ChainNode,
  type CommandNode,
  type FieldNode,
  type IdentifierNode,
  type ListNode,
  type Node,
  nodeText,
  type NumberNode,
  type OperandNode,
  type PipeNode,
  type TemplateNode,
  type VariableNode,
} from './nodes.ts';
import type { TreeSet } from './parser.ts';
import { display, sprint } from './printing.ts';
import { quote } from './quoting.ts';
import {
  boolValue,
  concrete,
  intValue,
  isTrue,
  itemsOf,
  NONE,
  sortedEntries,
  stringValue,
  typeNameOf,
  type Value,
} from './values.ts';
import {
  type BoundedText,
  EVALUATION_DEPTH_MAX,
  WorkExceeded,
  type WorkMeter,
} from './work-meter.ts';

/** A template that cannot be rendered over this data. */
export class RenderFailure extends Error {
  override readonly name = 'RenderFailure';
  /** The byte of the template that the message points at. */
  readonly position: number;

  constructor(message: ByteString, position: number) {
    super(message);
    this.position = position;
  }
}

/** What a rendering is made of. */
export interface Rendering {
  /** The name of the whole template, and its text, for places in messages. */
  readonly name: ByteString;
  readonly text: ByteString;
  readonly trees: TreeSet;
  readonly out: BoundedText;
  readonly meter: WorkMeter;
}

interface Variable {
  readonly name: ByteString;
  value: Value;
}

/** How a body ended. */
type Flow = 'on' | 'break' | 'continue';

/** No result of an earlier command: Go tells it from a nil one. */
const NO_FINAL = Symbol('no final argument');
type Final = Value | typeof NO_FINAL;

/** Weight of bytes that a function only reads, against bytes that are made. */
const READ_BYTES_PER_UNIT = 16;

class Evaluation {
  readonly #rendering: Rendering;
  /** The name of the template that runs now. */
  readonly #executing: ByteString;
  readonly #depth: { value: number };
  #variables: Variable[];
  /** What runs now, for messages. */
  #node: Node | undefined;

  constructor(rendering: Rendering, executing: ByteString, dot: Value, depth = { value: 0 }) {
    this.#rendering = rendering;
    this.#executing = executing;
    this.#depth = depth;
    this.#variables = [{ name: '$', value: dot }];
  }

  /** Runs the body of a template. */
  run(dot: Value, root: ListNode): void {
    try {
      this.#walkList(dot, root);
    } catch (problem) {
      if (problem instanceof WorkExceeded) this.#fail(problem.message);
      throw problem;
    }
  }

  // ------------------------------------------------------------------ errors

  #fail(message: ByteString): never {
    const { name, text } = this.#rendering;
    if (this.#node === undefined) throw new RenderFailure(`template: ${name}: ${message}`, 0);
    const { position } = this.#node;
    const before = text.slice(0, position);
    const line = before.split('\n').length;
    const column = position - (before.lastIndexOf('\n') + 1);
    throw new RenderFailure(
      `template: ${name}:${line}:${column}: executing ${quote(this.#executing)} ` +
        `at <${nodeText(this.#node)}>: ${message}`,
      position,
    );
  }

  /** Runs `evaluate` one level deeper. */
  #deeper<T>(evaluate: () => T): T {
    if (this.#depth.value >= EVALUATION_DEPTH_MAX) {
      return this.#fail(`exceeded maximum template depth (${EVALUATION_DEPTH_MAX})`);
    }
    this.#depth.value += 1;
    const result = evaluate();
    this.#depth.value -= 1;
    return result;
  }

  #display(value: Value): ByteString {
    return display(value, 'v', this.#rendering.meter);
  }

  // --------------------------------------------------------------- variables

  /** Runs `evaluate`, and drops the variables it declared. */
  #scoped<T>(evaluate: () => T): T {
    const mark = this.#variables.length;
    const result = evaluate();
    this.#variables.length = mark;
    return result;
  }

  #variable(name: ByteString): Variable {
    return this.#variables.findLast((variable) => variable.name === name) ??
      this.#fail(`undefined variable: ${name}`);
  }

  // ------------------------------------------------------------------ bodies

  #walkList(dot: Value, list: ListNode): Flow {
    this.#node = list;
    for (const node of list.nodes) {
      this.#rendering.meter.charge(1);
      const flow = this.#walk(dot, node);
      if (flow !== 'on') return flow;
    }
    return 'on';
  }

  #walk(dot: Value, node: BodyNode): Flow {
    this.#node = node;
    switch (node.kind) {
      case 'text':
        this.#rendering.out.append(node.text);
        return 'on';
      case 'action':
        this.#walkAction(dot, node);
        return 'on';
      case 'break':
      case 'continue':
        return node.kind;
      case 'range':
        return this.#deeper(() => this.#scoped(() => this.#walkRange(dot, node)));
      case 'if':
      case 'with':
        return this.#deeper(() => this.#scoped(() => this.#walkCondition(dot, node)));
      case 'template':
        this.#walkTemplate(dot, node);
        return 'on';
    }
  }

  #walkAction(dot: Value, node: ActionNode): void {
    const value = this.#pipeline(dot, node.pipe);
    if (node.pipe.variables.length > 0) return;
    this.#node = node;
    const { out, meter } = this.#rendering;
    out.append(value.kind === 'none' ? '<no value>' : sprint([value], meter));
  }

  #walkCondition(dot: Value, node: BranchNode): Flow {
    const value = this.#pipeline(dot, node.pipe);
    if (isTrue(value)) return this.#walkList(node.kind === 'with' ? value : dot, node.list);
    return node.elseList === undefined ? 'on' : this.#walkList(dot, node.elseList);
  }

  #walkRange(dot: Value, node: BranchNode): Flow {
    const over = concrete(this.#pipeline(dot, node.pipe));
    let isEmpty = true;
    for (const [index, element] of this.#elements(over, node)) {
      isEmpty = false;
      this.#rendering.meter.charge(1);
      this.#setRangeVariables(node.pipe, index, element);
      if (this.#scoped(() => this.#walkList(element, node.list)) === 'break') return 'on';
    }
    return isEmpty && node.elseList !== undefined ? this.#walkList(dot, node.elseList) : 'on';
  }

  /** What a range goes over: index and element, one after another. */
  *#elements(over: Value, node: BranchNode): Generator<readonly [index: Value, element: Value]> {
    switch (over.kind) {
      case 'none':
        return;
      case 'int':
      case 'uint8':
        if (node.pipe.variables.length > 1) {
          this.#fail(`can't use ${over.value} to iterate over more than one variable`);
        }
        for (let at = 0n; at < over.value; at += 1n) yield [NONE, { kind: over.kind, value: at }];
        return;
      case 'slice':
        for (const [at, item] of itemsOf(over).entries()) yield [intValue(BigInt(at)), item];
        return;
      case 'map':
        for (const [key, value] of sortedEntries(over)) yield [stringValue(key), value];
        return;
      default:
        this.#fail(`range can't iterate over ${this.#display(over)}`);
    }
  }

  #setRangeVariables({ variables, isAssign }: PipeNode, index: Value, element: Value): void {
    const [first, second] = variables;
    if (first === undefined) return;
    const values = second === undefined ? [element] : [index, element];
    variables.forEach(({ names }, at) => {
      const value = values[at] ?? element;
      const declared = this.#variables[this.#variables.length - variables.length + at];
      if (isAssign) this.#variable(names[0]).value = value;
      else if (declared !== undefined) declared.value = value;
    });
  }

  #walkTemplate(dot: Value, node: TemplateNode): void {
    const tree = this.#rendering.trees.get(node.name);
    if (tree === undefined) return this.#fail(`template ${quote(node.name)} not defined`);
    this.#deeper(() => {
      const inner = node.pipe === undefined ? NONE : this.#pipeline(dot, node.pipe);
      new Evaluation(this.#rendering, node.name, inner, this.#depth).run(inner, tree);
    });
  }

  // --------------------------------------------------------------- pipelines

  /** The value of a pipeline; what it declares stays until the scope ends. */
  #pipeline(dot: Value, pipe: PipeNode): Value {
    this.#node = pipe;
    let final: Final = NO_FINAL;
    for (const command of pipe.commands) {
      this.#rendering.meter.charge(1);
      final = concrete(this.#command(dot, command, final));
    }
    const value = final === NO_FINAL ? NONE : final;
    for (const { names: [name] } of pipe.variables) {
      if (pipe.isAssign) this.#variable(name).value = value;
      else this.#variables.push({ name, value });
    }
    return value;
  }

  #refuseArguments(operands: CommandNode['operands'], final: Final): void {
    if (operands.length > 1 || final !== NO_FINAL) {
      this.#fail(`can't give argument to non-function ${nodeText(operands[0])}`);
    }
  }

  #command(dot: Value, command: CommandNode, final: Final): Value {
    const { operands } = command;
    const [first] = operands;
    switch (first.kind) {
      case 'field':
        return this.#field(dot, first, operands, final);
      case 'chain':
        return this.#chain(dot, first, operands, final);
      case 'identifier':
        return this.#function(dot, first, { at: command, operands: operands.slice(1), final });
      case 'pipe':
        this.#refuseArguments(operands, final);
        return this.#deeper(() => this.#pipeline(dot, first));
      case 'variable':
        return this.#variableFields(dot, first, operands, final);
      default:
        break;
    }
    this.#node = first;
    this.#refuseArguments(operands, final);
    switch (first.kind) {
      case 'bool':
        return boolValue(first.value);
      case 'dot':
        return dot;
      case 'nil':
        return this.#fail('nil is not a command');
      case 'number':
        return this.#number(first);
      case 'string':
        return stringValue(first.value);
    }
  }

  #number(node: NumberNode): Value {
    this.#node = node;
    return node.constant._tag === 'Overflow'
      ? this.#fail(`${node.text} overflows int`)
      : node.constant.value;
  }

  // ------------------------------------------------------------------ fields

  #field(dot: Value, node: FieldNode, operands: readonly OperandNode[], final: Final): Value {
    this.#node = node;
    return this.#fields(dot, node.names, operands.length > 1 || final !== NO_FINAL);
  }

  #chain(dot: Value, node: ChainNode, operands: readonly OperandNode[], final: Final): Value {
    this.#node = node;
    const of = this.#operand(dot, node.of);
    return this.#fields(of, node.names, operands.length > 1 || final !== NO_FINAL);
  }

  #variableFields(
    _dot: Value,
    node: VariableNode,
    operands: readonly OperandNode[],
    final: Final,
  ): Value {
    this.#node = node;
    const { value } = this.#variable(node.names[0]);
    const hasArguments = operands.length > 1 || final !== NO_FINAL;
    if (node.names.length > 1) return this.#fields(value, node.names.slice(1), hasArguments);
    if (hasArguments) this.#fail(`can't give argument to non-function ${nodeText(node)}`);
    return value;
  }

  #fields(of: Value, names: readonly ByteString[], hasArguments: boolean): Value {
    let value = of;
    names.forEach((name, index) => {
      value = this.#fieldOf(value, name, hasArguments && index === names.length - 1);
    });
    return value;
  }

  #fieldOf(receiver: Value, name: ByteString, hasArguments: boolean): Value {
    if (receiver.kind === 'none') return NONE;
    const of = concrete(receiver);
    switch (of.kind) {
      case 'none':
        return this.#fail(`nil pointer evaluating ${typeNameOf(receiver)}.${name}`);
      case 'struct': {
        const at = of.type.fields.findIndex(([field]) => field === name);
        const field = of.fields[at];
        if (field === undefined) break;
        if (!hasArguments) return field;
        return this.#fail(`${name} has arguments but cannot be invoked as function`);
      }
      case 'map':
        if (!hasArguments) return of.entries.get(name) ?? NONE;
        return this.#fail(`${name} is not a method but has arguments`);
      default:
        break;
    }
    return this.#fail(`can't evaluate field ${name} in type ${typeNameOf(receiver)}`);
  }

  // --------------------------------------------------------------- functions

  #function(
    dot: Value,
    { name }: IdentifierNode,
    invocation: { at: Node; operands: readonly OperandNode[]; final: Final },
  ): Value {
    const { at, operands, final } = invocation;
    const builtin = BUILTINS.get(name);
    if (builtin === undefined) return this.#fail(`${quote(name)} is not a defined function`);
    this.#node = at.kind === 'command' ? at.operands[0] : at;
    this.#checkCount(name, builtin, operands.length, final !== NO_FINAL);
    if (name === 'and' || name === 'or') return this.#decide(dot, name === 'or', operands, final);
    const given = operands.map((operand, index) => {
      return this.#argument(dot, operand, parameterAt(builtin, index));
    });
    if (final !== NO_FINAL) {
      given.push(this.#accepted(final, parameterAt(builtin, given.length)));
    }
    if (name === 'call') given.unshift(stringValue(this.#calleeName(operands, final)));
    return this.#invoke(name, builtin, given, at);
  }

  #invoke(name: string, builtin: Builtin, given: readonly Value[], at: Node): Value {
    const { meter } = this.#rendering;
    for (const value of given) {
      const { length = 0 } = value.kind === 'string' ? value.value : { length: 0 };
      meter.charge(1 + Math.floor(length / READ_BYTES_PER_UNIT));
    }
    try {
      return builtin.call(given, meter);
    } catch (problem) {
      if (!(problem instanceof FunctionFailure)) throw problem;
      this.#node = at;
      return this.#fail(`error calling ${name}: ${problem.message}`);
    }
  }

  #checkCount(name: string, builtin: Builtin, operands: number, hasFinal: boolean): void {
    const { parameters, variadic } = builtin;
    const given = operands + (hasFinal ? 1 : 0);
    const wrong = `wrong number of args for ${name}: want`;
    if (variadic === undefined && given !== parameters.length) {
      this.#fail(`${wrong} ${parameters.length} got ${given}`);
    }
    if (given < parameters.length) {
      this.#fail(`${wrong} at least ${parameters.length} got ${operands}`);
    }
  }

  /** `and` and `or`: the first argument that settles it, or the last. */
  #decide(dot: Value, settles: boolean, operands: readonly OperandNode[], final: Final): Value {
    let value: Value = NONE;
    for (const operand of operands) {
      value = this.#argument(dot, operand, 'value');
      if (isTrue(value) === settles) return value;
    }
    return final === NO_FINAL ? value : final;
  }

  #calleeName(operands: readonly OperandNode[], final: Final): ByteString {
    const [callee] = operands;
    if (callee !== undefined) return nodeText(callee);
    if (final === NO_FINAL) return '';
    if (final.kind === 'string') return final.value;
    return final.kind === 'none' ? '<invalid Value>' : `<${typeNameOf(final)} Value>`;
  }

  /** A value as an argument for a parameter. */
  #accepted(value: Value, parameter: Parameter): Value {
    if (parameter !== 'string' || value.kind === 'string') return value;
    if (value.kind === 'none') return this.#fail('invalid value; expected string');
    const isNilAny = value.kind === 'any' && value.inner.kind === 'none';
    const inner = isNilAny ? value : concrete(value);
    return inner.kind === 'string'
      ? inner
      : this.#fail(`wrong type for value; expected string; got ${typeNameOf(inner)}`);
  }

  #argument(dot: Value, node: OperandNode, parameter: Parameter): Value {
    this.#node = node;
    switch (node.kind) {
      case 'nil':
        return parameter === 'string' ? this.#fail('cannot assign nil to string') : NONE;
      case 'bool':
      case 'number':
        if (parameter === 'string') return this.#fail(`expected string; found ${nodeText(node)}`);
        return node.kind === 'bool' ? boolValue(node.value) : this.#number(node);
      case 'string':
        return stringValue(node.value);
      default:
        return this.#accepted(this.#operand(dot, node), parameter);
    }
  }

  /** An operand that is no constant. */
  #operand(dot: Value, node: Exclude<OperandNode, { kind: 'bool' | 'number' | 'string' }>): Value {
    this.#node = node;
    switch (node.kind) {
      case 'field':
        return this.#field(dot, node, [], NO_FINAL);
      case 'variable':
        return this.#variableFields(dot, node, [], NO_FINAL);
      case 'pipe':
        return this.#deeper(() => this.#pipeline(dot, node));
      case 'identifier':
        return this.#function(dot, node, { at: node, operands: [], final: NO_FINAL });
      case 'chain':
        return this.#chain(dot, node, [], NO_FINAL);
      case 'dot':
        return dot;
      case 'nil':
        return NONE;
    }
  }
}

const parameterAt = ({ parameters, variadic }: Builtin, index: number): Parameter =>
  parameters[index] ?? variadic ?? 'value';

/** Renders `root` over `dot`. Throws `RenderFailure`. */
export const evaluate = (rendering: Rendering, root: ListNode, dot: Value): void =>
  new Evaluation(rendering, rendering.name, dot).run(dot, root);
