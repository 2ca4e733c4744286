/**
 * The values of pipelines: commands, operands, fields and function calls.
 *
 * Promises: what Go computes, or a complaint in its words. Source: Go, package text/template,
 * sections "Arguments", "Pipelines" and "Functions".
 */
import { type Builtin, BUILTINS, type Parameter } from './builtins.ts';
import type { ByteString } from './byte-strings.ts';
import { FunctionFailure } from './comparison.ts';
import type { Frame } from './frame.ts';
import {
  type ChainNode,
  type CommandNode,
  type FieldNode,
  type IdentifierNode,
  type Node,
  nodeText,
  type NumberNode,
  type OperandNode,
  type PipeNode,
  type VariableNode,
} from './nodes.ts';
import { quote } from './quoting.ts';
import {
  boolValue,
  concrete,
  isTrue,
  NONE,
  stringValue,
  typeNameOf,
  type Value,
} from './values.ts';
import { CALL_UNITS, STEP_UNITS, type WorkMeter } from './work-meter.ts';

/** No result of an earlier command: Go distinguishes it from a nil result. */
const NO_FINAL = Symbol('no final argument');
type Final = Value | typeof NO_FINAL;

/** What a command is given: its operands, and the value of the command before it. */
interface Given {
  readonly operands: readonly OperandNode[];
  readonly final: Final;
}

const NOTHING_GIVEN: Given = { operands: [], final: NO_FINAL };

/** True when there is more than the operand that says what to do. */
const hasArguments = ({ operands, final }: Given): boolean =>
  operands.length > 1 || final !== NO_FINAL;

/** Weight of bytes that a function only reads, against bytes that are made. */
const READ_BYTES_PER_UNIT = 16;

const parameterAt = ({ parameters, variadic }: Builtin, index: number): Parameter =>
  parameters[index] ?? variadic ?? 'value';

/** Evaluates the pipelines of one running template. */
export class PipelineEvaluation {
  readonly #frame: Frame;

  constructor(frame: Frame) {
    this.#frame = frame;
  }

  /** The value of a pipeline; what it declares stays until the scope ends. */
  pipeline(dot: Value, pipe: PipeNode): Value {
    this.#frame.node = pipe;
    let final: Final = NO_FINAL;
    for (const command of pipe.commands) {
      this.#frame.rendering.meter.charge(STEP_UNITS);
      final = concrete(this.#command(dot, command, final));
    }
    const value = final === NO_FINAL ? NONE : final;
    for (const { names: [name] } of pipe.variables) {
      if (pipe.isAssign) this.#frame.variable(name).value = value;
      else this.#frame.variables.push({ name, value });
    }
    return value;
  }

  #refuseArguments(operands: CommandNode['operands'], final: Final): void {
    if (operands.length > 1 || final !== NO_FINAL) {
      this.#frame.fail(`can't give argument to non-function ${nodeText(operands[0])}`);
    }
  }

