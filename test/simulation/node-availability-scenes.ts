/**
 * Steps of worlds about Nodes that fail: kubelets that fall silent, alone or together, machines
 * that are off for good, problems that come and go, and people who disable Nodes or confirm that
 * one is gone.
 *
 * Promises: drawn from a stream of their own, so that the other steps of a seed stay as they are;
 * a person confirms only what is true: that machine runs nothing any more.
 */
import { type JsonRecord, listOrEmptyAt, numberAt, textAt } from '../../src/domain/json.ts';
import {
  controllerUid,
  isActive,
  nodeOf,
} from '../../packages/embedded-kubernetes/src/controllers/pod-reading.ts';
import type { Chance } from './chance.ts';
import type { EmbeddedSite, Failing } from './embedded-site.ts';
import { nameOf, uidOf } from './invariant.ts';
import { holdersOf, isCordoned, ownersOf } from './node-annotations.ts';
import {
  CONFIRMED_GONE,
  controllerKind,
  DISABLED,
  hasTaint,
  OUT_OF_SERVICE,
  PROBLEMS,
  readyStatus,
  WHY_DISABLED,
} from './node-availability-object.ts';
import type { WorldControls } from './plan-runner.ts';
import type { Act, Scene } from './world-plan.ts';
import type { WorldState } from './world-state.ts';

export type FailureAct =
  /** Kubelets are cut off, and come back one after another. */
  | {
    readonly _tag: 'Silence';
    readonly pick: number;
    readonly count: number;
    readonly forMs: number;
    readonly apartMs: number;
    /** So many of them come back much later. */
    readonly late: number;
  }
  /** A machine is off for good. */
  | { readonly _tag: 'LoseNode'; readonly pick: number }
  /** A person switches off a machine that does not answer, and confirms that it is gone. */
  | { readonly _tag: 'ConfirmGone'; readonly pick: number }
  /** A machine that was off boots again. */
  | { readonly _tag: 'Repair'; readonly pick: number }
  /** A problem condition is True for each of these times, with `calmMs` between them. */
  | {
    readonly _tag: 'Problem';
    readonly pick: number;
    readonly lastingMs: readonly number[];
    readonly calmMs: number;
  }
  | { readonly _tag: 'Disable'; readonly pick: number }
  /** By the command, or by `kubectl uncordon`. */
  | { readonly _tag: 'Enable'; readonly pick: number; readonly byCommand: boolean }
  /** Disabled for `forMs`, enabled, and disabled again `afterMs` later. */
  | {
    readonly _tag: 'DisableTwice';
    readonly pick: number;
    readonly forMs: number;
    readonly byCommand: boolean;
    readonly afterMs: number;
  };

const ACTIVE_MS = 480_000;
const LATE_MS = 150_000;
/** While the operator writes that the drain of a disabled Node was cancelled, mostly. */
const AGAIN_MS_MAX = 1000;

const pick = (chance: Chance): number => chance.int(0, 9999);

/**
 * More than a fifth of the nodes of any world, of which two are back later than the others; with
 * restarts while all are silent and while only these two are.
 */
const storm = (chance: Chance): readonly Scene[] => {
  const atMs = chance.int(0, 200_000);
  const forMs = chance.int(90_000, 150_000);
  const count = chance.int(7, 10);
  const apartMs = chance.int(0, 6000);
  const backMs = atMs + forMs + count * apartMs;
  const restart = (fromMs: number, toMs: number): Scene => ({
    atMs: chance.int(fromMs, toMs),
    act: chance.happens(0.5)
      ? { _tag: 'Crash', forMs: chance.int(500, 10_000) }
      : { _tag: 'Replace' },
  });
  const many = { _tag: 'Silence', pick: pick(chance), count, forMs, apartMs, late: 2 } as const;
  return [
    { atMs, act: many },
    ...(chance.happens(0.4) ? [restart(atMs + 60_000, atMs + forMs)] : []),
    ...(chance.happens(0.6) ? [restart(backMs + 2000, backMs + 30_000)] : []),
    ...(chance.happens(0.4)
      ? [{ atMs: chance.int(atMs + 70_000, atMs + forMs), act: confirmation(chance) }]
      : []),
  ];
};

const confirmation = (chance: Chance): Act => ({ _tag: 'ConfirmGone', pick: pick(chance) });

