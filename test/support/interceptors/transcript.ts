/**
 * What happens on an embedded cluster, in plain words: a line for each change of an
 * EvictionRequest, a pod, a Deployment or a Node, with the time and who made it.
 *
 * Promises: the lines follow from the stored objects alone, in the order of their revisions.
 */
import { onTestFinished } from 'vitest';
import type { StoredChange } from '../../../packages/embedded-kubernetes/src/storage/collection.ts';
import { isConditionTrue } from '../../../src/domain/condition.ts';
import { listOrEmptyAt, numberAt, textAt, valueAt } from '../../../src/domain/json.ts';
import { nameOf } from '../api/cluster-client.ts';
import type { EmbeddedCluster } from './embedded-cluster.ts';

/** What one side of a change shows. */
type Side = StoredChange['object'] | undefined;

/** Sentences without their subject: `makes actor-b.example.com active`. */
type Describe = (change: StoredChange) => readonly string[];

const CONTROLLER = 'the eviction request controller';
/** Writers whose names say less than these words. */
const WRITERS: Readonly<Record<string, string>> = {
  'tidegate-eviction-requests': CONTROLLER,
  'tidegate-eviction-request-labels': CONTROLLER,
  'tidegate': CONTROLLER,
};

const textsAt = (side: Side, ...path: readonly string[]): readonly string[] =>
  listOrEmptyAt(side, ...path).flatMap((one) => typeof one === 'string' ? one : []);

const namesAt = (side: Side, ...path: readonly string[]): readonly string[] =>
  listOrEmptyAt(side, ...path).flatMap((one) => textAt(one, 'name') ?? []);

/** The names that only the first list has. */
const without = (names: readonly string[], others: readonly string[]): readonly string[] =>
  names.filter((name) => !others.includes(name));

const requesterChanges: Describe = ({ object, before }) => {
  const [now, then] = [object, before].map((side) => namesAt(side, 'spec', 'requesters'));
  return [
    ...without(now ?? [], then ?? []).map((name) => `adds the requester ${name}`),
    ...without(then ?? [], now ?? []).map((name) => `removes the requester ${name}`),
  ];
};

/** Fields of a report, and how they are line. */
const REPORTED: readonly (readonly [field: string, (value: string, name: string) => string])[] = [
  ['startTime', (_, name) => `notes the start of ${name}`],
  ['heartbeatTime', () => 'reports a heartbeat'],
  ['message', (text) => `says: ${text}`],
  ['completionTime', () => 'reports its completion'],
];

const reportChanges: Describe = ({ object, before }) =>
  listOrEmptyAt(object, 'status', 'interceptors').flatMap((entry) => {
    const name = textAt(entry, 'name') ?? '';
    const old = listOrEmptyAt(before, 'status', 'interceptors')
      .find((one) => textAt(one, 'name') === name);
    return REPORTED.flatMap(([field, line]) => {
      const value = textAt(entry, field) ?? '';
      return value === (textAt(old, field) ?? '') ? [] : [line(value, name)];
    });
  });

const turnChanges: Describe = ({ object, before }) => {
  const [now = [], then = []] = [object, before]
    .map((side) => textsAt(side, 'status', 'activeInterceptors'));
  const [done = [], doneBefore = []] = [object, before]
    .map((side) => textsAt(side, 'status', 'processedInterceptors'));
  const targets = namesAt(object, 'status', 'targetInterceptors');
  const isNew = namesAt(before, 'status', 'targetInterceptors').length < targets.length;
  const conditions = listOrEmptyAt(object, 'status', 'conditions').filter((one) =>
    !listOrEmptyAt(before, 'status', 'conditions').some((old) =>
      textAt(old, 'type') === textAt(one, 'type') && textAt(old, 'status') === textAt(one, 'status')
    )
  );
  return [
    ...(isNew ? [`selects the interceptors ${targets.join(', ')}`] : []),
    ...without(done, doneBefore).map((name) => `notes ${name} as processed`),
    ...without(now, then).map((name) => `makes ${name} active`),
    ...(then.length > 0 && now.length === 0 ? ['makes nobody active'] : []),
    ...conditions.map((one) =>
      `sets ${textAt(one, 'type')} to ${textAt(one, 'status')}: ${textAt(one, 'reason')}`
    ),
  ];
};

const observedChanges: Describe = ({ object, before }) => {
  const observed = numberAt(object, 'status', 'observedGeneration');
  return observed === numberAt(before, 'status', 'observedGeneration')
    ? []
    : [`has observed generation ${observed}`];
};

