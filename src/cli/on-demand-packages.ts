/** The packages that `tidegate demo`, `cluster` and `fleet` run. Nothing else imports them. */
import { loadOnDemand } from '../domain/package-missing.ts';
import { VERSION } from './version.ts';

/** The embedded cluster, for a command. */
export const loadEmbeddedKubernetes = (command: 'cluster' | 'demo') =>
  loadOnDemand(
    `run "tidegate ${command}"`,
    `@tidegate/embedded-kubernetes@${VERSION}`,
    () => import('@tidegate/embedded-kubernetes'),
  );

/** The stand-in fleet, for a command. */
export const loadStandInFleet = (command: 'demo' | 'fleet') =>
  loadOnDemand(
    `run "tidegate ${command}"`,
    `@tidegate/stand-in-fleet@${VERSION}`,
    () => import('@tidegate/stand-in-fleet'),
  );
