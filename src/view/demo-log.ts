/**
 * What happens in a demo, in few lines.
 *
 * Promises: a number or a phase is printed once it has stood still for a moment, so that twelve
 * pods that start are one line; machines that change together share a line; Events are printed at
 * once, unless they repeat a phase. A drain moves pods all the time: while one goes on, only its
 * blockers are printed.
 */
import type { DemoScene } from './demo-scene.ts';
import type { DrainBlocker, DrainStatus } from './drain-status.ts';
import { type DemoLine, podsText, requestsText } from './demo-text.ts';

/** Turns scenes into lines. */
export interface DemoLog {
  /** The lines of a scene, causes before effects. */
  readonly linesAt: (scene: DemoScene, nowMs: number) => readonly DemoLine[];
  /** The same, and everything that has not stood still yet. */
  readonly settledLines: (scene: DemoScene, nowMs: number) => readonly DemoLine[];
}

const STILL_MS = 600;
const DRAINING = 'Draining';
const RETURNED = 'returned to the fleet';

/** Phases that the Events of a drain state in more words. */
const COVERED_BY_EVENTS: ReadonlySet<string> = new Set(['', DRAINING, 'Drained']);
/** Events that repeat the phase of a machine. */
const REPEATING: ReadonlySet<string> = new Set(['NodeReady']);

/** One thing that the log follows. */
interface Followed {
  printed: string;
  current: string;
  sinceMs: number;
}

/** What blocks a drain, or the full budget that it waits for. */
const mainCause = (drain: DrainStatus | undefined): DrainBlocker | undefined => {
  if (drain === undefined) return undefined;
  const { blockers: [blocker], waits: [wait], verdict } = drain;
  return blocker ?? (verdict.reason === wait?.reason ? wait : undefined);
};

/** Machines with the same change in one line. */
const machineLines = (changes: ReadonlyMap<string, readonly string[]>): readonly DemoLine[] =>
  [...changes].map(([what, names]) => {
    const [name = ''] = names;
    return names.length === 1
      ? { who: name, what }
      : { who: `${names.length} machines`, what: `${what}: ${names.join(', ')}` };
  });

/** A log that begins with an empty cluster. */
export const makeDemoLog = (): DemoLog => {
  const followed = new Map<string, Followed>();
  const machines = new Set<string>();
  const printedEvents = new Set<string>();

  /** The text when it is a change that stood still. */
  const changeOf = (
    key: string,
    { text, initial }: { readonly text: string; readonly initial: string },
    { nowMs, isPatient }: { readonly nowMs: number; readonly isPatient: boolean },
  ): string | undefined => {
    const known = followed.get(key) ?? { printed: initial, current: initial, sinceMs: nowMs };
    followed.set(key, known);
    if (known.current !== text) {
      known.current = text;
      known.sinceMs = nowMs;
    }
    if (known.printed === text || (isPatient && nowMs - known.sinceMs < STILL_MS)) return undefined;
    known.printed = text;
    return text;
  };

  const linesOf = (
    scene: DemoScene,
    moment: Parameters<typeof changeOf>[2],
  ): readonly DemoLine[] => {
    const count = (who: string, text: string): readonly DemoLine[] => {
      const what = changeOf(who, { text, initial: 'none' }, moment);
      return what === undefined ? [] : [{ who, what }];
    };
    const phases = new Map(scene.machines.map(({ name, phase }) => [name, phase]));
    for (const name of phases.keys()) machines.add(name);
    const changes = [...machines].flatMap((name) => {
      const text = phases.get(name) ?? RETURNED;
      const isCovered = COVERED_BY_EVENTS.has(text);
      const what = isCovered ? undefined : changeOf(name, { text, initial: '' }, moment);
      if (what === RETURNED) machines.delete(name);
      return what === undefined ? [] : [{ name, what }];
    });
    const isDraining = scene.machines.some(({ phase }) => phase === DRAINING);
    const isChurning = isDraining && moment.isPatient;
    const waits = scene.machines.flatMap(({ name, phase, drain }): readonly DemoLine[] => {
      const blocker = phase === DRAINING ? mainCause(drain) : undefined;
      if (blocker === undefined) return [];
      const key = `drain of ${name}`;
      const reason = changeOf(key, { text: blocker.reason, initial: '' }, moment);
      return reason === undefined ? [] : [{ who: name, what: `${reason}: ${blocker.text}` }];
    });
    const byChange = Map.groupBy(changes, ({ what }) => what);
    const events = scene.timeline.filter(({ id, reason }) =>
      !printedEvents.has(id) && !REPEATING.has(reason)
    );
    for (const { id } of events) printedEvents.add(id);
    return [
      ...(isChurning ? [] : count('requests', requestsText(scene))),
      ...machineLines(
        new Map([...byChange].map(([what, list]) => [what, list.map(({ name }) => name)])),
      ),
      ...events.map(({ about, reason, note }) => ({ who: reason, what: `${about}: ${note}` })),
      ...waits,
      ...(isChurning ? [] : count('pods', podsText(scene))),
    ];
  };
  return {
    linesAt: (scene, nowMs) => linesOf(scene, { nowMs, isPatient: true }),
    settledLines: (scene, nowMs) => linesOf(scene, { nowMs, isPatient: false }),
  };
};
