/**
 * The penalties by PriorityClass in use: read at start, and again when their file changes.
 *
 * Promises: a bad file at start is refused with its problem; a bad one later keeps the last good
 * one, and is reported once in log, metric and Event.
 */
import { NO_DEFAULTS, type PenaltyDefaults } from '../../domain/pod-demand/penalties.ts';
import { readPenaltyDefaults } from '../../effects/penalty-defaults-text.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type FollowedFile, followedFile } from '../followed-file.ts';

/** Which file, and what is called with a reading that cannot be used. */
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
    parse: readPenaltyDefaults,
    onChange: (change) => {
      if (change._tag === 'Accepted') {
        const classes = change.value.size;
        return telemetry.log('info', 'Penalty defaults in use', { file: path, classes });
      }
      const { problem } = change;
      telemetry.count('tidegate_penalty_defaults_refused_total', 1);
      telemetry.log('warn', 'Penalty defaults not usable, the last good ones stay', {
        file: path,
        problem,
      });
      onRefused(`Cannot use the penalty defaults "${path}": ${problem}`);
    },
  });
};
