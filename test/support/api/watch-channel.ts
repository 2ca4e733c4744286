/** Lines of a watch on their way to the one who reads them. */
import type { WatchLine } from '../../../src/effects/kube-api.ts';

/** Passes pushed items to one async iterator; the first end wins. */
export const watchChannel = () => {
  const chunks: (readonly WatchLine[])[] = [];
  let ended: 'cut' | 'eof' | undefined;
  let resume = (): void => {};
  async function* read(): AsyncGenerator<readonly WatchLine[]> {
    while (true) {
      const chunk = chunks.shift();
      if (chunk !== undefined) yield chunk;
      else if (ended === 'eof') return;
      else if (ended === 'cut') throw new Error('the connection was cut');
      else await new Promise<void>((resolve) => resume = resolve);
    }
  }
  return {
    lines: read(),
    push: (chunk: readonly WatchLine[]): void => {
      chunks.push(chunk);
      resume();
    },
    end: (how: 'cut' | 'eof'): void => {
      ended ??= how;
      resume();
    },
  };
};
