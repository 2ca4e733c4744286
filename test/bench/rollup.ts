/**
 * A roll-up after 1 % of 100,000 CapacityRequests changed, beside one built from scratch, and
 * beside the same demand added up in Go from a cache of typed objects listed with deep copies.
 *
 * Not measured: the watch that brings the changes, the network, and in Go the encoding of the
 * frame.
 */
import { makeDemand } from '../../src/domain/demand/demand.ts';
import type { Need } from '../../src/domain/demand/need.ts';
import {
  type CapacityRequestProjection,
  capacityRequestProjector,
} from '../../src/domain/demand/request.ts';
import { clusterId } from '../../src/domain/ids.ts';
import type { JsonRecord } from '../../src/domain/json.ts';
import { rollupFrames } from '../../src/effects/rollup-frame.ts';
import { demandDigest, demandInGo } from '../support/demand/go-demand.ts';
import { changedRequest, drawsFrom, makeRequests } from './capacity-requests.ts';
import { duration, median, print, printFigure, ratio, repeated, timed } from './measurement.ts';

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

/** From the objects to the bytes of the frame, without state from earlier roll-ups. */
const fromScratch = (requests: readonly JsonRecord[]): number => {
  const demand = makeDemand();
  demand.observeAll(projected(requests));
  const frame = rollupFrames(CLUSTER)(rollupOf(demand.needs()));
  return frame.bytes instanceof Uint8Array ? frame.bytes.length : 0;
};

/** Incremental roll-ups, with the state kept between them. */
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

const printGo = async (
  requests: readonly JsonRecord[],
  ours: { readonly needs: readonly Need[]; readonly scratchMs: number; readonly changedMs: number },
): Promise<void> => {
  const go = await demandInGo(requests, SCRATCH_TIMES);
  const goMs = median(go.rollupMs);
  printFigure('Go: list with deep copies, add up (no frame)', duration(goMs));
  printFigure('after 1 % changed, beside Go', ratio(ours.changedMs, goMs));
  printFigure('from scratch, beside Go', ratio(ours.scratchMs, goMs));
  const agree = go.needs === ours.needs.length && go.digest === demandDigest(ours.needs);
  printFigure('both add up to the same demand', agree ? 'yes' : 'NO');
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
  print();
  print(`Roll-up of ${count} CapacityRequests, ${untouched.length} needs`);
  printFigure('from scratch: read, add up, encode', duration(scratchMs));
  printFigure(`after ${kept.changed} changed: read them, add up, encode`, duration(changedMs));
  printFigure('after 1 % changed, beside from scratch', ratio(changedMs, scratchMs), 'aim 1/20');
  await printGo(requests, { needs: untouched, scratchMs, changedMs });
};
