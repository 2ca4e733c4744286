/**
 * The Job that a command runs for a pod.
 *
 * Promises: its name follows from the pod and the interceptor, so that a restarted process finds it
 * and no other interceptor of the pod does; its containers know the pod; it is deleted with the
 * EvictionRequest.
 */
import { createHash } from 'node:crypto';
import type { Interception } from '../interceptor-definition.ts';
import { type JsonRecord, listAt, numberAt, recordAt, textAt } from '../json.ts';
import { GROUP_VERSION } from '../observed-request.ts';

/** What makes a Job: the `spec` of one, as YAML or JSON has it. */
export interface JobTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: JsonRecord;
}

/** On the Job: the EvictionRequest that it runs for. */
const REQUEST_LABEL = 'lifecycle.tidegate.dev/eviction-request';

/** On the Job: the interceptor that runs it; a name may be too long for a label. */
const INTERCEPTOR_ANNOTATION = 'lifecycle.tidegate.dev/interceptor';

const HASH_DIGITS = 8;

/**
 * The name of the Job of an interceptor for a pod: 55 characters with a UID of 36. A Job may have
 * 63, and one with indexes adds the index of each pod.
 */
export const jobName = (podUid: string, interceptor: string): string => {
  const hash = createHash('sha256').update(interceptor).digest('hex').slice(0, HASH_DIGITS);
  return `intercept-${podUid}-${hash}`;
};

const withVariables = (container: unknown, { pod }: Interception): JsonRecord => {
  const own = recordAt({ container }, 'container');
  const variables = {
    TIDEGATE_POD_NAME: pod.name,
    TIDEGATE_POD_NAMESPACE: pod.namespace,
    TIDEGATE_POD_UID: pod.uid,
  };
  const env = Object.entries(variables).map(([name, value]) => ({ name, value }));
  return { ...own, env: [...env, ...listAt(own, 'env')] };
};

/** The Job that a template makes for a pod, with the name of the interceptor that runs it. */
export const jobFor = (
  { metadata, spec }: JobTemplate,
  interception: Interception,
  interceptor: string,
) => {
  const { pod, request, uid } = interception;
  const podSpec = recordAt(spec, 'template', 'spec');
  const containers = listAt(podSpec, 'containers').map((one) => withVariables(one, interception));
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      ...metadata,
      name: jobName(pod.uid, interceptor),
      namespace: pod.namespace,
      labels: { ...metadata?.labels, [REQUEST_LABEL]: request },
      annotations: { ...metadata?.annotations, [INTERCEPTOR_ANNOTATION]: interceptor },
      ownerReferences: [{ apiVersion: GROUP_VERSION, kind: 'EvictionRequest', name: request, uid }],
    },
    spec: {
      // One attempt, unless the template says otherwise.
      backoffLimit: 0,
      ...spec,
      template: {
        ...recordAt(spec, 'template'),
        spec: { restartPolicy: 'Never', ...podSpec, containers },
      },
    },
  };
};

/** How far a Job is. */
export interface JobFacts {
  readonly uid: string;
  /** The UID of the EvictionRequest that it runs for; empty when it runs for none. */
  readonly request: string;
  /** The interceptor that runs it; empty when none does. */
  readonly interceptor: string;
  readonly state: 'Running' | 'Succeeded' | 'Failed';
  readonly message: string;
}

/** Reads a Job. */
export const jobFacts = (job: unknown): JobFacts => {
  const condition = listAt(job, 'status', 'conditions').find((one) =>
    textAt(one, 'status') === 'True' && ['Complete', 'Failed'].includes(textAt(one, 'type') ?? '')
  );
  const type = textAt(condition, 'type');
  const active = numberAt(job, 'status', 'active') ?? 0;
  const request = listAt(job, 'metadata', 'ownerReferences')
    .find((owner) => textAt(owner, 'kind') === 'EvictionRequest');
  const running = active > 0 ? 'its pod runs' : 'its pod starts';
  return {
    uid: textAt(job, 'metadata', 'uid') ?? '',
    request: textAt(request, 'uid') ?? '',
    interceptor: textAt(job, 'metadata', 'annotations', INTERCEPTOR_ANNOTATION) ?? '',
    state: type === undefined ? 'Running' : type === 'Complete' ? 'Succeeded' : 'Failed',
    message: type === undefined
      ? running
      : textAt(condition, 'message') ?? textAt(condition, 'reason') ?? '',
  };
};
