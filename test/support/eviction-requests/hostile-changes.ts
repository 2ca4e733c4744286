/** Attempts to change the open EvictionRequest of another's pod, and how they are refused. */
import type { JsonRecord } from '../../../src/domain/json.ts';
import { uidOf } from '../api/cluster-client.ts';
import {
  APPLY,
  FORBIDDEN,
  type HostileCase,
  NO_DELETE,
  pathOf,
  requestersNamed,
  requestOf,
  requestsIn,
  type Victim,
} from './hostile-cases.ts';
import { type UserCall, VICTIM_SPACE } from './hostile-users.ts';
import { ACTOR_A, ACTOR_B, atSeconds, DRAIN, entry, IMPERATIVE } from './request-fixture.ts';

const GROUP_VERSION = 'lifecycle.tidegate.dev/v1alpha1';
const JSON_PATCH = 'application/json-patch+json';
const REQUESTS = requestsIn(VICTIM_SPACE);

const withRequesters = (...names: readonly string[]) => (victim: Victim): UserCall => ({
  method: 'PATCH',
  path: pathOf(victim),
  body: { spec: { requesters: requestersNamed(...names) } },
});

const withMetadata = (metadata: JsonRecord) => (victim: Victim): UserCall => ({
  method: 'PATCH',
  path: pathOf(victim),
  body: { metadata },
});

const REQUESTER_NEEDS = `adding or removing a requester ${NO_DELETE}`;
const DELETION_NEEDS = `deleting an open request ${NO_DELETE}`;
const CHANGE_NEEDS = `changing the metadata of an open request ${NO_DELETE}`;
/** Whose deletion takes what it owns with it. */
const DEAD_OWNER = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: 'gone',
  uid: '00000000-0000-4000-8000-000000000000',
};

