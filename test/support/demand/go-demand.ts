/** The demand of CapacityRequests, added up in Go by apimachinery's quantities. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Need } from '../../../src/domain/demand/need.ts';
import {
  asList,
  type JsonRecord,
  numberAt,
  parseJson,
  textAt,
  valueAt,
} from '../../../src/domain/json.ts';
import { parseQuantity } from '../../../src/domain/quantity.ts';
import type { ResourceMap } from '../../../src/domain/resources.ts';
import { runCommand } from '../../../tools/testbed/commands.ts';
import { oracle } from '../../../tools/testbed/go-builds.ts';

const valuesOf = (amounts: ResourceMap): string =>
  Object.entries(amounts).map(([name, text]) => {
    const read = parseQuantity(text);
    return `${name}=${read._tag === 'Quantity' ? read.quantity.nanos : text}`;
  }).sort().join(',');

/** What the demand comes to, whatever its needs are called; `demandInGo` gives the same. */
export const demandDigest = (needs: readonly Need[]): string => {
  const lines = needs.map((need) =>
    [
      need.requests,
      need.priority,
      need.interruptionBucket,
      need.reclamationBucket,
      valuesOf(need.aggregateResources),
      valuesOf(need.minUnit),
    ].join(' ')
  );
  return createHash('sha256').update(`${lines.sort().join('\n')}\n`).digest('hex');
};

/** The demand as the Go program adds it up, and how long that takes. */
export interface GoDemand {
  readonly needs: number;
  readonly digest: string;
  readonly rollupMs: readonly number[];
}

/** Adds up in Go, `times` times after one that does not count. Needs Go. */
export const demandInGo = async (
  requests: readonly JsonRecord[],
  times: number,
): Promise<GoDemand> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-demand-'));
  try {
    const file = join(folder, 'requests.jsonl');
    await writeFile(file, requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
    const { code, stdout, stderr } = await runCommand(await oracle('rollup', () => {}), [
      file,
      String(times),
    ]);
    if (code !== 0) throw new Error(`Cannot add up in Go: ${stderr}`);
    const figures = parseJson(stdout);
    return {
      needs: numberAt(figures, 'needs') ?? 0,
      digest: textAt(figures, 'digest') ?? '',
      rollupMs: (asList(valueAt(figures, 'rollupMs')) ?? []).map(Number),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
