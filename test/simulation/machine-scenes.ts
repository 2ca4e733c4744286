/**
 * Machines with unusual lives: they join late, come back at once, are named by their Nodes, or have
 * properties that cannot be written down.
 *
 * Promises: each is held, so that allocation ignores it, and has an id of its own.
 */
import { machineKind } from '../../packages/stand-in-fleet/src/machine-kind.ts';
import { nodeName, nodeObject } from '../../packages/stand-in-fleet/src/node-object.ts';
import { freshMachine } from '../../packages/stand-in-fleet/src/script.ts';
import type { EmbeddedSite } from './embedded-site.ts';
import type { Schedule } from './plan-runner.ts';
import { CLUSTER } from './simulated-process.ts';
import type { Act } from './world-plan.ts';

const GRACE_SECONDS = 600;
const INSTRUCTED_MS = 3000;
const DRAINING_MS = 4000;
const LEFT_MS = 8000;
const BACK_MS = 14_000;
/** Long enough for its Node to join and to get pods. */
const SETTLED_MS = 10_000;

const RESOURCES = { cpu: '8', memory: '32Gi' };
const KIND = machineKind({
  labels: { 'node.kubernetes.io/instance-type': 'standard-8' },
  resources: RESOURCES,
  costPerHour: 0.4,
});
/** A quantity that the API server refuses. */
const MALFORMED = {
  ...KIND,
  key: 'malformed',
  resources: { ...RESOURCES, 'example.com/gpu': 'one' },
};

/** Places a machine in a state, if the fleet still has it. */
const placer =
  ({ script }: EmbeddedSite, id: string) => (state: 'CONFIGURED' | 'DRAINING' | 'IDLE') => {
    script.place(id, { state, ...(state === 'IDLE' ? {} : { cluster: CLUSTER }) });
  };

/** An instruction for a machine whose Node does not join; it leaves, comes back, and joins. */
const returnLater = (site: EmbeddedSite, schedule: Schedule, id: string): void => {
  const place = placer(site, id);
  site.joinLate.add(nodeName(id));
  place('CONFIGURED');
  schedule(
    INSTRUCTED_MS,
    () => void site.script.reclaim(id, { graceSeconds: GRACE_SECONDS }, false),
  );
  schedule(DRAINING_MS, () => place('DRAINING'));
  schedule(LEFT_MS, () => place('IDLE'));
  schedule(BACK_MS, () => {
    site.joinLate.delete(nodeName(id));
    place('CONFIGURED');
  });
};

/** An instruction for a machine whose Node joins only `afterMs` later. */
const joinLate = (site: EmbeddedSite, schedule: Schedule, { id, afterMs }: {
  readonly id: string;
  readonly afterMs: number;
}): void => {
  const place = placer(site, id);
  site.joinLate.add(nodeName(id));
  place('CONFIGURED');
  schedule(
    INSTRUCTED_MS,
    () => void site.script.reclaim(id, { graceSeconds: GRACE_SECONDS }, false),
  );
  schedule(DRAINING_MS, () => place('DRAINING'));
  schedule(afterMs, () => void site.joinLate.delete(nodeName(id)));
};

/** An instruction that names the Node, which has not the name of its machine. */
const reclaimByNode = (site: EmbeddedSite, schedule: Schedule, id: string): void => {
  placer(site, id)('CONFIGURED');
  schedule(SETTLED_MS, () => {
    site.script.reclaim(id, { node: nodeName(id), graceSeconds: GRACE_SECONDS }, false);
  });
};

/** A machine with a malformed quantity, whose kubelet registers itself; then it is reclaimed. */
const malformed = (site: EmbeddedSite, schedule: Schedule, id: string): void => {
  const machine = { ...freshMachine(id, MALFORMED, 'CONFIGURED'), cluster: CLUSTER, held: true };
  const now = new Date(site.cluster.time.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  site.joinLate.add(nodeName(id));
  site.script.shard.inventory.put(machine);
  site.ask('POST', '/api/v1/nodes', nodeObject({ ...machine, kind: KIND }, now));
  schedule(SETTLED_MS, () => {
    site.script.reclaim(id, { graceSeconds: GRACE_SECONDS }, false);
  });
};

/** Executes the steps of such machines. */
export const playMachines = (site: EmbeddedSite, schedule: Schedule) => (act: Act): boolean => {
  switch (act._tag) {
    case 'Return':
      returnLater(site, schedule, `returns-${act.pick}`);
      return true;
    case 'JoinLate':
      joinLate(site, schedule, { id: `late-${act.pick}`, afterMs: act.afterMs });
      return true;
    case 'ReclaimByNode':
      // A Node's name has no upper case, so that it is not the machine's.
      reclaimByNode(site, schedule, `Named-${act.pick}`);
      return true;
    case 'Malformed':
      malformed(site, schedule, `malformed-${act.pick}`);
      return true;
    default:
      return false;
  }
};

const OBJECTS = '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes';

/** Objects that another operator left, without our annotation; their machines are gone. */
export const leaveObjects = ({ ask }: EmbeddedSite, names: readonly string[]): void => {
  for (const name of names) {
    ask('POST', OBJECTS, {
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'UpcomingNode',
      metadata: { name: `un-${name}` },
      spec: { resources: { cpu: '8' } },
    });
    ask('PATCH', `${OBJECTS}/un-${name}/status`, { status: { phase: 'Ready' } });
  }
};
