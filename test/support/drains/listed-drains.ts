/** The JSON output of `tidegate drain …`. */
import { listOrEmptyAt, parseJson, textAt } from '../../../src/domain/json.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';
import type { StartTidegate } from '../processes/tidegate-child.ts';

/** Runs the command with `start` and parses its JSON; rejects when it fails. */
export const listedDrains = async (
  start: StartTidegate,
  bed: Testbed,
  ...asked: readonly string[]
): Promise<unknown> => {
  const command = start({
    name: `drain ${asked[0]}`,
    args: ['drain', ...asked, '-o', 'json', `--kubeconfig=${bed.kubeconfig}`],
  });
  const code = await command.exited;
  const text = command.logs().map(({ msg }) => msg).join('\n');
  if (code !== 0) {
    throw new Error(`"tidegate drain ${asked.join(' ')}" ended with ${code}: ${text}`);
  }
  return parseJson(text);
};

/** `reason pod` of every blocked pod in the plan or the status of a node. */
export const heldUp = (listed: unknown): readonly string[] =>
  listOrEmptyAt(listed, 'blockers').flatMap((blocker) =>
    listOrEmptyAt(blocker, 'pods').map((pod) => `${textAt(blocker, 'reason')} ${pod}`)
  ).toSorted();
