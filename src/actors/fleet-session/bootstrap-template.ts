/**
 * The bootstrap template: read at start, and again when its file changes.
 *
 * Promises: an invalid template at start is refused with its line and column; later the last valid
 * one stays in use, and the problem is reported once in log and metric.
 */
import { bootstrapRenderer } from '../../domain/bootstrap.ts';
import type { Judged } from '../../domain/text-file.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type FollowedFile, followedFile } from '../followed-file.ts';
import type { RenderBootstrap } from './session-frames.ts';

const judgeTemplate = (text: string): Judged<RenderBootstrap> => {
  const template = bootstrapRenderer(text);
  if (template._tag === 'Ready') return { _tag: 'Good', value: template.render };
  const { line, column, message } = template;
  return { _tag: 'Bad', problem: `line ${line}, column ${column}: ${message}` };
};

/** No pull can be answered before the file was read. */
const UNREAD: RenderBootstrap = () => ({
  _tag: 'Failed',
  problem: 'The bootstrap template is not read yet',
});

/** Without a file. */
const stub = (): RenderBootstrap => {
  const template = bootstrapRenderer(undefined);
  return template._tag === 'Ready' ? template.render : UNREAD;
};

/** The template in use. */
export interface BootstrapTemplate extends Pick<FollowedFile<RenderBootstrap>, 'start' | 'stop'> {
  /** Renders with the current template. */
  readonly render: RenderBootstrap;
}

/** The template of a file, or the stub without one; nothing is read before `start`. */
export const bootstrapTemplate = (
  environment: ActorEnvironment<never>,
  file: string | undefined,
): BootstrapTemplate => {
  const { telemetry } = environment;
  const path = file ?? '';
  const { values, start, stop } = followedFile(environment, {
    name: 'bootstrap template',
    file,
    absent: stub(),
    judge: judgeTemplate,
    onChange: (change) => {
      if (change._tag === 'Accepted') {
        return telemetry.log('info', 'Bootstrap template in use', { file: path });
      }
      telemetry.count('tidegate_bootstrap_template_refused_total', 1);
      telemetry.log('warn', 'Bootstrap template rejected; the last valid one stays in use', {
        file: path,
        problem: change.problem,
      });
    },
  });
  let render = UNREAD;
  values.subscribe((inUse) => {
    render = inUse;
  });
  return { render: (pull) => render(pull), start, stop };
};
