/**
 * Steps of worlds about NodeMaintenances: who maintains which nodes, how far, and who changes their
 * mind; and the person who works on each drained node.
 *
 * Promises: drawn from a stream of their own, so that the other steps of a seed stay as they are.
 */
import { type JsonRecord, listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { budgetPath } from './app-objects.ts';
import type { Chance } from './chance.ts';
import type { EmbeddedSite } from './embedded-site.ts';
import { nameOf } from './invariant.ts';
import { isCordoned, ownersOf } from './node-annotations.ts';
import {
  bootPatch,
  donePatch,
  hasCondition,
  maintenanceObject,
  MAINTENANCES,
  MAINTENANCES_RESOURCE,
  maintenancesOn,
  nodesIn,
  stageOf,
} from './node-maintenance-object.ts';
import type { Act, Scene } from './world-plan.ts';
import type { WorldState } from './world-state.ts';

export type MaintenanceAct =
  | {
    readonly _tag: 'Maintain';
    readonly number: number;
    readonly pick: number;
    /** The nodes that get its label. */
    readonly count: number;
    readonly stage: 'Idle' | 'Cordon' | 'Drain';
    /** 0: all at once. */
    readonly atOnce: number;
    readonly releaseWhen: 'Drained' | 'Done';
    /** Pods of DaemonSets leave, too. */
    readonly daemons: boolean;
    /** The pods of this app leave before all others; negative: none. */
    readonly firstApp: number;
    /** A person has cordoned the first of the nodes before. */
    readonly cordoned: boolean;
  }
  | { readonly _tag: 'MoveMaintenance'; readonly pick: number }
  | { readonly _tag: 'DeleteMaintenance'; readonly pick: number }
  /** One more node gets the label of a maintenance, or a node loses it. */
  | { readonly _tag: 'AddMaintained'; readonly pick: number }
  | { readonly _tag: 'LeaveMaintained'; readonly pick: number }
  | { readonly _tag: 'UncordonMaintained'; readonly pick: number };

const ACTIVE_MS = 480_000;
const STAGES = ['Idle', 'Cordon', 'Drain', 'Complete'] as const;
/** A person needs so long to work on a drained node. */
const WORK_MS = 20_000;

const pick = (chance: Chance): number => chance.int(0, 9999);

/** The steps of a seed. */
export const maintenanceScenes = (chance: Chance): readonly Scene[] => {
  const at = (act: Act, fromMs = 0): Scene => ({ atMs: chance.int(fromMs, ACTIVE_MS), act });
  const made = Array.from({ length: chance.int(1, 3) }, (_, number): Scene => ({
    atMs: chance.int(0, ACTIVE_MS / 2),
    act: {
      _tag: 'Maintain',
      number,
      pick: pick(chance),
      count: chance.int(2, 6),
      stage: chance.pick(['Idle', 'Cordon', 'Drain', 'Drain']),
      atOnce: chance.int(0, 3),
      releaseWhen: chance.pick(['Drained', 'Done', 'Done']),
      daemons: chance.happens(0.3),
      firstApp: chance.int(-2, 3),
      cordoned: chance.happens(0.4),
    },
  }));
  const changes = (tag: Exclude<MaintenanceAct['_tag'], 'Maintain'>, most: number) =>
    Array.from({ length: chance.int(0, most) }, () => at({ _tag: tag, pick: pick(chance) }));
  return [
    ...made,
    ...changes('MoveMaintenance', 4),
    ...changes('DeleteMaintenance', 1),
    ...changes('AddMaintained', 2),
    ...changes('LeaveMaintained', 2),
    ...changes('UncordonMaintained', 3),
  ];
};

const chosen = <T>(list: readonly T[], at: number): T | undefined => list[at % list.length];

const nodesOf = ({ cluster }: EmbeddedSite) =>
  [...cluster.store.collection('nodes').ordered()].map(({ object }) => object);

const maintenancesOf = ({ cluster }: EmbeddedSite) => [
  ...cluster.store.collection(MAINTENANCES_RESOURCE).objects(),
];

const labelOf = (name: string): string => `example.com/${name}`;

const isLabelled = (node: JsonRecord, name: string): boolean =>
  textAt(node, 'metadata', 'labels', labelOf(name)) === 'yes';

const setLabel = (
  { ask }: EmbeddedSite,
  node: string,
  { label, on }: { readonly label: string; readonly on: boolean },
): void => {
  ask('PATCH', `/api/v1/nodes/${node}`, { metadata: { labels: { [label]: on ? 'yes' : null } } });
  if (on) ask('PATCH', `/api/v1/nodes/${node}/status`, bootPatch(`${node}-1`));
};

/** A person cordons a node that nothing holds. */
const cordon = ({ ask }: EmbeddedSite, node: JsonRecord, cordonedByPerson: Set<string>): void => {
  if (isCordoned(node) || ownersOf(node).length > 0) return;
  cordonedByPerson.add(nameOf(node));
  ask('PATCH', `/api/v1/nodes/${nameOf(node)}`, { spec: { unschedulable: true } });
};

const maintain = (
  site: EmbeddedSite,
  act: Extract<MaintenanceAct, { readonly _tag: 'Maintain' }>,
  cordonedByPerson: Set<string>,
): void => {
  const name = `m-${act.number}`;
  const nodes = nodesOf(site);
  for (let number = 0; number < act.count; number += 1) {
    const node = chosen(nodes, act.pick + number);
    if (node === undefined) continue;
    if (act.cordoned && number === 0) cordon(site, node, cordonedByPerson);
    setLabel(site, nameOf(node), { label: labelOf(name), on: true });
  }
  const podSelector = { matchLabels: { app: `app-${act.firstApp}` } };
  site.ask(
    'POST',
    MAINTENANCES,
    maintenanceObject(name, { key: labelOf(name), value: 'yes' }, {
      stage: act.stage,
      releaseWhen: act.releaseWhen,
      ...(act.atOnce > 0 ? { maxNodesAtOnce: act.atOnce } : {}),
      ...(act.daemons ? {} : { podTypes: ['Default'] }),
      ...(act.firstApp < 0 ? {} : { drainPlan: [{ podPriority: 1000, podSelector }] }),
    }),
  );
};

/** To Drain, mostly: what is interesting begins there. */
const move = ({ ask }: EmbeddedSite, maintenance: JsonRecord, at: number): void => {
  const further = STAGES.slice(STAGES.findIndex((one) => one === stageOf(maintenance)) + 1);
  const stage = further.includes('Drain') && at % 4 > 0 ? 'Drain' : chosen(further, at);
  if (stage === undefined) return;
  ask('PATCH', `${MAINTENANCES}/${nameOf(maintenance)}`, { spec: { stage } });
};

/** Executes the steps about maintenances. */
export const playMaintenances = (
  site: EmbeddedSite,
  cordonedByPerson: Set<string>,
) =>
(act: Act): boolean => {
  switch (act._tag) {
    case 'Maintain':
      maintain(site, act, cordonedByPerson);
      return true;
    case 'MoveMaintenance': {
      const one = chosen(maintenancesOf(site), act.pick);
      if (one !== undefined) move(site, one, act.pick);
      return true;
    }
    case 'DeleteMaintenance': {
      const one = chosen(maintenancesOf(site), act.pick);
      if (one !== undefined) site.ask('DELETE', `${MAINTENANCES}/${nameOf(one)}`);
      return true;
    }
    case 'AddMaintained':
    case 'LeaveMaintained': {
      const one = chosen(maintenancesOf(site), act.pick);
      if (one === undefined) return true;
      const joins = act._tag === 'AddMaintained';
      const nodes = nodesOf(site).filter((node) => isLabelled(node, nameOf(one)) !== joins);
      const node = chosen(nodes, act.pick);
      if (node !== undefined) {
        setLabel(site, nameOf(node), { label: labelOf(nameOf(one)), on: joins });
      }
      return true;
    }
    case 'UncordonMaintained': {
      const held = nodesOf(site)
        .filter((node) => isCordoned(node) && maintenancesOn(node).length > 0);
      const node = chosen(held, act.pick);
      if (node === undefined) return true;
      site.ask('PATCH', `/api/v1/nodes/${nameOf(node)}`, { spec: { unschedulable: null } });
      return true;
    }
    default:
      return false;
  }
};

/** A person works on each drained node: every other one boots again, the others are marked. */
export const workOnNodes = (
  { site, time }: Pick<WorldState, 'time'> & {
    readonly site: Pick<EmbeddedSite, 'ask' | 'cluster'>;
  },
  workMs = WORK_MS,
): void => {
  const begun = new Set<string>();
  const work = (node: string, maintenance: string, bootId: string): void => {
    const path = `/api/v1/nodes/${node}`;
    if (begun.size % 2 === 0) {
      site.ask('PATCH', path, donePatch(site.ask('GET', path).body, maintenance));
    } else site.ask('PATCH', `${path}/status`, bootPatch(`${bootId}-again`));
  };
  site.cluster.store.subscribe(({ resource, object }) => {
    if (resource !== MAINTENANCES_RESOURCE) return;
    for (const { name, message, bootId, state } of nodesIn(object)) {
      const key = `${nameOf(object)} ${name}`;
      if (message !== 'Drained' || state !== 'Admitted' || bootId === '' || begun.has(key)) {
        continue;
      }
      begun.add(key);
      time.schedule(workMs, () => work(name, nameOf(object), bootId));
    }
  });
};

/** In the end, while nothing else happens, another node is drained within this time. */
const DRAINING_MS = 900_000;
const COMPLETING_MS = 120_000;

/** So that no budget is closed forever; the second, wherever pods have no room. */
const SATISFIABLE = ['50%', '100%'] as const;

const openBudgets = ({ cluster, ask }: EmbeddedSite, maxUnavailable: string): void => {
  for (const budget of [...cluster.store.collection('poddisruptionbudgets.policy').objects()]) {
    const path = budgetPath(nameOf(budget));
    ask('PATCH', path, { spec: { minAvailable: null, maxUnavailable } });
  }
};

/** Every maintenance ends: it drains once budgets can be met, then it is completed or deleted. */
export const endMaintenances = async (state: WorldState): Promise<void> => {
  const { site, pass, broken, log } = state;
  if (maintenancesOf(site).length === 0) return;
  log.note('MAINTENANCES END');
  const undrained = (): readonly JsonRecord[] =>
    maintenancesOf(site).filter((one) => stageOf(one) === 'Drain' && !hasCondition(one, 'Drained'));
  const drained = (): number =>
    maintenancesOf(site).flatMap(nodesIn).filter(({ state, message }) =>
      state === 'Released' || message === 'Drained'
    ).length;
  for (const maxUnavailable of SATISFIABLE) {
    if (undrained().length > 0) openBudgets(site, maxUnavailable);
    for (let before = -1; undrained().length > 0 && drained() > before;) {
      before = drained();
      await pass(DRAINING_MS, () => undrained().length === 0 || drained() > before);
    }
  }
  const names = undrained().map(nameOf).join();
  if (names !== '') broken('maintenances end', `${names} are not drained, with open budgets`);
  for (const [at, one] of maintenancesOf(site).entries()) {
    const path = `${MAINTENANCES}/${nameOf(one)}`;
    if (at % 2 === 0) site.ask('DELETE', path);
    else site.ask('PATCH', path, { spec: { stage: 'Complete' } });
  }
  const isOver = (one: JsonRecord): boolean =>
    hasCondition(one, 'Completed') &&
    listOrEmptyAt(one, 'metadata', 'finalizers').length === 0;
  if (!await pass(COMPLETING_MS, () => maintenancesOf(site).every(isOver))) {
    const left = maintenancesOf(site).filter((one) => !isOver(one)).map(nameOf);
    broken('maintenances end', `${left.join()} are not over after ${COMPLETING_MS} ms`);
  }
};
