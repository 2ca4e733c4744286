/** The contract suite on a real cluster: what embedded controllers must agree with. */
import { CONTROLLER_AREAS } from '../contract/areas.ts';
import { contractSuite } from '../contract/suite.ts';
import { contractBed } from '../support/api/contract-bed.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';

describeWithTestbed('real cluster with all its controllers', {
  controllers: true,
  scheduler: true,
  kwok: true,
}, (bed) => contractSuite(CONTROLLER_AREAS, { open: () => contractBed(bed()) }));
