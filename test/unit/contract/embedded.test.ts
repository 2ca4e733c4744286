/** The contract suite on the embedded cluster, in process and on simulated time. */
import { describe, expect, it } from 'vitest';
import { CONTROLLER_AREAS, SERVER_AREAS } from '../../contract/areas.ts';
import { caseCount, contractSuite } from '../../contract/suite.ts';
import { contractEmbedded } from '../../support/api/contract-embedded.ts';

const CASES_MIN = 250;

describe('embedded API server', () => {
  contractSuite(SERVER_AREAS, { open: () => Promise.resolve(contractEmbedded('collector')) });

  it(`has a contract of at least ${CASES_MIN} cases`, () => {
    expect(caseCount(SERVER_AREAS)).toBeGreaterThanOrEqual(CASES_MIN);
  });
});

describe('embedded cluster with all its controllers', () => {
  contractSuite(CONTROLLER_AREAS, { open: () => Promise.resolve(contractEmbedded('all')) });
});
