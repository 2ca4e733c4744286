/** The contract suite on the real API server: what the embedded cluster must agree with. */
import { contractSuite } from '../contract/suite.ts';
import { contractBed } from '../support/contract-bed.ts';
import { describeWithTestbed } from '../support/testbed.ts';

describeWithTestbed('real API server', {
  say: () => {},
  // Whatever else controllers write would be in the way of what the cases write.
  controllers: ['garbage-collector-controller', 'namespace-controller'],
}, (bed) => contractSuite(() => contractBed(bed())));
