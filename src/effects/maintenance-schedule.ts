/**
 * Reads the schedule of a maintenance window: five fields of cron in a time zone.
 *
 * Promises: no timer and no clock; total, and a malformed text is told with its field; a start that
 * the change to summer time skips happens at the end of the skipped hour, and one in a repeated
 * hour once. Wildcards and steps follow the clock instead, as in Vixie cron.
 */
import { Cron } from 'croner';
import type { WindowSpec } from '../domain/node-maintenance/observed-maintenance.ts';
import type { MalformedWindow, ScheduleReading } from '../domain/node-maintenance/window.ts';
import { cutText } from '../domain/text.ts';

const FIELDS = 5;
const PROBLEM_UNITS_MAX = 200;

const malformed = (field: MalformedWindow['field'], problem: string): MalformedWindow => ({
  _tag: 'Malformed',
  field,
  problem: cutText(problem, PROBLEM_UNITS_MAX, '…'),
});

/** The library would take an empty name for the zone of this process. */
const isTimeZone = (timeZone: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
};

/** Reads a schedule. */
export const readSchedule = ({ schedule, timeZone }: WindowSpec): ScheduleReading => {
  if (!isTimeZone(timeZone)) return malformed('timeZone', 'no such time zone');
  // The library would take a date or a nickname, too.
  if (schedule.split(' ').length !== FIELDS) {
    return malformed('schedule', `it must have ${FIELDS} fields`);
  }
  try {
    const cron = new Cron(schedule, {
      mode: '5-part',
      paused: true,
      timezone: timeZone,
      fixedTimeRule: 'no-wildcard',
    });
    return {
      _tag: 'Schedule',
      nextStart: (afterMs) => cron.nextRun(new Date(afterMs))?.getTime() ?? null,
    };
  } catch (error) {
    return malformed('schedule', error instanceof Error ? error.message : String(error));
  }
};
