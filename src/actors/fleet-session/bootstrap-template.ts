/**
 * The bootstrap template in use: read at start, and again when its file changes.
 *
 * Promises: a bad template at start is refused with its line and column; a bad one later keeps the
 * last good one, and is reported once in log and metric.
 */
import { bootstrapRenderer } from '../../domain/bootstrap.ts';
import type { Parsed } from '../../domain/text-file.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type FollowedFile, followedFile } from '../followed-file.ts';
import type { RenderBootstrap } from './session-frames.ts';

const parseTemplate = (text: string): Parsed<RenderBootstrap> => {
  const template = bootstrapRenderer(text);
  if (template._tag === 'Ready') return { _tag: 'Good', value: template.render };
  const { line, column, message } = template;
  return { _tag: 'Bad', problem: `line ${line}, column ${column}: ${message}` };
};

/** Until the file has been read no pull can be answered. */
const UNREAD: RenderBootstrap = () => ({
  _tag: 'Failed',
  problem: 'The bootstrap template has not been read yet',
});

/** Without a file. */
const stub = (): RenderBootstrap => {
  const template = bootstrapRenderer(undefined);
  return template._tag === 'Ready' ? template.render : UNREAD;
};

/** The template in use. */
export interface BootstrapTemplate extends Pick<FollowedFile<RenderBootstrap>, 'start' | 'stop'> {
  /** Renders with the template that is in use now. */
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
    parse: parseTemplate,
    onChange: (change) => {
      if (change._tag === 'Accepted') {
        return telemetry.log('info', 'Bootstrap template in use', { file: path });
      }
      telemetry.count('tidegate_bootstrap_template_refused_total', 1);
      telemetry.log('warn', 'Bootstrap template not usable, the last good one stays', {
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
