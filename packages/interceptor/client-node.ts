/** The client of `@kubernetes/client-node`'s kubeconfig; apart, because loading it takes long. */
export { clientOf, type ClusterConfig } from './src/client-node.ts';
