/** The packages that some commands run on demand. Nothing else imports them. */
import { loadOnDemand } from '../domain/package-missing.ts';
import { VERSION } from './version.ts';

/** The embedded cluster, for a command. */
export const loadEmbeddedKubernetes = (
  command: 'cluster' | 'demo' | 'maintenance plan --simulate',
) =>
  loadOnDemand(
    `run "tidegate ${command}"`,
    `@tidegate/embedded-kubernetes@${VERSION}`,
    () => import('@tidegate/embedded-kubernetes'),
  );

/** What the package of the embedded cluster exports. */
export type EmbeddedKubernetes = Awaited<ReturnType<typeof loadEmbeddedKubernetes>>;

/** A cluster of it. */
export type EmbeddedCluster = ReturnType<EmbeddedKubernetes['makeCluster']>;

/** The stand-in fleet, for a command. */
export const loadStandInFleet = (command: 'demo' | 'fleet') =>
  loadOnDemand(
    `run "tidegate ${command}"`,
    `@tidegate/stand-in-fleet@${VERSION}`,
    () => import('@tidegate/stand-in-fleet'),
  );
