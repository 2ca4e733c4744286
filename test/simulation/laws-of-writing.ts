/** Laws about who writes what, and when: leaders alone, one writer a machine, evictions by UID. */
import { asRecord, textAt } from '../../src/domain/json.ts';
import { type Bench, type Law, nameOf, type Sent } from './law.ts';
import { LEASE, NAMESPACE } from './simulated-process.ts';

const LEASES = '/apis/coordination.k8s.io/v1/';
const UPCOMING = '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes';

const isWrite = ({ call }: Sent): boolean => call.method !== 'GET' && !call.path.startsWith(LEASES);

const text = ({ call }: Sent): string => `${call.method} ${call.path}`;

/** DR-15: only the lease holder writes. */
export const onlyLeadersWrite = ({ site, broken }: Bench): Law => {
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

/** wire 4: at most one writer a machine. */
export const oneWriterAMachine = ({ broken }: Bench): Law => {
  const underWay = new Map<string, Sent>();
  const subject = ({ process, call }: Sent): string | undefined => {
    if (call.method === 'GET' || !call.path.startsWith(UPCOMING)) return undefined;
    const name = call.path.split('/')[5] ?? nameOf(call.body);
    return `${process} ${name}`;
  };
  return {
    leaves: (sent) => {
      const key = subject(sent);
      if (key === undefined) return;
      if (underWay.has(key)) broken('one writer a machine', `two writes at once: ${text(sent)}`);
      underWay.set(key, sent);
    },
    answered: (sent) => {
      const key = subject(sent);
      if (key !== undefined && underWay.get(key)?.call === sent.call) underWay.delete(key);
    },
  };
};

/** DR-22, DR-23: evictions name the UID; nothing is deleted by force. */
export const evictionsNameUids = ({ broken }: Bench): Law => ({
  leaves: (sent) => {
    const { call } = sent;
    if (call.method === 'DELETE' && call.path.includes('/pods/')) {
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

/** A defect is ours, whatever the world does. */
export const noDefects = ({ broken }: Bench): Law => ({
  logged: (process, { level, message, fields }) => {
    if (level === 'error') {
      broken('no defects', `${process}: ${message} ${JSON.stringify(fields ?? {})}`);
    }
  },
});
