/** The demand beside the same requests added up in Go. */
import { expect, it } from 'vitest';
import { makeDemand } from '../../src/domain/demand/demand.ts';
import { capacityRequestProjector } from '../../src/domain/demand/request.ts';
import { makeRequests } from '../bench/capacity-requests.ts';
import { describeWithGo } from '../support/api/testbed.ts';
import { demandDigest, demandInGo } from '../support/demand/go-demand.ts';

const BUILD_TIMEOUT_MS = 10 * 60 * 1000;
const REQUESTS = 10_000;

describeWithGo('demand', () => {
  it.each([1, 2, 3])(
    `of ${REQUESTS} requests (seed %i) is what Go and apimachinery make of them`,
    async (seed) => {
      const requests = makeRequests(REQUESTS, seed);
      const demand = makeDemand();
      const project = capacityRequestProjector();
      demand.observeAll(requests.flatMap((request) => project(request) ?? []));
      const go = await demandInGo(requests, 0);
      expect(demand.size).toBe(REQUESTS);
      expect(demand.needs().length).toBe(go.needs);
      expect(demandDigest(demand.needs())).toBe(go.digest);
    },
    BUILD_TIMEOUT_MS,
  );
});
