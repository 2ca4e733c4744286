/**
 * Reads the schedule of a maintenance window: five fields of cron in a time zone.
 *
 * Promises: no timer and no clock; total; a start that the change to summer time skips is moved
 * forward by the skipped time, and one in a repeated hour happens once.
 */
import { Cron } from 'croner';
import type { WindowSpec } from '../domain/node-maintenance/observed-maintenance.ts';
import type { ScheduleReading } from '../domain/node-maintenance/window.ts';
import { cutText } from '../domain/text.ts';

const FIELDS = 5;
const PROBLEM_UNITS_MAX = 200;

/** Reads a schedule. */
export const readSchedule = ({ schedule, timeZone }: WindowSpec): ScheduleReading => {
  // The library would take a date or a nickname, too.
  if (schedule.split(' ').length !== FIELDS) {
    return { _tag: 'Malformed', problem: `the schedule must have ${FIELDS} fields of cron` };
  }
  try {
    const cron = new Cron(schedule, { mode: '5-part', paused: true, timezone: timeZone });
    // An unknown time zone is found at the first use only.
    cron.nextRun(new Date(0));
    return {
      _tag: 'Schedule',
      nextStart: (afterMs) => cron.nextRun(new Date(afterMs))?.getTime() ?? null,
    };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { _tag: 'Malformed', problem: cutText(problem, PROBLEM_UNITS_MAX, '…') };
  }
};
