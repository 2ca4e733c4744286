/** The line of a recording that has an actor as it was before the recording begins. */
import { RESTORED } from '../api/actor-history.ts';
import { recordedText } from '../api/actor-record.ts';

/** An actor as it was. */
export interface OlderActor {
  readonly row: {
    readonly id: string;
    readonly state: string;
    readonly status: string;
    readonly sinceMs: number;
    readonly bornMs: number;
  };
  readonly value: unknown;
  readonly context: unknown;
}

/** The line, of the moment in which the recording begins. */
export const restoredText = ({ row, value, context }: OlderActor, atMs: number): string => {
  const { id, state, status, sinceMs, bornMs } = row;
  const event = { type: RESTORED, value, context, sinceMs, bornMs };
  return recordedText({ atMs, id, event, state, status });
};
