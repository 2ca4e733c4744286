/** Invariants about writes: only leaders write, one writer per machine, evictions by UID. */
import { asRecord, textAt } from '../../src/domain/json.ts';
import { type Bench, type Invariant, nameOf, type Sent, TERM_ENDED } from './invariant.ts';
import { LEASE, NAMESPACE } from './simulated-process.ts';

const LEASES = '/apis/coordination.k8s.io/v1/';
const UPCOMING = '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes';

const isWrite = ({ call }: Sent): boolean => call.method !== 'GET' && !call.path.startsWith(LEASES);

const text = ({ call }: Sent): string => `${call.method} ${call.path}`;

/** DR-15: only the lease holder writes. */
export const onlyLeadersWrite = ({ site, broken }: Bench): Invariant => {
  const leases = site.cluster.store.collection('leases.coordination.k8s.io');
  return {
    leaves: (sent) => {
      if (!isWrite(sent)) return;
      const lease = leases.get({ namespace: NAMESPACE, name: LEASE });
      const holder = textAt(lease, 'spec', 'holderIdentity') ?? '';
      if (holder !== sent.process) {
        broken('only the leader writes', `${sent.process} sends ${text(sent)}; "${holder}" leads`);
      }
    },
  };
};

/**
 * wire 4: at most one writer per machine. A write that outlives its term of leadership no longer
 * counts: its process has given it up as if another one led next (DR-15).
 */
export const oneWriterAMachine = ({ broken }: Pick<Bench, 'broken'>): Invariant => {
  /** By process and machine. */
  const underWay = new Map<string, Map<string, Sent>>();
  const subject = ({ call }: Sent): string | undefined => {
    if (call.method === 'GET' || !call.path.startsWith(UPCOMING)) return undefined;
    return call.path.split('/')[5] ?? nameOf(call.body);
  };
  return {
    leaves: (sent) => {
      const name = subject(sent);
      if (name === undefined) return;
      const own = underWay.get(sent.process) ?? new Map<string, Sent>();
      if (own.has(name)) broken('one writer a machine', `two writes at once: ${text(sent)}`);
      underWay.set(sent.process, own.set(name, sent));
    },
    answered: (sent) => {
      const name = subject(sent);
      const own = underWay.get(sent.process);
      if (name !== undefined && own?.get(name)?.call === sent.call) own.delete(name);
    },
    logged: (process, { message }) => {
      if (message === TERM_ENDED) underWay.delete(process);
    },
  };
};

/** RS-20: with its UID, and its own grace; `only lost pods are deleted` knows which may be. */
const isOfLostPod = ({ body }: Sent['call']): boolean =>
  (textAt(body, 'preconditions', 'uid') ?? '') !== '' &&
  !Object.hasOwn(asRecord(body) ?? {}, 'gracePeriodSeconds');

/** DR-22, DR-23: evictions name the UID; nothing is deleted by force. */
export const evictionsNameUids = ({ broken }: Bench): Invariant => ({
  leaves: (sent) => {
    const { call } = sent;
    if (call.method === 'DELETE' && call.path.includes('/pods/') && !isOfLostPod(call)) {
      broken('pods are only evicted', text(sent));
    }
    if (!call.path.endsWith('/eviction')) return;
    const options = asRecord(asRecord(call.body)?.['deleteOptions']);
    if ((textAt(options, 'preconditions', 'uid') ?? '') === '') {
      broken('evictions name the UID', text(sent));
    }
    if (options !== undefined && Object.hasOwn(options, 'gracePeriodSeconds')) {
      broken('evictions keep the grace', text(sent));
    }
  },
});

/** A defect is ours, regardless of the faults. */
export const noDefects = ({ broken }: Bench): Invariant => ({
  logged: (process, { level, message, fields }) => {
    if (level === 'error') {
      broken('no defects', `${process}: ${message} ${JSON.stringify(fields ?? {})}`);
    }
  },
});
