/** Checks the Kubernetes version of the API server. */
import { Effect } from 'effect';
import { textAt } from '../domain/json.ts';
import { KubeApi, type KubeFault } from './kube-api.ts';

/** The oldest minor version of Kubernetes 1 with selectable fields of custom resources. */
const OLDEST_MINOR = 31;

/** The server's version. */
export type ServerVersion =
  | { readonly _tag: 'Supported'; readonly version: string }
  /** A person must upgrade the cluster. */
  | { readonly _tag: 'TooOld'; readonly version: string; readonly why: string }
  /** The answer is not a version, for example from a proxy. */
  | { readonly _tag: 'Unknown'; readonly why: string };

/** Reads `GET /version`. Managed clusters print their minor version as `31+`. */
export const versionOf = (status: number, body: unknown): ServerVersion => {
  const version = textAt(body, 'gitVersion') ?? '';
  const major = Number.parseInt(textAt(body, 'major') ?? '', 10);
  const minor = Number.parseInt(textAt(body, 'minor') ?? '', 10);
  if (status !== 200 || Number.isNaN(major) || Number.isNaN(minor)) {
    return { _tag: 'Unknown', why: `Cannot read the server's version: status ${status}` };
  }
  if (major > 1 || minor >= OLDEST_MINOR) return { _tag: 'Supported', version };
  const why = `Cannot use Kubernetes ${version}: 1.${OLDEST_MINOR} or newer is required`;
  return { _tag: 'TooOld', version, why };
};

/** Requests the server's version. */
export const serverVersion: Effect.Effect<ServerVersion, KubeFault, KubeApi> = KubeApi.use((api) =>
  Effect.map(
    api.call({ method: 'GET', path: '/version' }),
    ({ status, body }) => versionOf(status, body),
  )
);