  #command(dot: Value, command: CommandNode, final: Final): Value {
    const { operands } = command;
    const [first] = operands;
    switch (first.kind) {
      case 'field':
        return this.#field(dot, first, { operands, final });
      case 'chain':
        return this.#chain(dot, first, { operands, final });
      case 'identifier':
        return this.#function(dot, first, { at: command, operands: operands.slice(1), final });
      case 'pipe':
        this.#refuseArguments(operands, final);
        return this.#frame.deeper(() => this.pipeline(dot, first));
      case 'variable':
        return this.#variableFields(first, { operands, final });
      default:
        break;
    }
    this.#frame.node = first;
    this.#refuseArguments(operands, final);
    switch (first.kind) {
      case 'bool':
        return boolValue(first.value);
      case 'dot':
        return dot;
      case 'nil':
        return this.#frame.fail('nil is not a command');
      case 'number':
        return this.#number(first);
      case 'string':
        return stringValue(first.value);
    }
  }

  #number(node: NumberNode): Value {
    this.#frame.node = node;
    return node.constant._tag === 'Overflow'
      ? this.#frame.fail(`${node.text} overflows int`)
      : node.constant.value;
  }

  #field(dot: Value, node: FieldNode, given: Given): Value {
    this.#frame.node = node;
    return this.#fields(dot, node.names, hasArguments(given));
  }

  #chain(dot: Value, node: ChainNode, given: Given): Value {
    this.#frame.node = node;
    const of = this.#operand(dot, node.of);
    return this.#fields(of, node.names, hasArguments(given));
  }

  #variableFields(node: VariableNode, given: Given): Value {
    this.#frame.node = node;
    const { value } = this.#frame.variable(node.names[0]);
    const isCalled = hasArguments(given);
    if (node.names.length > 1) return this.#fields(value, node.names.slice(1), isCalled);
    if (isCalled) this.#frame.fail(`can't give argument to non-function ${nodeText(node)}`);
    return value;
  }

  #fields(of: Value, names: readonly ByteString[], isCalled: boolean): Value {
    let value = of;
    names.forEach((name, index) => {
      value = this.#fieldOf(value, name, isCalled && index === names.length - 1);
    });
    return value;
  }

  #fieldOf(receiver: Value, name: ByteString, isCalled: boolean): Value {
    if (receiver.kind === 'none') return NONE;
    const of = concrete(receiver);
    switch (of.kind) {
      case 'none':
        return this.#frame.fail(`nil pointer evaluating ${typeNameOf(receiver)}.${name}`);
      case 'struct': {
        const at = of.type.fields.findIndex(([field]) => field === name);
        const field = of.fields[at];
        if (field === undefined) break;
        if (!isCalled) return field;
        return this.#frame.fail(`${name} has arguments but cannot be invoked as function`);
      }
      case 'map':
        if (!isCalled) return of.entries.get(name) ?? NONE;
        return this.#frame.fail(`${name} is not a method but has arguments`);
      default:
        break;
    }
    return this.#frame.fail(`can't evaluate field ${name} in type ${typeNameOf(receiver)}`);
  }

  #function(
    dot: Value,
    { name }: IdentifierNode,
    invocation: Given & { readonly at: Node },
  ): Value {
    const { at, operands, final } = invocation;
    const builtin = BUILTINS.get(name);
    if (builtin === undefined) return this.#frame.fail(`${quote(name)} is not a defined function`);
    this.#frame.node = at.kind === 'command' ? at.operands[0] : at;
    this.#checkCount(name, builtin, invocation);
    if (name === 'and' || name === 'or') return this.#decide(dot, name === 'or', invocation);
    const given = operands.map((operand, index) => {
      return this.#argument(dot, operand, parameterAt(builtin, index));
    });
    if (final !== NO_FINAL) {
      given.push(this.#accepted(final, parameterAt(builtin, given.length)));
    }
    if (name === 'call') given.unshift(stringValue(this.#calleeName(operands, final)));
    const meter = this.#charged(given);
    return this.#invoke(name, () => builtin.call(given, meter), at);
  }

  /** The meter, charged for reading what is given. */
  #charged(given: readonly Value[]): WorkMeter {
    const { meter } = this.#frame.rendering;
    meter.charge(CALL_UNITS);
    for (const value of given) {
      const { length = 0 } = value.kind === 'string' ? value.value : { length: 0 };
      meter.charge(STEP_UNITS + Math.floor(length / READ_BYTES_PER_UNIT));
    }
    return meter;
  }

  #invoke(name: string, call: () => Value, at: Node): Value {
    try {
      return call();
    } catch (problem) {
      if (!(problem instanceof FunctionFailure)) throw problem;
      this.#frame.node = at;
      return this.#frame.fail(`error calling ${name}: ${problem.message}`);
    }
  }

  #checkCount(name: string, builtin: Builtin, { operands, final }: Given): void {
    const { parameters, variadic } = builtin;
    const given = operands.length + (final === NO_FINAL ? 0 : 1);
    const wrong = `wrong number of args for ${name}: want`;
    if (variadic === undefined && given !== parameters.length) {
      this.#frame.fail(`${wrong} ${parameters.length} got ${given}`);
    }
    if (given < parameters.length) {
      this.#frame.fail(`${wrong} at least ${parameters.length} got ${operands.length}`);
    }
  }

  /** `and` and `or`: the first argument that settles it, or the last. */
  #decide(dot: Value, settles: boolean, { operands, final }: Given): Value {
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
    if (value.kind === 'none') return this.#frame.fail('invalid value; expected string');
    const isNilAny = value.kind === 'any' && value.inner.kind === 'none';
    const inner = isNilAny ? value : concrete(value);
    return inner.kind === 'string'
      ? inner
      : this.#frame.fail(`wrong type for value; expected string; got ${typeNameOf(inner)}`);
  }

  #argument(dot: Value, node: OperandNode, parameter: Parameter): Value {
    this.#frame.node = node;
    switch (node.kind) {
      case 'nil':
        return parameter === 'string' ? this.#frame.fail('cannot assign nil to string') : NONE;
      case 'bool':
      case 'number':
        if (parameter === 'string') {
          return this.#frame.fail(`expected string; found ${nodeText(node)}`);
        }
        return node.kind === 'bool' ? boolValue(node.value) : this.#number(node);
      case 'string':
        return stringValue(node.value);
      default:
        return this.#accepted(this.#operand(dot, node), parameter);
    }
  }

  /** An operand that is no constant. */
  #operand(dot: Value, node: Exclude<OperandNode, { kind: 'bool' | 'number' | 'string' }>): Value {
    this.#frame.node = node;
    switch (node.kind) {
      case 'field':
        return this.#field(dot, node, NOTHING_GIVEN);
      case 'variable':
        return this.#variableFields(node, NOTHING_GIVEN);
      case 'pipe':
        return this.#frame.deeper(() => this.pipeline(dot, node));
      case 'identifier':
        return this.#function(dot, node, { at: node, ...NOTHING_GIVEN });
      case 'chain':
        return this.#chain(dot, node, NOTHING_GIVEN);
      case 'dot':
        return dot;
      case 'nil':
        return NONE;
    }
  }
}
