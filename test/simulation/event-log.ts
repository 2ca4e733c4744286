/**
 * The log of a simulated world: every change of the cluster, every request with its answer, every
 * frame, every step of the plan; in order, with its simulated time.
 *
 * Promises: the same plan gives the same bytes, on every runtime.
 */
import { numberAt, textAt } from '../../src/domain/json.ts';
import type { Time } from '../../src/domain/time.ts';
import {
  isReady,
  isTerminating,
  nodeOf,
  phaseOf,
} from '../../packages/embedded-kubernetes/src/controllers/pod-reading.ts';
import type { Invariant } from './invariant.ts';
import { isCordoned, ownersOf, reclaimAnnotation } from './node-annotations.ts';

/** The log. */
export interface EventLog {
  readonly lines: readonly string[];
  readonly note: (text: string) => void;
  readonly invariant: Invariant;
}

/** The logged details of an object besides its name. */
const gist = (resource: string, object: unknown): string => {
  switch (resource) {
    case 'nodes': {
      const annotation = reclaimAnnotation(object);
      const end = annotation === undefined
        ? ''
        : annotation.ended || `until ${annotation.deadlineMs}`;
      return `${isCordoned(object) ? 'cordoned' : 'open'} ${
        isReady(object) ? 'ready' : 'unready'
      } ` +
        `[${ownersOf(object).join(' ')}] ${end}`;
    }
    case 'pods':
      return `${nodeOf(object)} ${phaseOf(object)} ${isReady(object) ? 'ready' : 'unready'} ${
        isTerminating(object) ? 'terminating' : ''
      }`;
    case 'poddisruptionbudgets.policy':
      return `allows ${numberAt(object, 'status', 'disruptionsAllowed') ?? 0}`;
    case 'upcomingnodes.bigfleet.lucy.sh':
    case 'capacityrequests.bigfleet.lucy.sh':
      return textAt(object, 'status', 'phase') ?? '';
    default:
      return '';
  }
};

/** An empty log. */
export const eventLog = (time: Time): EventLog => {
  const lines: string[] = [];
  const note = (text: string): void => {
    lines.push(`${String(Math.round(time.monotonic())).padStart(8)} ${text}`);
  };
  return {
    lines,
    note,
    invariant: {
      change: ({ resource, type, at, object, revision }) => {
        if (resource === 'leases.coordination.k8s.io') return;
        const name = at.namespace === '' ? at.name : `${at.namespace}/${at.name}`;
        note(`${revision} ${type} ${resource} ${name} ${gist(resource, object)}`.trimEnd());
      },
      done: ({ process, call }, { status }) => {
        if (call.method !== 'GET') note(`${process} ${call.method} ${call.path} -> ${status}`);
      },
      answered: ({ process, call }, answer) => {
        if (answer === undefined) note(`${process} gets no answer to ${call.method} ${call.path}`);
      },
      frame: (process, frame) => note(`${process} sends ${frame.length} bytes to the fleet`),
      logged: (process, { level, message }) => {
        if (level !== 'debug') note(`${process} ${level}: ${message}`);
      },
    },
  };
};