/** Attacks on the open request of two requesters: to end it, to keep it, or to aim it elsewhere. */
export const CANCELLING: readonly HostileCase[] = [
  {
    title: 'deletes the request with rights on pods alone',
    by: 'neighbour',
    call: (victim) => ({ method: 'DELETE', path: pathOf(victim) }),
    status: FORBIDDEN,
    message: 'cannot delete resource "evictionrequests"',
  },
  {
    title: 'deletes the request',
    by: 'writer',
    call: (victim) => ({ method: 'DELETE', path: pathOf(victim) }),
    status: FORBIDDEN,
    message: DELETION_NEEDS,
  },
  {
    title: 'deletes the request in the foreground, naming its UID',
    by: 'writer',
    call: (victim) => ({
      method: 'DELETE',
      path: `${pathOf(victim)}?propagationPolicy=Foreground`,
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        preconditions: { uid: uidOf(victim.request) },
      },
    }),
    status: FORBIDDEN,
    message: DELETION_NEEDS,
  },
  {
    title: 'deletes all requests of the namespace',
    by: 'writer',
    call: () => ({ method: 'DELETE', path: REQUESTS }),
    status: FORBIDDEN,
    message: DELETION_NEEDS,
  },
  {
    title: 'removes the entry of one requester',
    by: 'writer',
    call: withRequesters(DRAIN),
    status: FORBIDDEN,
    message: REQUESTER_NEEDS,
  },
  {
    title: 'removes the entries of all requesters by a JSON patch',
    by: 'writer',
    call: (victim) => ({
      method: 'PATCH',
      path: pathOf(victim),
      contentType: JSON_PATCH,
      body: [{ op: 'remove', path: '/spec/requesters' }],
    }),
    status: FORBIDDEN,
    message: REQUESTER_NEEDS,
  },
  {
    title: 'replaces a requester by itself',
    by: 'writer',
    call: withRequesters(DRAIN, 'mine.example.com'),
    status: FORBIDDEN,
    message: REQUESTER_NEEDS,
  },
  {
    title: 'replaces the whole request by one without requesters',
    by: 'writer',
    call: (victim) => ({
      method: 'PUT',
      path: pathOf(victim),
      body: { ...victim.request, ...requestSpec(victim, []) },
    }),
    status: FORBIDDEN,
    message: REQUESTER_NEEDS,
  },
  {
    title: 'withdraws a requester by a forced apply as its field manager',
    by: 'writer',
    call: (victim) => ({
      method: 'PATCH',
      path: `${pathOf(victim)}?fieldManager=${DRAIN}&force=true`,
      contentType: APPLY,
      body: requestOf(victim.pod, { requesters: [] }),
    }),
    status: FORBIDDEN,
    message: REQUESTER_NEEDS,
  },
  {
    title: 'comes to own the entry of a requester, so that it stays when that leaves',
    by: 'writer',
    call: (victim) => ({
      method: 'PATCH',
      path: `${pathOf(victim)}?fieldManager=mine&force=true`,
      contentType: APPLY,
      body: requestOf(victim.pod),
    }),
    status: FORBIDDEN,
    message: CHANGE_NEEDS,
  },
  {
    title: 'takes the fields from their managers',
    by: 'writer',
    call: withMetadata({ managedFields: [{}] }),
    status: FORBIDDEN,
    message: CHANGE_NEEDS,
  },
  {
    title: 'gives the request a dead owner, with which it is collected',
    by: 'writer',
    call: withMetadata({ ownerReferences: [DEAD_OWNER] }),
    status: FORBIDDEN,
    message: CHANGE_NEEDS,
  },
  {
    title: 'gives the request a finalizer, so that nobody can make it anew',
    by: 'writer',
    call: withMetadata({ finalizers: ['mine.example.com/keep'] }),
    status: FORBIDDEN,
    message: CHANGE_NEEDS,
  },
  {
    title: 'gives the request the labels of another pod',
    by: 'writer',
    call: withMetadata({ labels: { app: 'other' } }),
    status: FORBIDDEN,
    message: CHANGE_NEEDS,
  },
  {
    title: 'aims the request at another pod',
    by: 'writer',
    call: (victim) => ({
      method: 'PATCH',
      path: pathOf(victim),
      body: { spec: { target: { pod: { name: 'other' } } } },
    }),
    status: 422,
    message: 'spec.target: Invalid value',
  },
  {
    title: 'aims the request at a pod of another UID, although it may delete it',
    by: 'drainer',
    call: (victim) => ({
      method: 'PATCH',
      path: pathOf(victim),
      body: { spec: { target: { pod: { uid: '00000000-0000-4000-8000-000000000000' } } } },
    }),
    status: 422,
    message: 'metadata.name must be the UID in spec.target.pod.uid',
  },
];

const requestSpec = ({ pod }: Victim, requesters: readonly string[]): JsonRecord => {
  const { spec } = requestOf(pod, { requesters });
  return { spec };
};

const TARGETS = [ACTOR_B, ACTOR_A, IMPERATIVE];

/** The entries of all interceptors, of which some are given. */
const entriesWith = (...given: readonly JsonRecord[]) =>
  TARGETS.map((name) => given.find((one) => one['name'] === name) ?? { name, message: '' });

/** What the controller writes first: B is active. */
export const FIRST_STATUS: JsonRecord = {
  observedGeneration: 1,
  targetInterceptors: TARGETS.map((name) => ({ name })),
  activeInterceptors: [ACTOR_B],
  interceptors: entriesWith(entry(ACTOR_B, { startTime: 0 })),
};

/** A merge patch of the status. */
export const withStatus = (status: JsonRecord) => (victim: Victim): UserCall => ({
  method: 'PATCH',
  path: `${pathOf(victim)}/status`,
  body: { status },
});

const appliedStatus = (manager: string, status: JsonRecord) => (victim: Victim): UserCall => ({
  method: 'PATCH',
  path: `${pathOf(victim)}/status?fieldManager=${manager}&force=true`,
  contentType: APPLY,
  body: {
    apiVersion: GROUP_VERSION,
    kind: 'EvictionRequest',
    metadata: { name: uidOf(victim.pod) },
    status,
  },
});

const condition = (type: string, status: string) => ({
  type,
  status,
  reason: 'Mine',
  message: '',
  lastTransitionTime: atSeconds(9),
});

