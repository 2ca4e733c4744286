/** The live page of a scene: actors that do not move, so that a picture is always the same. */
import { onTestFinished } from 'vitest';
import type { ActorBoard, ActorStep } from '../../../src/api/actor-board.ts';
import { startLivePage } from '../../../src/cli/operator/live-page.ts';
import { NOW_MS, type SceneActor, sceneOf } from './board-scene.ts';

/** A whole board of these actors. */
export const wholeBoard = (actors: readonly SceneActor[]): ActorBoard => {
  const { rows, context } = sceneOf(actors);
  const byId = new Map(rows().map((one) => [one.id, one]));
  const paths = new Map(actors.map(({ id, path }) => [id, path]));
  const row = (id: string) => byId.get(id);
  return {
    rows,
    context,
    row,
    detail: (id) => {
      const found = row(id);
      if (found === undefined) return undefined;
      const step: ActorStep = { atMs: found.sinceMs, state: found.state, event: 'xstate.init' };
      const path = paths.get(id) ?? [step];
      return { row: found, path, log: path, context: context(id) };
    },
    subscribe: () => () => {},
  };
};

/** Serves a scene until the test ends; returns its address. Its clock stands still by default. */
export const scenePage = async (
  actors: readonly SceneActor[],
  now = () => NOW_MS,
): Promise<string> => {
  const page = await startLivePage({
    address: { host: '', port: 0 },
    board: wholeBoard(actors),
    title: 'Tidegate · scene',
    now,
  });
  onTestFinished(page.close);
  return page.url;
};
