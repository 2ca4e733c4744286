/** The Helm chart of this repository, and the pinned helm on it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { type CommandResult, runCommand } from '../../../tools/testbed/commands.ts';
import { asRecord, type JsonRecord, textAt } from '../../../src/domain/json.ts';
import { PROJECT } from '../../tidy/source-file.ts';

/** The folder of the chart. */
export const CHART = `${PROJECT}charts/tidegate`;

const SUFFIX = '-values.yaml';

/** The names of the sets of values that the chart is tried with: `fleet`, `evictions`, … */
export const VALUE_SETS: readonly string[] = readdirSync(join(CHART, 'ci'))
  .map((file) => file.slice(0, -SUFFIX.length));

/** The file of a set of values. */
export const valuesFile = (name: string): string => join(CHART, 'ci', `${name}${SUFFIX}`);

/** Runs helm; an exit code is an answer. */
export type Helm = (...args: readonly string[]) => Promise<CommandResult>;

/** helm with its own folders, and with a cluster when there is a kubeconfig. */
export const helmBy = (
  program: string | undefined,
  { folder, kubeconfig }: { readonly folder: string; readonly kubeconfig?: string },
): Helm => {
  if (program === undefined) throw new Error('There is no helm: install Go, which builds it');
  const env = {
    HELM_CACHE_HOME: join(folder, 'helm-cache'),
    HELM_CONFIG_HOME: join(folder, 'helm-config'),
    HELM_DATA_HOME: join(folder, 'helm-data'),
    KUBECONFIG: kubeconfig,
  };
  return (...args) => runCommand(program, args, { env });
};

/** What helm printed; rejects with its error. */
export const printed = async (answer: Promise<CommandResult>): Promise<string> => {
  const { code, stdout, stderr } = await answer;
  if (code !== 0) throw new Error(`helm ended with ${code}: ${stderr}`);
  return stdout;
};

/** The objects of some manifests. */
export const objectsIn = (manifests: string): readonly JsonRecord[] =>
  parseAllDocuments(manifests).map((document) => asRecord(document.toJS()))
    .filter((object) => object !== undefined);

/** `Deployment/tidegate-operator`. */
export const kindAndName = (object: unknown): string =>
  `${textAt(object, 'kind')}/${textAt(object, 'metadata', 'name')}`;