/** A machine that does not come back, until somebody repairs it. */
const loss = (chance: Chance): readonly Scene[] => {
  const atMs = chance.int(0, ACTIVE_MS / 2);
  return [
    { atMs, act: { _tag: 'LoseNode', pick: pick(chance) } },
    ...(chance.happens(0.5)
      ? [{ atMs: atMs + chance.int(50_000, 150_000), act: confirmation(chance) }]
      : []),
    ...(chance.happens(0.5)
      ? [{ atMs: atMs + chance.int(100_000, 240_000), act: { _tag: 'Repair', pick: 0 } } as const]
      : []),
  ];
};

const problem = (chance: Chance): Act => ({
  _tag: 'Problem',
  pick: pick(chance),
  lastingMs: Array.from({ length: chance.int(1, 4) }, () => chance.int(1000, 70_000)),
  calmMs: chance.int(1000, 80_000),
});

/** The steps of a seed. */
export const failureScenes = (chance: Chance): readonly Scene[] => {
  const at = (act: Act): Scene => ({ atMs: chance.int(0, ACTIVE_MS), act });
  const several = (most: number, act: () => Act): readonly Scene[] =>
    Array.from({ length: chance.int(1, most) }, () => at(act()));
  const silence =
    (counts: readonly [number, number], times: readonly [number, number]) => (): Act => ({
      _tag: 'Silence',
      pick: pick(chance),
      count: chance.int(...counts),
      forMs: chance.int(...times),
      apartMs: chance.int(0, 3000),
      late: 0,
    });
  return [
    ...several(2, silence([1, 1], [5000, 59_000])),
    ...several(2, silence([1, 1], [60_000, 200_000])),
    ...several(1, silence([2, 3], [20_000, 200_000])),
    ...(chance.happens(0.6) ? storm(chance) : []),
    ...(chance.happens(0.6) ? loss(chance) : []),
    ...several(2, () => problem(chance)),
    ...several(2, () => ({ _tag: 'Disable', pick: pick(chance) })),
    ...several(2, () => ({
      _tag: 'Enable',
      pick: pick(chance),
      byCommand: chance.happens(0.5),
    })),
    ...several(3, () => ({
      _tag: 'DisableTwice',
      pick: pick(chance),
      forMs: chance.int(2000, 60_000),
      byCommand: chance.happens(0.5),
      afterMs: chance.int(0, AGAIN_MS_MAX),
    })),
  ];
};

const chosen = <T>(list: readonly T[], at: number): T | undefined => list[at % list.length];

type Site = Pick<EmbeddedSite, 'ask' | 'cluster' | 'controllers' | 'failing'>;

const nodesOf = ({ cluster }: Pick<Site, 'cluster'>): readonly JsonRecord[] =>
  [...cluster.store.collection('nodes').ordered()].map(({ object }) => object);

const nodeIn = ({ cluster }: Pick<Site, 'cluster'>, name: string): JsonRecord | undefined =>
  cluster.store.collection('nodes').get({ namespace: '', name });

const pathOf = (name: string): string => `/api/v1/nodes/${name}`;

const answering = (site: Site): readonly JsonRecord[] =>
  nodesOf(site).filter((node) => readyStatus(node) === 'True' && !site.failing.has(nameOf(node)));

/** Its kubelet stops; `Off`: so has its machine. */
const silence = (site: Site, name: string, how: Failing['how'] = 'CutOff'): Failing => {
  const failing = { how };
  site.failing.set(name, failing);
  site.controllers.kubelets.setSilent(name, true);
  return failing;
};

/** Its kubelet goes on, or starts again. */
const revive = (site: Site, name: string): void => {
  site.failing.delete(name);
  site.controllers.kubelets.setSilent(name, false);
};

const silenceMany = (
  site: Site,
  { schedule }: Pick<WorldControls, 'schedule'>,
  act: Extract<FailureAct, { readonly _tag: 'Silence' }>,
): void => {
  const nodes = answering(site);
  for (let number = 0; number < Math.min(act.count, nodes.length); number += 1) {
    const node = chosen(nodes, act.pick + number);
    if (node === undefined) continue;
    const name = nameOf(node);
    const failing = silence(site, name);
    const lateMs = number < act.late ? LATE_MS : 0;
    schedule(act.forMs + number * act.apartMs + lateMs, () => {
      if (site.failing.get(name) === failing) revive(site, name);
    });
  }
};

