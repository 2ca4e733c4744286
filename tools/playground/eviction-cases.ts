/** What can happen to the eviction of a pod, and to the circuit breaker of all evictions. */
import type { EvictionOutcome } from '../../src/domain/drain/answer.ts';
import type { EvictionNeed, PodFacts } from '../../src/domain/drain/pod-facts.ts';
import type { EvictionCircuitEvent } from '../../src/machines/eviction-circuit.ts';
import { answers, carries, type EventCase, fault, happens } from './event-case.ts';

const FACTS: PodFacts = {
  terminating: false,
  finalizers: false,
  kubeletSilent: false,
  intercepted: false,
  serving: false,
  need: { _tag: 'None' },
};
const BUDGET: EvictionNeed = { _tag: 'One', budget: 'default/db' };

/** The pods of the playground: one behind a budget, and one without. */
export const POD_INPUTS = {
  db: {
    uid: 'uid-db-0',
    key: 'default/db-0',
    node: 'node-1',
    facts: { ...FACTS, need: BUDGET },
    seed: 1,
  },
  web: { uid: 'uid-web-0', key: 'default/web-0', node: 'node-1', facts: FACTS, seed: 2 },
} as const;

const observed = (label: string, more: Partial<PodFacts>): EventCase =>
  carries('pod.observed', label, { facts: { ...FACTS, ...more } });

const answered = (label: string, outcome: EvictionOutcome): EventCase =>
  answers('evictPod', label, outcome);

const SCRIPT = 'planted by the playground';

/** Events of `podEviction`. */
export const POD_EVICTION_CASES: readonly EventCase[] = [
  happens('eviction.dispatched', 'The dispatcher sends its eviction'),
  observed('The watch shows it running, without a budget', {}),
  observed('The watch shows it behind budget default/db', { need: BUDGET }),
  observed('The watch shows it terminating', { terminating: true }),
  fault(observed('It terminates, and a finalizer holds it', {
    terminating: true,
    finalizers: true,
  })),
  fault(observed('It terminates, and its kubelet is silent', {
    terminating: true,
    kubeletSilent: true,
  })),
  fault(observed('Two budgets cover it', { need: { _tag: 'Blocked', reason: 'TwoBudgets' } })),
  fault(observed('Its budget can never open', {
    need: { _tag: 'Blocked', reason: 'BudgetNeverAllows' },
  })),
  happens('pod.vanished', 'The pod is gone'),
  happens('eviction.released', 'The drain ends: the pod may stay'),
  happens('eviction.wanted', 'The drain wants it to leave'),
  happens('deadline.moved', 'The deadline comes closer'),
  answered('201: accepted', { _tag: 'Accepted' }),
  answered('404: there is no such pod', { _tag: 'Gone' }),
  fault(answered('429: the budget has no slot', { _tag: 'BudgetExhausted', why: SCRIPT })),
  fault(answered('429: the API server throttles', { _tag: 'Throttled', retryAfterSeconds: 5 })),
  fault(answered('403: an admission webhook refuses', {
    _tag: 'PolicyRefused',
    policy: 'guard',
    why: SCRIPT,
  })),
  fault(answered('403: no permission', { _tag: 'Forbidden', why: SCRIPT })),
  fault(answered('500: two budgets', { _tag: 'TwoBudgets', why: SCRIPT })),
  fault(answered('503: try again', { _tag: 'Transient', why: SCRIPT })),
  fault(answered('The connection breaks: outcome unknown', { _tag: 'Unknown', why: SCRIPT })),
];

const circuit = <Type extends EvictionCircuitEvent['type']>(
  label: string,
  { type, ...payload }: Extract<EvictionCircuitEvent, { type: Type }>,
): EventCase => carries(type, label, payload);

/** Events of `evictionCircuit`. */
export const EVICTION_CIRCUIT_CASES: readonly EventCase[] = [
  circuit('The probe is answered', { type: 'eviction.answered' }),
  circuit('A watch delivers an event', { type: 'server.responded' }),
  circuit('No pod waits that could probe', { type: 'probe.declined' }),
  fault(circuit('429: throttled for 10 s', {
    type: 'server.throttled',
    retryAfterMs: 10_000,
    why: SCRIPT,
  })),
  fault(circuit('401: the credentials are refused', { type: 'credentials.refused', why: SCRIPT })),
  fault(circuit('The API server cannot be reached', { type: 'server.lost', why: SCRIPT })),
  fault(circuit('The answer of the probe is lost', { type: 'answer.lost', why: SCRIPT })),
];
