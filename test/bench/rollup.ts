/**
 * A roll-up after 1 % of 100,000 CapacityRequests changed, beside one built from scratch, and beside
 * the same demand added up in Go from a cache of typed objects listed with deep copies.
 *
 * Not measured: the watch that brings the changes, the network, and in Go the encoding of the frame.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeDemand } from '../../src/domain/demand/demand.ts';
import type { Need } from '../../src/domain/demand/need.ts';
import {
  type CapacityRequestProjection,
  capacityRequestProjector,
} from '../../src/domain/demand/request.ts';
import { clusterId } from '../../src/domain/ids.ts';
import {
  asList,
  type JsonRecord,
  numberAt,
  parseJson,
  textAt,
  valueAt,
} from '../../src/domain/json.ts';
import { parseQuantity } from '../../src/domain/quantity.ts';
import type { ResourceMap } from '../../src/domain/resources.ts';
import { rollupFrames } from '../../src/effects/rollup-frame.ts';
import { runCommand } from '../../tools/testbed/commands.ts';
import { oracle } from '../../tools/testbed/go-builds.ts';
import { changedRequest, drawsFrom, makeRequests } from './capacity-requests.ts';
import { duration, median, ratio, repeated, say, sayFigure, timed } from './measurement.ts';

const CLUSTER = clusterId('bench');
const SEED = 7;
const SCRATCH_TIMES = 5;
const CHANGED_TIMES = 20;
const CHANGED_SHARE = 0.01;

const projected = (
  requests: readonly JsonRecord[],
): readonly CapacityRequestProjection[] => {
  const project = capacityRequestProjector();
  return requests.flatMap((request) => project(request) ?? []);
};

const rollupOf = (needs: readonly Need[]) => ({
  number: 1,
  builtAtMs: 0,
  needs,
  unacknowledged: [],
});

/** Everything from the objects to the bytes of the frame, with nothing kept from before. */
const fromScratch = (requests: readonly JsonRecord[]): number => {
  const demand = makeDemand();
  demand.observeAll(projected(requests));
  const frame = rollupFrames(CLUSTER)(rollupOf(demand.needs()));
  return frame.bytes instanceof Uint8Array ? frame.bytes.length : 0;
};

/** Roll-ups after changes, with what is kept between them. */
const keptDemand = (requests: readonly JsonRecord[]) => {
  const demand = makeDemand();
  const project = capacityRequestProjector();
  const encode = rollupFrames(CLUSTER);
  const draws = drawsFrom(SEED + 1);
  demand.observeAll(requests.flatMap((request) => project(request) ?? []));
  encode(rollupOf(demand.needs()));
  const changed = Math.round(requests.length * CHANGED_SHARE);
  return {
    demand,
    changed,
    /** Changes that are on their way: other amounts for some of the requests. */
    draw: (): readonly JsonRecord[] =>
      Array.from({ length: changed }, () => {
        return changedRequest(requests[draws.below(requests.length)] ?? {}, draws);
      }),
    rollup: (changes: readonly JsonRecord[]): void => {
      for (const change of changes) {
        const request = project(change);
        if (request !== undefined) demand.observe(request);
      }
      encode(rollupOf(demand.needs()));
    },
  };
};

const valuesOf = (amounts: ResourceMap): string =>
  Object.entries(amounts).map(([name, text]) => {
    const read = parseQuantity(text);
    return `${name}=${read._tag === 'Quantity' ? read.quantity.nanos : text}`;
  }).sort().join(',');

/** What the demand comes to, whatever its needs are called. */
const digestOf = (needs: readonly Need[]): string => {
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

/** What the Go program measured. */
interface GoFigures {
  readonly needs: number;
  readonly digest: string;
  readonly rollupMs: readonly number[];
}

const inGo = async (requests: readonly JsonRecord[]): Promise<GoFigures> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-bench-'));
  try {
    const file = join(folder, 'requests.jsonl');
    await writeFile(file, requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
    const { code, stdout, stderr } = await runCommand(await oracle('rollup'), [
      file,
      String(SCRATCH_TIMES),
    ]);
    if (code !== 0) throw new Error(`Cannot measure in Go: ${stderr}`);
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

const sayGo = async (
  requests: readonly JsonRecord[],
  ours: { readonly needs: readonly Need[]; readonly scratchMs: number; readonly changedMs: number },
): Promise<void> => {
  const go = await inGo(requests);
  const goMs = median(go.rollupMs);
  sayFigure('Go: list with deep copies, add up (no frame)', duration(goMs));
  sayFigure('after 1 % changed, beside Go', ratio(ours.changedMs, goMs));
  sayFigure('from scratch, beside Go', ratio(ours.scratchMs, goMs));
  const agree = go.needs === ours.needs.length && go.digest === digestOf(ours.needs);
  sayFigure('both add up to the same demand', agree ? 'yes' : 'NO');
};

/** Measures and prints. */
export const benchRollups = async (count: number): Promise<void> => {
  const requests = makeRequests(count, SEED);
  const scratchMs = median(await repeated(SCRATCH_TIMES, () => fromScratch(requests)));
  const kept = keptDemand(requests);
  const untouched = kept.demand.needs();
  const figures: number[] = [];
  for (let turn = 0; turn < CHANGED_TIMES; turn += 1) {
    const changes = kept.draw();
    figures.push(await timed(() => kept.rollup(changes)));
  }
  const changedMs = median(figures);
  say();
  say(`Roll-up of ${count} CapacityRequests, ${untouched.length} needs`);
  sayFigure('from scratch: read, add up, encode', duration(scratchMs));
  sayFigure(`after ${kept.changed} changed: read them, add up, encode`, duration(changedMs));
  sayFigure('after 1 % changed, beside from scratch', ratio(changedMs, scratchMs), 'aim 1/20');
  await sayGo(requests, { needs: untouched, scratchMs, changedMs });
};
