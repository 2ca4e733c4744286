/**
 * The verdict of an entry on the drain board, and the command that helps with it.
 *
 * Promises: drains have the verdict of every other surface; everything else has that of its reason.
 */
import { type Reason, type ReasonName, REASONS } from '../../api/reasons.ts';
import { type DrainVerdict, type Severity, severityOf } from '../../domain/drain/verdict.ts';

/** What is the matter, who can act, and how. */
export interface BoardVerdict extends Omit<DrainVerdict, 'reason'> {
  readonly reason: ReasonName;
}

/** The verdict of a reason; `detail` is added to its sentence. */
export const reasonVerdict = (reason: ReasonName, detail = ''): BoardVerdict => {
  const entry: Reason = REASONS[reason];
  const { sentence, canAct, change = '', runbook = '' } = entry;
  return {
    reason,
    sentence: detail === '' ? sentence : `${sentence}: ${detail}`,
    canAct,
    change,
    runbook,
    severity: severityOf(entry),
    forecast: '',
  };
};

/** A person must act, or it ended without success. */
export const needsPerson = (severity: Severity): boolean =>
  severity === 'Blocked' || severity === 'Failed';

const RANKS: Readonly<Record<Severity, number>> = { Failed: 0, Blocked: 1, Waiting: 2, Ok: 3 };

/** Sorts the most serious first. */
export const bySeverity = (
  left: { readonly severity: Severity },
  right: { readonly severity: Severity },
): number => RANKS[left.severity] - RANKS[right.severity];

/** The most serious of them; `Ok` without any. */
export const worstOf = (severities: readonly Severity[]): Severity =>
  severities.reduce((worst, next) => (RANKS[next] < RANKS[worst] ? next : worst), 'Ok');

const splitKey = (key: string): readonly [namespace: string, name: string] => {
  const end = key.indexOf('/');
  return end < 0 ? ['default', key] : [key.slice(0, end), key.slice(end + 1)];
};

const describe = (kind: string) => (key: string): string => {
  const [namespace, name] = splitKey(key);
  return `kubectl describe ${kind} ${name} -n ${namespace}`;
};

/** The command that shows the object of an actor, by its kind. */
const LOOKS: Readonly<Record<string, (name: string) => string>> = {
  nodeAvailability: (name) => `kubectl describe node ${name}`,
  nodeDrain: (name) => `kubectl describe node ${name.split('/')[0] ?? name}`,
  podEviction: describe('pod'),
  podDemand: describe('pod'),
  budget: describe('pdb'),
  evictionRequest: describe('evictionrequest'),
  nodeMaintenance: (name) => `kubectl describe nodemaintenance ${name}`,
  upcomingNode: (name) => `kubectl describe upcomingnode ${name}`,
  fleetSession: () => 'kubectl get events -A --field-selector involvedObject.kind=Lease',
  leadership: () => 'kubectl get lease -A',
};

/** The `kubectl` command in a change, else the one that shows the object; empty without either. */
export const kubectlCommand = (
  { kind, name }: { readonly kind: string; readonly name: string },
  change = '',
): string => /: (kubectl .+)$/.exec(change)?.[1] ?? LOOKS[kind]?.(name) ?? '';
