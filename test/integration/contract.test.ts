/** The contract suite on the real API server: what the embedded cluster must agree with. */
import { SERVER_AREAS } from '../contract/areas.ts';
import { contractSuite } from '../contract/suite.ts';
import { contractBed } from '../support/api/contract-bed.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';

describeWithTestbed('real API server', {
  // Whatever else controllers write would be in the way of what the cases write.
  controllers: [
    'clusterrole-aggregation-controller',
    'garbage-collector-controller',
    'namespace-controller',
  ],
}, (bed) => contractSuite(SERVER_AREAS, { open: () => contractBed(bed()) }));
