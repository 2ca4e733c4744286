/**
 * The NodeMaintenance of a command: from a file, from stdin, or of the cluster.
 *
 * Promises: what has a slash or ends in `.yaml`, `.yml` or `.json` is a path, whatever the folder
 * holds; each problem names the object, its field and the remedy.
 */
import { Effect } from 'effect';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import process from 'node:process';
import { parseAllDocuments } from 'yaml';
import { type JsonRecord, recordAt, textAt } from '../../domain/json.ts';
import {
  type ObservedMaintenance,
  projectMaintenance,
} from '../../domain/node-maintenance/observed-maintenance.ts';
import { workedStage } from '../../domain/node-maintenance/stage.ts';
import {
  isMaintenance,
  writtenProblem,
} from '../../domain/node-maintenance/written-maintenance.ts';
import { quoted } from '../../domain/text.ts';
import type { KubeApi, KubeFault } from '../../effects/kube-api.ts';
import { readMaintenance } from '../../effects/maintenance-reads.ts';
import { type Answer, answered, silent } from '../cluster-question.ts';
import { EXIT } from '../exit-codes.ts';
import { failureSentence } from '../failures.ts';

/** A maintenance as it was written, and as it is read. */
export interface SourcedMaintenance {
  readonly raw: JsonRecord;
  readonly maintenance: ObservedMaintenance;
}

const STDIN = '-';
const PATH = /\/|\.(ya?ml|json)$/u;

const isFile = (source: string): boolean => source === STDIN || PATH.test(source);

const readText = (source: string): Promise<string> =>
  source === STDIN ? text(process.stdin) : readFile(source, 'utf8');

const documentsIn = (content: string): readonly unknown[] =>
  parseAllDocuments(content).map((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw new Error(problem.message.split('\n')[0]);
    return document.toJS();
  });

const placeOf = (source: string): string => source === STDIN ? 'stdin' : quoted(source);

/** An object that the API server has not seen. */
const PLANNED = { uid: '00000000-0000-0000-0000-000000000000', resourceVersion: '0' };

const readable = (raw: JsonRecord, what: string): Answer<SourcedMaintenance> => {
  const maintenance = projectMaintenance({
    ...raw,
    metadata: { ...PLANNED, ...recordAt(raw, 'metadata') },
  });
  if (maintenance === undefined) {
    return silent(EXIT.usage, `Cannot use ${what}: metadata.name is missing; name it`);
  }
  return workedStage(maintenance) === 'Complete'
    ? silent(EXIT.usage, `Cannot plan ${what}: its stage is Complete; write one with stage Idle`)
    : answered({ raw, maintenance });
};

const ofFile = async (source: string): Promise<Answer<SourcedMaintenance>> => {
  const place = placeOf(source);
  const remedy = 'write the path of a file, - for stdin, or the name of a NodeMaintenance';
  let documents: readonly unknown[];
  try {
    documents = documentsIn(await readText(source));
  } catch (error) {
    return silent(EXIT.usage, `Cannot read ${place}: ${failureSentence(error)}; ${remedy}`);
  }
  const [raw, ...others] = documents.filter(isMaintenance);
  if (raw === undefined || others.length > 0) {
    const found = raw === undefined ? 'no' : 'more than one';
    return silent(
      EXIT.usage,
      `Cannot use ${place}: it has ${found} NodeMaintenance of lifecycle.tidegate.dev/v1alpha1; ` +
        'write one',
    );
  }
  const what = `NodeMaintenance ${quoted(textAt(raw, 'metadata', 'name') ?? '')} of ${place}`;
  const wrong = writtenProblem(raw);
  return wrong === undefined
    ? readable(raw, what)
    : silent(EXIT.usage, `Cannot use ${what}: ${wrong.field}: ${wrong.problem}; ${wrong.remedy}`);
};

const ofCluster = (
  name: string,
): Effect.Effect<Answer<SourcedMaintenance>, KubeFault, KubeApi> =>
  Effect.map(readMaintenance(name), (read): Answer<SourcedMaintenance> => {
    const what = `NodeMaintenance ${quoted(name)}`;
    switch (read._tag) {
      case 'Found':
        return readable(read.raw, what);
      case 'Absent':
        return silent(EXIT.notMet, `Cannot find ${what}; for a file of this name, write ./${name}`);
      case 'Refused':
        return silent(EXIT.failure, `Cannot read ${what}: ${read.why}`);
    }
  });

/** Reads the maintenance. */
export const readSource = (
  source: string,
): Effect.Effect<Answer<SourcedMaintenance>, KubeFault, KubeApi> =>
  isFile(source) ? Effect.promise(() => ofFile(source)) : ofCluster(source);
