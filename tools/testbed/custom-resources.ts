/** Tidegate's custom resources on a bed. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import type { AskApiServer } from './requests.ts';
import { eventually } from './waiting.ts';

const crdFolder = fileURLToPath(new URL('../../charts/tidegate/files/crds', import.meta.url));

/** A definition, as far as its installation is concerned. */
interface Definition {
  readonly text: string;
  readonly name: string;
  readonly group: string;
  readonly plural: string;
  readonly versions: readonly string[];
}

const definitionOf = (text: string): Definition => {
  const manifest: unknown = parse(text);
  return {
    text,
    name: textAt(manifest, 'metadata', 'name') ?? '',
    group: textAt(manifest, 'spec', 'group') ?? '',
    plural: textAt(manifest, 'spec', 'names', 'plural') ?? '',
    versions: listOrEmptyAt(manifest, 'spec', 'versions').map((one) => textAt(one, 'name') ?? ''),
  };
};

const readDefinitions = async (): Promise<readonly Definition[]> => {
  const names = (await readdir(crdFolder)).filter((name) => name.endsWith('.yaml')).sort();
  if (names.length === 0) throw new Error(`Cannot install CRDs: none in ${crdFolder}`);
  return await Promise.all(
    names.map(async (name) => definitionOf(await readFile(join(crdFolder, name), 'utf8'))),
  );
};

let read: Promise<readonly Definition[]> | undefined;

/** The chart's definitions, read once: suites install them dozens of times in a process. */
const definitions = (): Promise<readonly Definition[]> => read ??= readDefinitions();

const OK = 200;
const CREATED = 201;
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const APPLIED = '?fieldManager=testbed&force=true';
/** What kubectl asks for to learn the kinds. */
const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

const apply = async (ask: AskApiServer, { name, text }: Definition): Promise<void> => {
  const { status, body } = await ask({
    method: 'PATCH',
    path: `${CRDS}/${name}${APPLIED}`,
    contentType: 'application/apply-patch+yaml',
    body: text,
  });
  if (status !== OK && status !== CREATED) throw new Error(`Cannot apply CRD "${name}": ${body}`);
};

/** A collection that is established answers 404 or 429 until its storage is ready. */
const areListed = async (
  ask: AskApiServer,
  { group, plural, versions }: Definition,
): Promise<boolean> => {
  for (const version of versions) {
    const path = `/apis/${group}/${version}/${plural}?limit=1`;
    if ((await ask({ path })).status !== OK) return false;
  }
  const { body } = await ask({ path: '/apis', accept: DISCOVERY });
  return body.includes(`"resource":"${plural}"`);
};

/** Applies the chart's CRDs and waits until their collections are found and can be listed. */
export const installCrds = async (ask: AskApiServer): Promise<void> => {
  const all = await definitions();
  await Promise.all(all.map((definition) => apply(ask, definition)));
  for (const definition of all) {
    await eventually(() => areListed(ask, definition), {
      what: `the collection of "${definition.name}"`,
    });
  }
};
