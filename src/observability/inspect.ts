/**
 * The XState inspector for logs and metrics: every transition of every statechart becomes a log
 * line and a count.
 *
 * Promises: costs a lookup and a counter per transition and keeps nothing per actor, so that
 * 100,000 of them can be observed; label values are chart states of the catalogue's machines, so
 * their number is bounded; never throws into the actor.
 */
import type { InspectionEvent } from 'xstate';
import type { LogLevel, Telemetry } from '../api/telemetry.ts';
import { actorId, type Inspect } from './inspector.ts';
import type { Logs } from './logs.ts';

/** The inputs of the inspector. */
export interface InspectOptions {
  readonly telemetry: Pick<Telemetry, 'log' | 'count'>;
  readonly enabled: Logs['enabled'];
  /**
   * The log level of each machine's transitions, by its id. A machine with one actor per process
   * logs at `info`, one with thousands at `debug`.
   */
  readonly levels: Readonly<Record<string, LogLevel>>;
}

type Microstep = Extract<InspectionEvent, { type: '@xstate.microstep' }>;
type Drawn = Microstep['_transitions'][number];

/** A state by its path in the chart; the root is the machine itself. */
const pathOf = (node: Drawn['source'] | undefined): string =>
  node === undefined || node.path.length === 0 ? 'root' : node.path.join('.');

/** A chart transition as named by metrics and log lines. */
type Labels = Readonly<Record<'machine' | 'from' | 'to', string>>;

/** Charts do not change while a process runs, so each transition is named once. */
const drawn = new WeakMap<Drawn, Labels>();

const labelsOf = (transition: Drawn): Labels => {
  const known = drawn.get(transition);
  if (known !== undefined) return known;
  const labels = Object.freeze({
    machine: transition.source.machine.id,
    from: pathOf(transition.source),
    to: (transition.target ?? []).map(pathOf).join(',') || pathOf(transition.source),
  });
  drawn.set(transition, labels);
  return labels;
};

/** The inspector for logs and metrics. */
export const inspectionTap = (options: InspectOptions): Inspect => {
  const { telemetry, enabled, levels } = options;
  return (event) => {
    if (event.type !== '@xstate.microstep') return;
    for (const transition of event._transitions) {
      // Without a target the state did not change.
      if (transition.target === undefined) continue;
      const labels = labelsOf(transition);
      const level = levels[labels.machine];
      if (level === undefined) continue;
      telemetry.count('tidegate_machine_transitions_total', 1, labels);
      if (!enabled(level)) continue;
      telemetry.log(level, 'Statechart moved', {
        machine: labels.machine,
        actor: actorId(event),
        event: event.event.type,
        from: labels.from,
        to: labels.to,
      });
    }
  };
};