/** As `tidegate node confirm-gone` does. */
const confirmGone = (site: Site, node: JsonRecord): void => {
  silence(site, nameOf(node), 'Off');
  const taint = { key: OUT_OF_SERVICE, value: 'nodeshutdown', effect: 'NoExecute' };
  site.ask('PATCH', pathOf(nameOf(node)), {
    metadata: { annotations: { [CONFIRMED_GONE]: 'now' } },
    spec: { taints: [...listOrEmptyAt(node, 'spec', 'taints'), taint] },
  });
};

const setProblem = (
  site: Site,
  name: string,
  { isPresent, at }: { readonly isPresent: boolean; readonly at: number },
): void => {
  const node = nodeIn(site, name);
  const type = chosen(PROBLEMS, at);
  if (node === undefined || type === undefined) return;
  const others = listOrEmptyAt(node, 'status', 'conditions')
    .filter((one) => textAt(one, 'type') !== type);
  site.ask('PATCH', `${pathOf(name)}/status`, {
    status: { conditions: [...others, { type, status: isPresent ? 'True' : 'False' }] },
  });
};

const playProblem = (
  site: Site,
  { schedule }: Pick<WorldControls, 'schedule'>,
  act: Extract<FailureAct, { readonly _tag: 'Problem' }>,
): void => {
  const node = chosen(answering(site), act.pick);
  if (node === undefined) return;
  const name = nameOf(node);
  let beginMs = 0;
  for (const lastingMs of act.lastingMs) {
    schedule(beginMs, () => setProblem(site, name, { isPresent: true, at: act.pick }));
    schedule(beginMs + lastingMs, () => setProblem(site, name, { isPresent: false, at: act.pick }));
    beginMs += lastingMs + act.calmMs;
  }
};

/** As `tidegate node disable` does. */
const disable = (site: Site, node: JsonRecord, at: number): void => {
  const now = new Date(site.cluster.time.now()).toISOString();
  const key = { v: 1, ids: [`disabled@${at}-${now}`], since: now };
  site.ask('PATCH', pathOf(nameOf(node)), {
    metadata: { annotations: { [DISABLED]: JSON.stringify(key), [WHY_DISABLED]: 'a fan is loud' } },
    spec: { unschedulable: true },
  });
};

/** As `tidegate node enable` does, or `kubectl uncordon`. */
const enable = (site: Site, node: JsonRecord, byCommand: boolean): void => {
  if (!byCommand) {
    site.ask('PATCH', pathOf(nameOf(node)), { spec: { unschedulable: null } });
    return;
  }
  const others = holdersOf(node).filter((owner) => owner !== 'disabled');
  site.ask('PATCH', pathOf(nameOf(node)), {
    metadata: { annotations: { [DISABLED]: null, [WHY_DISABLED]: null } },
    ...(others.length === 0 ? { spec: { unschedulable: null } } : {}),
  });
};

const disabledNodes = (site: Site): readonly JsonRecord[] =>
  nodesOf(site).filter((node) => ownersOf(node).includes('disabled'));

/** A Node that answers and that nobody holds. */
const openNode = (site: Site, at: number): JsonRecord | undefined =>
  chosen(
    answering(site).filter((node) => !isCordoned(node) && holdersOf(node).length === 0),
    at,
  );

const playDisableTwice = (
  site: Site,
  { schedule }: Pick<WorldControls, 'schedule'>,
  { pick, forMs, byCommand, afterMs }: Extract<FailureAct, { readonly _tag: 'DisableTwice' }>,
): void => {
  const node = openNode(site, pick);
  if (node === undefined) return;
  const whileThere = (act: (now: JsonRecord) => void) => (): void => {
    const now = nodeIn(site, nameOf(node));
    if (now !== undefined && uidOf(now) === uidOf(node)) act(now);
  };
  disable(site, node, pick);
  schedule(forMs, whileThere((now) => enable(site, now, byCommand)));
  schedule(forMs + afterMs, whileThere((now) => disable(site, now, pick)));
};

