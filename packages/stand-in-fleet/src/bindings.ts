/**
 * The journal of machine bindings, which survives a kill.
 *
 * Promises: a change is in the file before it is reported to a cluster; a line that a kill
 * truncated is ignored; each start rewrites the file (to a temporary file that is then renamed), so
 * that it holds only the current state and one run's changes.
 */
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import type { FleetMachine } from './inventory.ts';
import type { FleetMachineState } from './machine.ts';
import type { KindDescription } from './machine-kind.ts';

/** A machine's record in the journal. */
export interface Binding {
  readonly id: string;
  readonly providerId: string;
  readonly state: FleetMachineState;
  readonly cluster: string;
  readonly need: string;
  readonly lastError: string;
  readonly held: boolean;
  readonly kind: KindDescription;
  /** The fleet has released it. */
  readonly removed?: true;
}

/** A store of bindings. */
export interface BindingStore {
  /** The latest record of each machine before this start. */
  readonly bindings: readonly Binding[];
  readonly record: (binding: Binding) => void;
  readonly close: () => void;
}

/** The journal record of a machine. */
export const bindingOf = (machine: FleetMachine): Binding => ({
  id: machine.id,
  providerId: machine.providerId,
  state: machine.state,
  cluster: machine.cluster,
  need: machine.need,
  lastError: machine.lastError,
  held: machine.held,
  kind: {
    labels: machine.kind.labels,
    resources: machine.kind.resources,
    costPerHour: machine.kind.costPerHour,
  },
});

/** A store without a file, for fleets that live as long as their test. */
export const noBindings: BindingStore = { bindings: [], record: () => {}, close: () => {} };

const parsed = (line: string): Binding | undefined => {
  try {
    return JSON.parse(line) as Binding;
  } catch {
    return undefined;
  }
};

const lineOf = (binding: Binding): string => `${JSON.stringify(binding)}\n`;

const latest = (path: string): readonly Binding[] => {
  const byId = new Map<string, Binding>();
  if (!existsSync(path)) return [];
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const binding = line === '' ? undefined : parsed(line);
    if (binding !== undefined) byId.set(binding.id, binding);
  }
  return [...byId.values()];
};

/** The journal at `path`, which need not exist yet. */
export const bindingsFile = (path: string): BindingStore => {
  const bindings = latest(path);
  const rewritten = `${path}.new`;
  writeFileSync(rewritten, bindings.map(lineOf).join(''));
  renameSync(rewritten, path);
  const file = openSync(path, 'a');
  return {
    bindings,
    record: (binding) => {
      writeSync(file, lineOf(binding));
    },
    close: () => closeSync(file),
  };
};
