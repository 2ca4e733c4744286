/**
 * The bootstrap template in use: read at start, and again when its file changes.
 *
 * Promises: a bad template at start is refused with its line and column; a bad one later keeps the
 * last good one, and is told once in log and metric.
 */
import { exhaustMap, skip, startWith, timer } from 'rxjs';
import { bootstrapRenderer } from '../../domain/bootstrap.ts';
import type { BootstrapPull } from '../../domain/frames.ts';
import type { Judged } from '../../domain/text-file.ts';
import { readTextFile } from '../../effects/template-file.ts';
import { textChanges } from '../../streams/text-changes.ts';
import type { RenderBootstrap } from './session-frames.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** Polled, because a mounted ConfigMap swaps symbolic links under the name. */
const POLL_MS = 5_000;

const judgeTemplate = (text: string | undefined): Judged<RenderBootstrap> => {
  const template = bootstrapRenderer(text);
  if (template._tag === 'Ready') return { _tag: 'Good', value: template.render };
  const { line, column, message } = template;
  return { _tag: 'Bad', problem: `line ${line}, column ${column}: ${message}` };
};

/** The template in use. */
export interface BootstrapTemplate {
  /** Renders with the template that is in use now. */
  readonly render: RenderBootstrap;
  readonly stop: () => void;
}

/** A template in use, or why there is none to start with. */
export type BootstrapStart =
  | { readonly _tag: 'Started'; readonly template: BootstrapTemplate }
  | { readonly _tag: 'Refused'; readonly problem: string };

const inUse = (judged: Judged<RenderBootstrap>, file: string | undefined) => {
  if (judged._tag === 'Bad') {
    const problem = `Cannot use the bootstrap template "${file ?? ''}": ${judged.problem}`;
    return { _tag: 'Refused' as const, problem };
  }
  let render = judged.value;
  return {
    _tag: 'Started' as const,
    template: {
      render: (pull: BootstrapPull) => render(pull),
      use: (next: RenderBootstrap) => {
        render = next;
      },
      stop: () => {},
    },
  };
};

/** Reads the template and follows its file; without a file the stub is in use. */
export const startBootstrapTemplate = async (
  environment: ActorEnvironment<never>,
  file: string | undefined,
): Promise<BootstrapStart> => {
  if (file === undefined) return inUse(judgeTemplate(undefined), file);
  const read = () => environment.runtime.runPromise(readTextFile(file));
  const first = await read();
  const started = inUse(
    first._tag === 'Text' ? judgeTemplate(first.text) : { _tag: 'Bad', problem: first.problem },
    file,
  );
  if (started._tag === 'Refused') return started;
  const changes = timer(POLL_MS, POLL_MS, environment.scheduler).pipe(
    exhaustMap(read),
    startWith(first),
    textChanges(judgeTemplate),
    skip(1),
  ).subscribe((change) => {
    if (change._tag === 'Accepted') {
      started.template.use(change.value);
      environment.telemetry.log('info', 'Bootstrap template in use', { file });
    } else {
      environment.telemetry.count('tidegate_bootstrap_template_refused_total', 1);
      environment.telemetry.log('warn', 'Bootstrap template not usable, the last good one stays', {
        file,
        problem: change.problem,
      });
    }
  });
  return {
    _tag: 'Started',
    template: { render: started.template.render, stop: () => changes.unsubscribe() },
  };
};
