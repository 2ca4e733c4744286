/**
 * The Job that a command runs for a pod.
 *
 * Promises: its name follows from the UID of the pod, so that a restarted process finds it; its
 * containers know the pod; it is deleted with the EvictionRequest.
 */
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

/** The name of the Job for a pod; a UID has 36 characters. */
export const jobName = (podUid: string): string => `intercept-${podUid}`;

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

/** The Job that a template makes for a pod. */
export const jobFor = ({ metadata, spec }: JobTemplate, interception: Interception) => {
  const { pod, request, uid } = interception;
  const podSpec = recordAt(spec, 'template', 'spec');
  const containers = listAt(podSpec, 'containers').map((one) => withVariables(one, interception));
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      ...metadata,
      name: jobName(pod.uid),
      namespace: pod.namespace,
      labels: { ...metadata?.labels, [REQUEST_LABEL]: request },
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
    state: type === undefined ? 'Running' : type === 'Complete' ? 'Succeeded' : 'Failed',
    message: type === undefined
      ? running
      : textAt(condition, 'message') ?? textAt(condition, 'reason') ?? '',
  };
};
