/**
 * The StatefulSet controller: ordinal pods with their own claims, created in order and deleted from
 * the highest ordinal. A changed template rolls out from the highest ordinal too.
 */
import { type JsonRecord, listOrEmptyAt, numberAt, recordAt, textAt } from '../values/json.ts';
import { labelsOf } from '../values/object-meta.ts';
import { isFinished, isReady, isTerminating } from './pod-reading.ts';
import { podFrom, templateHash } from './replicas.ts';
import {
  type Controller,
  type ControllerEnvironment,
  nameOf,
  pathOf,
  remove,
} from './controller-environment.ts';
import { startWorkloads, wantedReplicas } from './workload-loop.ts';

const REVISION = 'controller-revision-hash';
const NUMBER = 'apps.kubernetes.io/pod-index';

const numberOf = (pod: JsonRecord): number => Number(nameOf(pod).name.split('-').at(-1));

const claimName = (template: unknown, pod: string): string =>
  `${textAt(template, 'metadata', 'name') ?? ''}-${pod}`;

const makeClaims = (environment: ControllerEnvironment, set: JsonRecord, pod: string): void => {
  const { namespace } = nameOf(set);
  for (const template of listOrEmptyAt(set, 'spec', 'volumeClaimTemplates')) {
    const name = claimName(template, pod);
    if (environment.get('persistentvolumeclaims', { namespace, name }) !== undefined) continue;
    environment.call({
      method: 'POST',
      path: pathOf('persistentvolumeclaims', namespace),
      body: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name, namespace, labels: labelsOf(template) },
        spec: recordAt(template, 'spec') ?? {},
      },
    });
  }
};

const makePod = (environment: ControllerEnvironment, set: JsonRecord, number: number): void => {
  const { namespace, name } = nameOf(set);
  const pod = `${name}-${number}`;
  makeClaims(environment, set, pod);
  const template = recordAt(set, 'spec', 'template');
  const volumes = [
    ...listOrEmptyAt(template, 'spec', 'volumes'),
    ...listOrEmptyAt(set, 'spec', 'volumeClaimTemplates').map((claim) => ({
      name: textAt(claim, 'metadata', 'name') ?? '',
      persistentVolumeClaim: { claimName: claimName(claim, pod) },
    })),
  ];
  environment.call({
    method: 'POST',
    path: pathOf('pods', namespace),
    body: podFrom({
      owner: set,
      kind: 'StatefulSet',
      name: pod,
      labels: {
        'statefulset.kubernetes.io/pod-name': pod,
        [NUMBER]: String(number),
        [REVISION]: `${name}-${templateHash(template)}`,
      },
      spec: { hostname: pod, ...(volumes.length === 0 ? {} : { volumes }) },
    }),
  });
};

/** One step: creates the lowest missing ordinal, or deletes the highest surplus one. */
const advance = (
  environment: ControllerEnvironment,
  set: JsonRecord,
  pods: readonly JsonRecord[],
): void => {
  const byNumber = new Map(pods.map((pod) => [numberOf(pod), pod]));
  const wanted = wantedReplicas(set);
  const oneByOne = textAt(set, 'spec', 'podManagementPolicy') !== 'Parallel';
  for (let number = 0; number < wanted; number += 1) {
    const pod = byNumber.get(number);
    if (pod === undefined) makePod(environment, set, number);
    else if (isFinished(pod) && !isTerminating(pod)) remove(environment, 'pods', { object: pod });
    if (oneByOne && (pod === undefined || !isReady(pod) || isTerminating(pod))) return;
  }
  const surplus = pods.filter((pod) => numberOf(pod) >= wanted)
    .toSorted((left, right) => numberOf(right) - numberOf(left));
  for (const pod of surplus) {
    if (!isTerminating(pod)) remove(environment, 'pods', { object: pod });
    if (oneByOne) return;
  }
  const revision = `${nameOf(set).name}-${templateHash(recordAt(set, 'spec', 'template'))}`;
  const stale = pods.filter((pod) => labelsOf(pod)[REVISION] !== revision)
    .toSorted((left, right) => numberOf(right) - numberOf(left));
  const [first] = stale;
  if (first !== undefined && !pods.some(isTerminating)) {
    remove(environment, 'pods', { object: first });
  }
};

/** Starts the controller. */
export const startStatefulSets = (environment: ControllerEnvironment): Controller =>
  startWorkloads(environment, {
    collection: 'statefulsets',
    owns: 'pods',
    step: (set, pods) => {
      advance(environment, set, pods);
      const ready = pods.filter((pod) => isReady(pod) && !isTerminating(pod)).length;
      return {
        replicas: pods.length,
        readyReplicas: ready,
        availableReplicas: ready,
        currentReplicas: pods.length,
        updatedReplicas: pods.length,
        collisionCount: numberAt(set, 'status', 'collisionCount') ?? 0,
      };
    },
  });
