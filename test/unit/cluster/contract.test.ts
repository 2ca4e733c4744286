/** The contract suite on the embedded cluster, in process and on simulated time. */
import { describe } from 'vitest';
import { contractSuite } from '../../contract/suite.ts';
import { contractEmbedded } from '../../support/contract-embedded.ts';

describe('embedded API server', () => {
  contractSuite(() => Promise.resolve(contractEmbedded().contract));
});
