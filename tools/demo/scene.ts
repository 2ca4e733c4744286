/** The demo's output: each change as a line, and a final summary. Pure. */
import type { Phase } from '../../src/domain/machine-phase.ts';

/** A machine as the demo follows it. */
export interface MachineSeen {
  readonly name: string;
  readonly phase: Phase | null;
  readonly nodeName: string;
  readonly kind: string;
  readonly zone: string;
}

/** Everything that is known at one moment. */
export interface Scene {
  /** Pods that are there, and how many of them run. */
  readonly pods: number;
  readonly running: number;
  /** CapacityRequests that are there, and how many of them the shard has acknowledged. */
  readonly requests: number;
  readonly acknowledged: number;
  readonly machines: ReadonlyMap<string, MachineSeen>;
  /** Node name → whether it is Ready. */
  readonly nodes: ReadonlyMap<string, boolean>;
  /** The cluster's machines according to the fleet. */
  readonly bound: number;
}

/** The scene before anything happened, and the one after everything did. */
export const EMPTY_SCENE: Scene = {
  pods: 0,
  running: 0,
  requests: 0,
  acknowledged: 0,
  machines: new Map(),
  nodes: new Map(),
  bound: 0,
};

/** One line: who, and what happened. */
export interface Line {
  readonly who: 'pods' | 'requests' | 'machine' | 'node';
  readonly what: string;
}

const podLines = (before: Scene, { pods, running }: Scene): readonly Line[] =>
  before.pods === pods && before.running === running
    ? []
    : [{ who: 'pods', what: pods === 0 ? 'none left' : `${running} of ${pods} running` }];

const requestLines = (before: Scene, { requests, acknowledged }: Scene): readonly Line[] =>
  before.requests === requests && before.acknowledged === acknowledged ? [] : [{
    who: 'requests',
    what: requests === 0 ? 'none left' : `${acknowledged} of ${requests} acknowledged`,
  }];

const phaseLines = (before: Scene, now: Scene): readonly Line[] => {
  const steps = [...now.machines.values()].flatMap(({ name, phase, kind, zone }): Line[] => {
    const old = before.machines.get(name)?.phase ?? null;
    if (phase === null || phase === old) return [];
    const step = old === null ? phase : `${old} → ${phase}`;
    return [{ who: 'machine', what: `${name}  ${step}  (${kind}, ${zone})` }];
  });
  const gone = [...before.machines.keys()].filter((name) => !now.machines.has(name));
  return [...steps, ...gone.map((name): Line => ({ who: 'machine', what: `${name}  went back` }))];
};

const linkLines = (before: Scene, now: Scene): readonly Line[] =>
  [...now.machines.values()].flatMap(({ name, nodeName }): readonly Line[] => {
    const old = before.machines.get(name)?.nodeName ?? '';
    return nodeName === '' || nodeName === old
      ? []
      : [{ who: 'machine', what: `${name}  is Node ${nodeName}` }];
  });

const nodeLines = (before: Scene, now: Scene): readonly Line[] => {
  const steps = [...now.nodes].flatMap(([name, ready]): Line[] => {
    const old = before.nodes.get(name);
    if (old === undefined) {
      return [{ who: 'node', what: `${name}  joined${ready ? ', ready' : ''}` }];
    }
    return ready && !old ? [{ who: 'node', what: `${name}  ready` }] : [];
  });
  const gone = [...before.nodes.keys()].filter((name) => !now.nodes.has(name));
  return [...steps, ...gone.map((name): Line => ({ who: 'node', what: `${name}  left` }))];
};

/** The changes between two scenes as lines, causes before effects. */
export const changeLines = (before: Scene, now: Scene): readonly Line[] => [
  ...requestLines(before, now),
  ...phaseLines(before, now),
  ...nodeLines(before, now),
  ...linkLines(before, now),
  ...podLines(before, now),
];

/** True when so many pods run on machines that joined for them, and every object shows it. */
export const isUp = (scene: Scene, replicas: number): boolean => {
  const counts = [scene.pods, scene.running, scene.requests, scene.acknowledged];
  return counts.every((count) => count === replicas) && scene.bound > 0 &&
    scene.machines.size === scene.bound && scene.nodes.size === scene.bound &&
    [...scene.machines.values()].every(({ phase, nodeName }) =>
      phase === 'Ready' && scene.nodes.get(nodeName) === true
    );
};

/** True when nothing is left: no pod, no request, no machine, no Node. */
export const isDown = ({ pods, requests, machines, nodes, bound }: Scene): boolean =>
  pods + requests + machines.size + nodes.size + bound === 0;

/** Where it stands, for people who waited in vain. */
export const sceneText = (scene: Scene): string => {
  const ready = [...scene.machines.values()].filter(({ phase }) => phase === 'Ready');
  return `${scene.running} of ${scene.pods} pods running, ` +
    `${scene.acknowledged} of ${scene.requests} requests acknowledged, ` +
    `${ready.length} of ${scene.bound} machines Ready, ${scene.nodes.size} Nodes`;
};

const listed = (counts: ReadonlyMap<string, number>): string =>
  [...counts].toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `${count} × ${name}`).join(', ');

/** The last lines: `peak` is the scene when all pods ran; `writes` counts by what was written. */
export const summary = (peak: Scene, writes: ReadonlyMap<string, number>): readonly string[] => {
  const kinds = new Map<string, number>();
  for (const { kind } of peak.machines.values()) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return [
    `${peak.pods} pods that fitted nowhere made ${peak.requests} CapacityRequests`,
    `${peak.machines.size} machines came for them: ${listed(kinds)}`,
    `${peak.running} pods ran on ${peak.nodes.size} Nodes`,
    'the Deployment was scaled to 0, and every machine went back',
    `writes of the operator: ${listed(writes)}`,
  ];
};
