/**
 * Runs a parsed template over a value.
 *
 * Promises: gives the output, or throws `RenderFailure` with Go's words and place; nests no deeper
 * than `EVALUATION_DEPTH_MAX` and works no more than its meter allows. Source: Go, package
 * text/template, section "Actions".
 */
import { Frame, type Rendering } from './frame.ts';
import type {
  ActionNode,
  BodyNode,
  BranchNode,
  ListNode,
  PipeNode,
  TemplateNode,
} from './nodes.ts';
import { PipelineEvaluation } from './pipeline-evaluation.ts';
import { sprint } from './printing.ts';
import { quote } from './quoting.ts';
import {
  concrete,
  intValue,
  isTrue,
  itemsOf,
  NONE,
  sortedEntries,
  stringValue,
  type Value,
} from './values.ts';
import { STEP_UNITS, WorkExceeded } from './work-meter.ts';

/** How a body ended. */
type Flow = 'on' | 'break' | 'continue';

class Evaluation {
  readonly #frame: Frame;
  readonly #pipelines: PipelineEvaluation;

  constructor(frame: Frame) {
    this.#frame = frame;
    this.#pipelines = new PipelineEvaluation(frame);
  }

  /** Runs the body of a template. */
  run(dot: Value, root: ListNode): void {
    try {
      this.#walkList(dot, root);
    } catch (problem) {
      if (problem instanceof WorkExceeded) this.#frame.fail(problem.message);
      throw problem;
    }
  }

  #walkList(dot: Value, list: ListNode): Flow {
    this.#frame.node = list;
    for (const node of list.nodes) {
      this.#frame.rendering.meter.charge(STEP_UNITS);
      const flow = this.#walk(dot, node);
      if (flow !== 'on') return flow;
    }
    return 'on';
  }

  #walk(dot: Value, node: BodyNode): Flow {
    this.#frame.node = node;
    switch (node.kind) {
      case 'text':
        this.#frame.rendering.out.append(node.text);
        return 'on';
      case 'action':
        this.#walkAction(dot, node);
        return 'on';
      case 'break':
      case 'continue':
        return node.kind;
      case 'range':
        return this.#frame.deeper(() => this.#frame.scoped(() => this.#walkRange(dot, node)));
      case 'if':
      case 'with':
        return this.#frame.deeper(() => this.#frame.scoped(() => this.#walkCondition(dot, node)));
      case 'template':
        this.#walkTemplate(dot, node);
        return 'on';
    }
  }

  #walkAction(dot: Value, node: ActionNode): void {
    const value = this.#pipelines.pipeline(dot, node.pipe);
    if (node.pipe.variables.length > 0) return;
    this.#frame.node = node;
    const { out, meter } = this.#frame.rendering;
    out.append(value.kind === 'none' ? '<no value>' : sprint([value], meter));
  }

  #walkCondition(dot: Value, node: BranchNode): Flow {
    const value = this.#pipelines.pipeline(dot, node.pipe);
    if (isTrue(value)) return this.#walkList(node.kind === 'with' ? value : dot, node.list);
    return node.elseList === undefined ? 'on' : this.#walkList(dot, node.elseList);
  }

  #walkRange(dot: Value, node: BranchNode): Flow {
    const over = concrete(this.#pipelines.pipeline(dot, node.pipe));
    let isEmpty = true;
    for (const [index, element] of this.#elements(over, node)) {
      isEmpty = false;
      this.#frame.rendering.meter.charge(STEP_UNITS);
      this.#setRangeVariables(node.pipe, index, element);
      if (this.#frame.scoped(() => this.#walkList(element, node.list)) === 'break') return 'on';
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
          this.#frame.fail(`can't use ${over.value} to iterate over more than one variable`);
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
        this.#frame.fail(`range can't iterate over ${this.#frame.display(over)}`);
    }
  }

  #setRangeVariables({ variables, isAssign }: PipeNode, index: Value, element: Value): void {
    const [first, second] = variables;
    if (first === undefined) return;
    const values = second === undefined ? [element] : [index, element];
    variables.forEach(({ names }, at) => {
      const value = values[at] ?? element;
      const declared = this.#frame.variables[this.#frame.variables.length - variables.length + at];
      if (isAssign) this.#frame.variable(names[0]).value = value;
      else if (declared !== undefined) declared.value = value;
    });
  }

  #walkTemplate(dot: Value, node: TemplateNode): void {
    const tree = this.#frame.rendering.trees.get(node.name);
    if (tree === undefined) return this.#frame.fail(`template ${quote(node.name)} not defined`);
    this.#frame.deeper(() => {
      const inner = node.pipe === undefined ? NONE : this.#pipelines.pipeline(dot, node.pipe);
      const { rendering, depth } = this.#frame;
      new Evaluation(new Frame(rendering, inner, { executing: node.name, depth })).run(inner, tree);
    });
  }
}

/** Renders `root` over `dot`. Throws `RenderFailure`. */
export const evaluate = (rendering: Rendering, root: ListNode, dot: Value): void =>
  new Evaluation(new Frame(rendering, dot, { executing: rendering.name, depth: { value: 0 } }))
    .run(dot, root);
