/** Objects and steps of cases about admission policies. */
import type { JsonRecord } from '../../src/domain/json.ts';
import { post, refused, type Step, until, type Wanted } from './steps.ts';

const API_VERSION = 'admissionregistration.k8s.io/v1';

/** Rules for resources of every group. */
export const rules = (
  resources: readonly string[],
  operations: readonly string[],
  more: JsonRecord = {},
): JsonRecord => ({
  resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations, resources, ...more }],
});

/** Every write of these resources. */
export const ALL_OPERATIONS = (...resources: readonly string[]): JsonRecord =>
  rules(resources, ['*']);

/** A policy on configmaps with the name of the case's namespace. */
export const policy = (spec: JsonRecord): JsonRecord => ({
  apiVersion: API_VERSION,
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: '{ns}' },
  spec: { matchConstraints: rules(['configmaps'], ['CREATE', 'UPDATE']), ...spec },
});

const HERE = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '{ns}' } } };

/** A binding of that policy to the case's namespace. */
export const bound = (spec: JsonRecord = {}): JsonRecord => ({
  apiVersion: API_VERSION,
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: '{ns}' },
  spec: { policyName: '{ns}', validationActions: ['Deny'], matchResources: HERE, ...spec },
});

/** A refusal by that policy, in whole. */
export const denied = (
  name: string,
  message: string,
  { status = 422, reason = 'Invalid', plural = 'configmaps', group = '' } = {},
): Wanted => {
  const why = `ValidatingAdmissionPolicy '{ns}' with binding '{ns}' denied request: ${message}`;
  return refused(status, reason, {
    message: `${plural}${group === '' ? '' : `.${group}`} "${name}" is forbidden: ${why}`,
    details: {
      name,
      ...(group === '' ? {} : { group }),
      kind: plural,
      causes: [{ message: why }],
    },
  });
};

/** A policy and its binding, which may take a moment to count. */
export const inForce = (spec: JsonRecord): readonly Step[] => [
  post('validatingadmissionpolicies', policy(spec)),
  post('validatingadmissionpolicybindings', bound()),
];

/** A policy and its binding, once they deny this write. */
export const activeFor = (
  spec: JsonRecord,
  path: string,
  body: unknown,
): readonly Step[] => [
  ...inForce(spec),
  until(async (run) => {
    await post(path, body)(run).then(
      () => {
        throw new Error('The policy is not active yet');
      },
      () => undefined,
    );
  }),
];
