/**
 * Dead ends: configurations from which no settled state can be reached, whatever happens (ADR 2).
 *
 * Promises: states that only lead to each other are found, too; a configuration that is settled or
 * has ended is none.
 */
import type { AnyMachineSnapshot } from 'xstate';
import { stepsText } from './crash.ts';
import type { Explored } from './explorer.ts';

/** Whether nothing more needs to happen. */
export type Settles = (snapshot: AnyMachineSnapshot) => boolean;

/** What statecharts themselves declare. */
const isTaggedSettled: Settles = (snapshot) => snapshot.hasTag('settled');

/** The dead ends of an exploration that was not cut short, each with its steps. */
export const deadEnds = <World>(
  { configurations, edges }: Pick<Explored<World>, 'configurations' | 'edges'>,
  settles: Settles = isTaggedSettled,
): readonly string[] => {
  const leadHere = new Map<string, Set<string>>();
  for (const { from, toKey } of edges) {
    const sources = leadHere.get(toKey) ?? new Set();
    leadHere.set(toKey, sources.add(from.key));
  }
  const reaching = [...configurations.values()]
    .filter(({ snapshot }) => snapshot.status !== 'active' || settles(snapshot))
    .map(({ key }) => key);
  const reach = new Set(reaching);
  for (let key = reaching.pop(); key !== undefined; key = reaching.pop()) {
    for (const source of leadHere.get(key) ?? []) {
      if (reach.has(source)) continue;
      reach.add(source);
      reaching.push(source);
    }
  }
  return [...configurations.values()].filter(({ key }) => !reach.has(key)).map(stepsText);
};
