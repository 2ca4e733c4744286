/**
 * Which test files a mutation needs.
 *
 * Promises: the file that reaches the least comes first, because it was most likely written for
 * what it reaches, and it is fast; what runs while a module loads is reached by all files that
 * reach anything of it, because the files of a worker load it once.
 */
import type { Reach } from './instrumented-suite.ts';
import { ALL_OF_IT, WHILE_LOADING } from './reach-marks.ts';

type TestFiles = Map<string, Set<string>>;

const addTo = (files: TestFiles, key: string, testFile: string): void => {
  files.set(key, (files.get(key) ?? new Set()).add(testFile));
};

/** The index of these test files. */
export class ReachIndex {
  readonly #byMutation: TestFiles = new Map();
  readonly #bySource: TestFiles = new Map();
  /** Mutations of which a test file is not known to reach them, though it may. */
  readonly #shared = new Set<string>();

  constructor(reach: readonly Reach[]) {
    const inOrder = reach.toSorted((left, right) =>
      left.ids.length - right.ids.length || left.ms - right.ms
    );
    for (const each of inOrder) this.#add(each);
  }

  filesOf(id: string): readonly string[] {
    const [source = ''] = id.split('#');
    const isShared = this.#shared.has(id) || this.#shared.has(`${source}#${ALL_OF_IT}`);
    return [...(isShared ? this.#bySource.get(source) : this.#byMutation.get(id)) ?? []];
  }

  #add({ testFile, ids }: Reach): void {
    for (const marked of ids) {
      const id = marked.replace(WHILE_LOADING, '');
      if (id !== marked || id.endsWith(`#${ALL_OF_IT}`)) this.#shared.add(id);
      const [source = ''] = id.split('#');
      addTo(this.#byMutation, id, testFile);
      addTo(this.#bySource, source, testFile);
    }
  }
}