const labelChanges: Describe = ({ object, before }) =>
  JSON.stringify(valueAt(object, 'metadata', 'labels')) ===
      JSON.stringify(valueAt(before, 'metadata', 'labels'))
    ? []
    : ['copies the labels of the pod'];

const requestChanges: Describe = (change) => {
  const pod = textAt(change.object, 'spec', 'target', 'pod', 'name');
  const what = `the EvictionRequest of ${pod}`;
  if (change.type === 'DELETED') return [`deletes ${what}`];
  const parts = [requesterChanges, turnChanges, reportChanges, observedChanges, labelChanges];
  const sentences = parts.flatMap((part) => part(change));
  return [
    ...(change.type === 'ADDED' ? [`creates ${what}`] : []),
    ...sentences.map((sentence) => `${sentence} (${pod})`),
  ];
};

const isReady = (pod: Side): boolean => isConditionTrue(pod, 'Ready');

const podChanges: Describe = ({ type, object, before }) => {
  const name = nameOf(object);
  const changed = (...path: readonly string[]): string | undefined => {
    const [now, then] = [textAt(object, ...path), textAt(before, ...path)];
    return now === then ? undefined : now;
  };
  const node = changed('spec', 'nodeName');
  const cost = changed('metadata', 'annotations', 'controller.kubernetes.io/pod-deletion-cost');
  return [
    ...(type === 'ADDED' ? [`creates the pod ${name}`] : []),
    ...(node === undefined ? [] : [`places ${name} on ${node}`]),
    ...(cost === undefined ? [] : [`sets the deletion cost of ${name} to ${cost}`]),
    ...(isReady(object) && !isReady(before) ? [`sees ${name} available`] : []),
    ...(changed('metadata', 'deletionTimestamp') === undefined ? [] : [`deletes the pod ${name}`]),
    ...(type === 'DELETED' ? [`has terminated ${name}`] : []),
  ];
};

const deploymentChanges: Describe = ({ object, before }) => {
  const [now, then] = [object, before].map((side) => numberAt(side, 'spec', 'replicas'));
  if (now === then || then === undefined) return [];
  return [`scales the Deployment ${nameOf(object)} from ${then} to ${now}`];
};

const nodeChanges: Describe = ({ object, before }) => {
  const [now, then] = [object, before]
    .map((side) => valueAt(side, 'spec', 'unschedulable') === true);
  if (now === then) return [];
  return [now ? `cordons ${nameOf(object)}` : `uncordons ${nameOf(object)}`];
};

const CHANGES: Readonly<Record<string, Describe>> = {
  'evictionrequests.lifecycle.tidegate.dev': requestChanges,
  'pods': podChanges,
  'deployments.apps': deploymentChanges,
  'nodes': nodeChanges,
};

const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 19);

/** What happened, in the order in which it did. */
interface Happened {
  readonly atMs: number;
  /** A line; or what a writer did, who is known once the request has ended. */
  readonly line: string | { readonly version: number; readonly sentences: readonly string[] };
}

/**
 * Records from now on. `step` begins a part under a heading; in the `text` of all of it pods are
 * called by the order in which they appeared.
 */
export const transcriptOf = ({ cluster, time, writerOf }: EmbeddedCluster) => {
  const happened: Happened[] = [];
  const pods: string[] = [...cluster.store.collection('pods').objects()]
    .map(nameOf).toSorted();
  const startMs = time.now();
  const stop = cluster.store.subscribe((change) => {
    if (change.resource === 'pods' && change.type === 'ADDED') pods.push(nameOf(change.object));
    const sentences = CHANGES[change.resource]?.(change) ?? [];
    if (sentences.length === 0) return;
    happened.push({ atMs: time.now() - startMs, line: { version: change.revision, sentences } });
  });
  onTestFinished(stop);
  const lineOf = ({ atMs, line }: Happened): readonly string[] => {
    if (typeof line === 'string') return [line];
    const writer = writerOf(line.version);
    return line.sentences.map((sentence) =>
      `${clock(atMs)} ${WRITERS[writer] ?? writer} ${sentence}`
    );
  };
  return {
    step: (heading: string): void => {
      happened.push({ atMs: time.now() - startMs, line: `\n${heading}` });
    },
    /** What somebody does outside of the cluster. */
    note: (who: string, sentence: string): void => {
      const atMs = time.now() - startMs;
      happened.push({ atMs, line: `${clock(atMs)} ${who} ${sentence}` });
    },
    text: (): string => {
      const lines = happened.flatMap(lineOf).join('\n').trimStart();
      return `${
        pods.reduce((text, name, index) => text.replaceAll(name, `p-${index + 1}`), lines)
      }\n`;
    },
  };
};
