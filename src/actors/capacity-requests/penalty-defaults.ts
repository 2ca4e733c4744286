/**
 * The penalties by PriorityClass: read at start, and again when their file changes.
 *
 * Promises: an invalid file at start is refused with its problem; later the last valid file stays
 * in use, and the problem is reported once in log, metric and Event.
 */
import { NO_DEFAULTS, type PenaltyDefaults } from '../../domain/pod-demand/penalties.ts';
import { readPenaltyDefaults } from '../../effects/penalty-defaults-text.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type FollowedFile, followedFile } from '../followed-file.ts';

/** The file, and a callback for invalid readings. */
export interface PenaltyDefaultsOptions {
  /** Undefined: no PriorityClass has penalties. */
  readonly file: string | undefined;
  readonly onRefused: (problem: string) => void;
}

/** The penalties of a file, or none; nothing is read before `start`. */
export const penaltyDefaults = (
  environment: ActorEnvironment<never>,
  { file, onRefused }: PenaltyDefaultsOptions,
): FollowedFile<PenaltyDefaults> => {
  const { telemetry } = environment;
  const path = file ?? '';
  return followedFile(environment, {
    name: 'penalty defaults',
    file,
    absent: NO_DEFAULTS,
    judge: readPenaltyDefaults,
    onChange: (change) => {
      if (change._tag === 'Accepted') {
        const classes = change.value.size;
        return telemetry.log('info', 'Penalty defaults in use', { file: path, classes });
      }
      const { problem } = change;
      telemetry.count('tidegate_penalty_defaults_refused_total', 1);
      telemetry.log('warn', 'Penalty defaults rejected; the last valid ones stay in use', {
        file: path,
        problem,
      });
      onRefused(`Cannot use the penalty defaults "${path}": ${problem}`);
    },
  });
};
