/**
 * Prints a changed NodeMaintenance: what was done, and its progress.
 *
 * Promises: stdout has one line, or one document, for each change; the same progress is printed
 * once.
 */
import { stringify } from 'yaml';
import type { ObservedMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import { rfc3339Seconds } from '../../domain/time.ts';
import { maintenanceView } from '../../view/maintenance-view.ts';
import { oneLine } from '../../view/table.ts';
import type { ChangeQuestion } from './maintenance-question.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Prints in one format. */
export interface ChangePrinter {
  readonly changed: (
    change: 'Created' | 'Moved' | 'Unchanged',
    maintenance: ObservedMaintenance,
  ) => void;
  readonly progressed: (maintenance: ObservedMaintenance, nowMs: number) => void;
}

const VERBS = { Created: 'created', Moved: 'moved', Unchanged: 'unchanged' } as const;

const document = (format: 'json' | 'yaml', value: object): string =>
  format === 'json' ? `${JSON.stringify(value)}\n` : `---\n${stringify(value)}`;

/** A printer for this terminal. */
export const changePrinter = (
  terminal: Terminal,
  { format, isTrial }: Pick<ChangeQuestion, 'format' | 'isTrial'>,
): ChangePrinter => {
  let last = '';
  return {
    changed: (change, maintenance) => {
      const view = maintenanceView(maintenance);
      const { name, stage } = view;
      if (format === 'name') {
        return terminal.print(`nodemaintenance.lifecycle.tidegate.dev/${name}\n`);
      }
      if (format !== 'text') return terminal.print(document(format, { outcome: change, ...view }));
      const trial = isTrial ? ' (server dry run)' : '';
      terminal.print(`nodemaintenance/${name} ${VERBS[change]}: stage ${stage}${trial}\n`);
    },
    progressed: (maintenance, nowMs) => {
      const view = maintenanceView(maintenance);
      const { phase, nodes, message } = view;
      const drained = nodes === '' ? '' : `${nodes} nodes drained`;
      const text = [phase, drained, message].filter((part) => part !== '').join('  ');
      const state = format === 'text' ? text : JSON.stringify(view);
      if (state === last || format === 'name') return;
      last = state;
      const at = rfc3339Seconds(nowMs);
      terminal.print(
        format === 'text' ? `${at}  ${oneLine(text)}\n` : document(format, { at, ...view }),
      );
    },
  };
};
