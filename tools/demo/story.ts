/** What the demo tells: each change as a line, and at the end a summary. Pure. */
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
  readonly acknowledged: number;
  readonly wanted: number;
  readonly machines: ReadonlyMap<string, MachineSeen>;
  /** Node name → whether it is Ready. */
  readonly nodes: ReadonlyMap<string, boolean>;
  /** Machines that the fleet says are ours. */
  readonly bound: number;
}

/** The scene before anything happened. */
export const emptyScene = (wanted: number): Scene => ({
  acknowledged: 0,
  wanted,
  machines: new Map(),
  nodes: new Map(),
  bound: 0,
});

/** One line: who, and what happened. */
export interface Line {
  readonly who: 'requests' | 'machine' | 'node';
  readonly what: string;
}

const phaseLines = (before: Scene, now: Scene): readonly Line[] =>
  [...now.machines.values()].flatMap(({ name, phase, kind, zone }): readonly Line[] => {
    const old = before.machines.get(name)?.phase ?? null;
    if (phase === null || phase === old) return [];
    const step = old === null ? phase : `${old} → ${phase}`;
    return [{ who: 'machine', what: `${name}  ${step}  (${kind}, ${zone})` }];
  });

const linkLines = (before: Scene, now: Scene): readonly Line[] =>
  [...now.machines.values()].flatMap(({ name, nodeName }): readonly Line[] => {
    const old = before.machines.get(name)?.nodeName ?? '';
    return nodeName === '' || nodeName === old
      ? []
      : [{ who: 'machine', what: `${name}  is Node ${nodeName}` }];
  });

const nodeLines = (before: Scene, now: Scene): readonly Line[] =>
  [...now.nodes].flatMap(([name, ready]): readonly Line[] => {
    const old = before.nodes.get(name);
    if (old === undefined) {
      return [{ who: 'node', what: `${name}  joined${ready ? ', ready' : ''}` }];
    }
    return ready && !old ? [{ who: 'node', what: `${name}  ready` }] : [];
  });

/** The lines that tell what changed between two scenes. */
export const tellChanges = (before: Scene, now: Scene): readonly Line[] => [
  ...(now.acknowledged === before.acknowledged ? [] : [{
    who: 'requests' as const,
    what: `${now.acknowledged} of ${now.wanted} acknowledged`,
  }]),
  ...phaseLines(before, now),
  ...nodeLines(before, now),
  ...linkLines(before, now),
];

/** True when everything that was asked for is there and shown. */
export const isFinished = ({ acknowledged, wanted, machines, nodes, bound }: Scene): boolean =>
  acknowledged === wanted && bound > 0 && machines.size === bound &&
  [...machines.values()].every(({ phase, nodeName }) =>
    phase === 'Ready' && nodes.get(nodeName) === true
  );

/** What is still missing, for people who waited in vain. */
export const missing = (scene: Scene): string => {
  const ready = [...scene.machines.values()].filter(({ phase }) => phase === 'Ready');
  const linked = ready.filter(({ nodeName }) => scene.nodes.get(nodeName) === true);
  return `${scene.acknowledged} of ${scene.wanted} requests acknowledged, ` +
    `${ready.length} of ${scene.bound} machines Ready, ${linked.length} with a ready Node`;
};

/** The last lines. `writes` counts the operator's writes by what they wrote. */
export const summary = (scene: Scene, writes: ReadonlyMap<string, number>): readonly string[] => {
  const kinds = new Map<string, number>();
  for (const { kind } of scene.machines.values()) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const listed = (counts: ReadonlyMap<string, number>): string =>
    [...counts].toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => `${count} × ${name}`).join(', ');
  return [
    `${scene.acknowledged} of ${scene.wanted} CapacityRequests acknowledged by the shard`,
    `${scene.machines.size} UpcomingNodes Ready: ${listed(kinds)}`,
    `${scene.nodes.size} Nodes joined, each linked from its UpcomingNode`,
    `writes of the operator: ${listed(writes)}`,
  ];
};
