/** What the actors of machines have to say to people: Events and log lines. */
import type { EventNote, RecordEvent } from '../../api/event-note.ts';
import type { Telemetry } from '../../api/telemetry.ts';
import type { Time } from '../../domain/time.ts';
import type { UpcomingNodeContext } from '../../machines/upcoming-node-terms.ts';
import { warningAggregator } from '../warning-aggregator.ts';
import type { UpcomingNodeVoice } from './upcoming-node-acts.ts';

const about = ({ name, facts }: UpcomingNodeContext): EventNote['regarding'] => ({
  apiVersion: 'bigfleet.lucy.sh/v1alpha1',
  kind: 'UpcomingNode',
  name,
  uid: facts.shown?.uid ?? '',
});

/** Says that a Node is Ready once, and loudly when objects cannot be written. */
export const upcomingNodeVoice = (
  telemetry: Telemetry,
  time: Time,
  record: RecordEvent,
): Pick<UpcomingNodeVoice, 'tellNodeReady' | 'tellRefused' | 'tellFailing'> => {
  const warn = warningAggregator(telemetry, time, 'UpcomingNodes could not be written');
  const complain = (reason: EventNote['reason']) => (context: UpcomingNodeContext): void => {
    warn({ name: context.name, reason, problem: context.problem });
    const note = `Cannot write UpcomingNode "${context.name}": ${context.problem}`;
    record({ regarding: about(context), reason, note });
  };
  return {
    tellNodeReady: (context) =>
      record({
        regarding: about(context),
        reason: 'NodeReady',
        note: `Node "${context.facts.node?.name ?? ''}" is Ready`,
      }),
    tellRefused: complain('WriteRefused'),
    tellFailing: complain('WriteFailing'),
  };
};
