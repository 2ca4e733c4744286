/**
 * The state of one template while it runs: its variables, what runs now, and how deep.
 *
 * Promises: a complaint carries Go's words and the place of what runs now.
 */
import type { ByteString } from './byte-strings.ts';
import { type Node, nodeText } from './nodes.ts';
import type { TreeSet } from './parser.ts';
import { display } from './printing.ts';
import { quote } from './quoting.ts';
import type { Value } from './values.ts';
import { type BoundedText, EVALUATION_DEPTH_MAX, type WorkMeter } from './work-meter.ts';

/** A template that cannot be rendered over this data. */
export class RenderFailure extends Error {
  override readonly name = 'RenderFailure';
  /** The message without the place. */
  readonly detail: ByteString;
  /** The byte of the template that the message points at. */
  readonly position: number;

  constructor(place: ByteString, detail: ByteString, position: number) {
    super(`${place}: ${detail}`);
    this.detail = detail;
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

/** A variable of a running template. */
export interface Variable {
  readonly name: ByteString;
  value: Value;
}

/** One running template. */
export class Frame {
  readonly rendering: Rendering;
  /** The name of the template that runs now. */
  readonly executing: ByteString;
  /** How deep evaluation is, shared with the frames it came from. */
  readonly depth: { value: number };
  readonly variables: Variable[];
  /** What runs now, for messages. */
  node: Node | undefined;

  constructor(
    rendering: Rendering,
    dot: Value,
    { executing, depth }: Pick<Frame, 'executing' | 'depth'>,
  ) {
    this.rendering = rendering;
    this.executing = executing;
    this.depth = depth;
    this.variables = [{ name: '$', value: dot }];
  }

  /** Ends the rendering with a complaint about what runs now. */
  fail(message: ByteString): never {
    const { name, text } = this.rendering;
    if (this.node === undefined) throw new RenderFailure(`template: ${name}`, message, 0);
    const { position } = this.node;
    const before = text.slice(0, position);
    const line = before.split('\n').length;
    const column = position - (before.lastIndexOf('\n') + 1);
    throw new RenderFailure(
      `template: ${name}:${line}:${column}: executing ${quote(this.executing)} ` +
        `at <${nodeText(this.node)}>`,
      message,
      position,
    );
  }

  /** Runs `evaluate` one level deeper. */
  deeper<T>(evaluate: () => T): T {
    if (this.depth.value >= EVALUATION_DEPTH_MAX) {
      return this.fail(`exceeded maximum template depth (${EVALUATION_DEPTH_MAX})`);
    }
    this.depth.value += 1;
    const result = evaluate();
    this.depth.value -= 1;
    return result;
  }

  /** A value as messages show it. */
  display(value: Value): ByteString {
    return display(value, 'v', this.rendering.meter);
  }

  /** Runs `evaluate`, and drops the variables it declared. */
  scoped<T>(evaluate: () => T): T {
    const mark = this.variables.length;
    const result = evaluate();
    this.variables.length = mark;
    return result;
  }

  /** The variable declared last under `name`. */
  variable(name: ByteString): Variable {
    return this.variables.findLast((variable) => variable.name === name) ??
      this.fail(`undefined variable: ${name}`);
  }
}
