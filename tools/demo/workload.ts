/** What the user of the demo does, and what the cluster's owner did before. */

/** Pods of the Deployment. */
export const REPLICAS = 30;

/** What the user types, but for the kubeconfig. */
export const CREATE = [
  'create',
  'deployment',
  'web',
  '--image=registry.example.com/web',
  `--replicas=${REPLICAS}`,
] as const;

/** And in the end. */
export const SCALE_TO_ZERO = ['scale', 'deployment', 'web', '--replicas=0'] as const;

/**
 * The default request of a container without requests, such as `kubectl create deployment` creates.
 */
export const DEFAULT_REQUEST = { cpu: '1', memory: '2Gi' } as const;

/** Its manifest, which the cluster's owner applies before. */
export const limitRange = (): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'defaults', namespace: 'default' },
    spec: { limits: [{ type: 'Container', defaultRequest: DEFAULT_REQUEST }] },
  });