/** Executes the steps about Nodes that fail. */
export const playFailures =
  (site: Site, hand: Pick<WorldControls, 'schedule'>) => (act: Act): boolean => {
    switch (act._tag) {
      case 'Silence':
        silenceMany(site, hand, act);
        return true;
      case 'LoseNode': {
        const node = chosen(answering(site), act.pick);
        if (node !== undefined) silence(site, nameOf(node), 'Off');
        return true;
      }
      case 'ConfirmGone': {
        const silent = nodesOf(site).filter((node) =>
          readyStatus(node) === 'Unknown' && site.failing.has(nameOf(node)) &&
          !hasTaint(node, OUT_OF_SERVICE)
        );
        const node = chosen(silent, act.pick);
        if (node !== undefined) confirmGone(site, node);
        return true;
      }
      case 'Repair': {
        const off = [...site.failing].filter(([, { how }]) => how === 'Off').map(([name]) => name);
        const name = chosen(off, act.pick);
        if (name !== undefined) revive(site, name);
        return true;
      }
      case 'Problem':
        playProblem(site, hand, act);
        return true;
      case 'Disable': {
        const node = openNode(site, act.pick);
        if (node !== undefined) disable(site, node, act.pick);
        return true;
      }
      case 'Enable': {
        const node = chosen(disabledNodes(site), act.pick);
        if (node !== undefined) enable(site, node, act.byCommand);
        return true;
      }
      case 'DisableTwice':
        playDisableTwice(site, hand, act);
        return true;
      default:
        return false;
    }
  };

/** Problems that still change, and Nodes that are back, have shown it by then. */
const SETTLED_MS = 400_000;
const BACK_MS = 30_000;

/** Every Node answers again, or is removed with its machine; disabled ones are enabled. */
export const endFailures = async ({ site, pass, log }: WorldState): Promise<void> => {
  log.note('FAILURES END');
  for (const [at, [name, { how }]] of [...site.failing].entries()) {
    if (how === 'Off' && at % 2 === 0) site.ask('DELETE', pathOf(name));
    else revive(site, name);
  }
  site.failing.clear();
  const hasProblems = (): boolean =>
    nodesOf(site).some((node) => hasTaint(node, 'tidegate.dev/degraded'));
  await pass(SETTLED_MS, () => !hasProblems());
  for (const [at, node] of disabledNodes(site).entries()) enable(site, node, at % 2 === 0);
  await pass(BACK_MS);
};

const podsOn = ({ cluster }: Site, name: string): readonly JsonRecord[] =>
  [...cluster.store.collection('pods').objects()].filter((pod) =>
    nodeOf(pod) === name && isActive(pod) && controllerKind(pod) === 'ReplicaSet'
  );

const hasAllReplicas = (site: Site, controller: string): boolean => {
  const { cluster } = site;
  const wanted = [...cluster.store.collection('replicasets.apps').objects()]
    .find((one) => textAt(one, 'metadata', 'uid') === controller);
  const own = [...cluster.store.collection('pods').objects()]
    .filter((pod) => controllerUid(pod) === controller && isActive(pod));
  return wanted === undefined || own.length >= (numberAt(wanted, 'spec', 'replicas') ?? 0);
};

/** From the last renewal until the pods are deleted, with a margin, and until others are made. */
const LOST_MS = 90_000;
const MADE_MS = 30_000;
/** A degraded Node is so a minute longer. */
const CLEAN_MS = 90_000;

/**
 * In calm the Node with the most stateless pods falls silent, and comes back; meanwhile another one
 * has a problem, and a third is disabled.
 */
export const loseOneNode = async (state: WorldState): Promise<void> => {
  const { site, pass, broken, log } = state;
  const [lost, worse, disabled] = answering(site).filter((node) => !isCordoned(node)).map(nameOf)
    .toSorted((left, right) => podsOn(site, right).length - podsOn(site, left).length);
  if (lost === undefined || worse === undefined || disabled === undefined) return;
  log.note(`NODE ${lost} IS LOST`);
  const controllers = [...new Set(podsOn(site, lost).map(controllerUid))];
  silence(site, lost);
  setProblem(site, worse, { isPresent: true, at: 0 });
  disable(site, nodeIn(site, disabled) ?? {}, 0);
  if (!await pass(LOST_MS, () => podsOn(site, lost).length === 0)) {
    broken('lost pods are replaced', `${podsOn(site, lost).map(nameOf).join()} are on "${lost}"`);
  }
  const isWhole = (): boolean => controllers.every((one) => hasAllReplicas(site, one));
  if (!await pass(MADE_MS, isWhole)) {
    broken('lost pods are replaced', `a controller of pods of "${lost}" lacks replicas`);
  }
  revive(site, lost);
  setProblem(site, worse, { isPresent: false, at: 0 });
  enable(site, nodeIn(site, disabled) ?? {}, false);
  await pass(CLEAN_MS);
};