const reportOfB = (times: Readonly<Record<string, number>>, message = '') => ({
  interceptors: entriesWith(entry(ACTOR_B, { startTime: 0, ...times }, message)),
});

const ONLY_CONTROLLER = 'only the controller selects interceptors and ends requests';
const ONLY_MANAGER = 'activeInterceptors, processedInterceptors and the conditions of the ' +
  'controller have no other field manager';
const REPORT_NEEDS = 'only with the permission to report as it';

/** Attacks on the status of a request in which B is active. */
export const REPORTING: readonly HostileCase[] = [
  {
    title: 'reports for B with rights on pods alone',
    by: 'neighbour',
    call: withStatus(reportOfB({ heartbeatTime: 100 })),
    status: FORBIDDEN,
    message: 'cannot patch resource "evictionrequests/status"',
  },
  {
    title: 'reports a heartbeat for B',
    by: 'writer',
    call: withStatus(reportOfB({ heartbeatTime: 100 })),
    status: FORBIDDEN,
    message: REPORT_NEEDS,
  },
  {
    title: 'reports the completion of B',
    by: 'writer',
    call: withStatus(reportOfB({ completionTime: 100 })),
    status: FORBIDDEN,
    message: REPORT_NEEDS,
  },
  {
    title: 'speaks for B by a forced apply as its field manager',
    by: 'writer',
    call: appliedStatus(ACTOR_B, {
      interceptors: [{ name: ACTOR_B, message: 'we are ready' }],
    }),
    status: FORBIDDEN,
    message: REPORT_NEEDS,
  },
  {
    title: 'reports for B as the interceptor A',
    by: 'actor-a',
    call: withStatus(reportOfB({ heartbeatTime: 100 }, 'no hurry')),
    status: FORBIDDEN,
    message: REPORT_NEEDS,
  },
  {
    title: 'reports for itself before its turn',
    by: 'actor-a',
    call: withStatus({
      interceptors: entriesWith(
        entry(ACTOR_B, { startTime: 0 }),
        entry(ACTOR_A, {}, 'already here'),
      ),
    }),
    status: 422,
    message: 'only the active interceptor reports',
  },
  {
    title: 'passes B over',
    by: 'actor-a',
    call: withStatus({ processedInterceptors: [ACTOR_B], activeInterceptors: [ACTOR_A] }),
    status: FORBIDDEN,
    message: ONLY_CONTROLLER,
  },
  {
    title: 'makes itself active before B',
    by: 'actor-a',
    call: withStatus({ activeInterceptors: [ACTOR_A] }),
    status: FORBIDDEN,
    message: ONLY_CONTROLLER,
  },
  {
    title: 'puts an interceptor of its own into the line',
    by: 'writer',
    call: withStatus({ targetInterceptors: requestersNamed('mine.example.com', ...TARGETS) }),
    status: FORBIDDEN,
    message: ONLY_CONTROLLER,
  },
  {
    title: 'cancels the request by a condition',
    by: 'writer',
    call: withStatus({ conditions: [condition('Canceled', 'True')], activeInterceptors: [] }),
    status: FORBIDDEN,
    message: ONLY_CONTROLLER,
  },
  {
    title: 'declares the pod evicted as the active interceptor',
    by: 'actor-b',
    call: withStatus({ conditions: [condition('Evicted', 'True')] }),
    status: FORBIDDEN,
    message: ONLY_CONTROLLER,
  },
  {
    title: 'declares B silent',
    by: 'writer',
    call: withStatus({ conditions: [condition('InterceptorSilent', 'True')] }),
    status: FORBIDDEN,
    message: ONLY_CONTROLLER,
  },
  {
    title: 'raises the observed generation, so that a later one seems old',
    by: 'writer',
    call: withStatus({ observedGeneration: 99 }),
    status: FORBIDDEN,
    message: ONLY_CONTROLLER,
  },
  {
    title: 'comes to own the active interceptor, so that nobody can follow it',
    by: 'writer',
    call: appliedStatus('mine', { activeInterceptors: [ACTOR_B] }),
    status: FORBIDDEN,
    message: ONLY_MANAGER,
  },
];
