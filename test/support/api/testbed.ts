/**
 * Suites that need a real API server, or Go.
 *
 * Promises: where the machine lacks what a suite needs, the suite is reported as not run, with the
 * reason, never as passed; in CI (`CI=true`) it fails instead.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unavailability } from '../../../tools/testbed/binaries.ts';
import { isContinuousIntegration } from '../../../tools/testbed/environment.ts';
import { goProblem, readGoModule } from '../../../tools/testbed/go-builds.ts';
import { startTestbed, type Testbed, type TestbedOptions } from '../../../tools/testbed/testbed.ts';

export type { Testbed, TestbedOptions } from '../../../tools/testbed/testbed.ts';

/** From asking for a test bed to its end; the first one on a machine is built for minutes. */
const START_TIMEOUT_MS = 20 * 60 * 1000;
const STOP_TIMEOUT_MS = 60_000;

/** One test bed for all tests of the calling suite. Returns its accessor. */
const sharedTestbed = (options: TestbedOptions = {}): () => Testbed => {
  let bed: Testbed | undefined;
  beforeAll(async () => {
    bed = await startTestbed(options);
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await bed?.stop();
  }, STOP_TIMEOUT_MS);
  return () => {
    if (bed === undefined) throw new Error('The test bed is there only while tests run');
    return bed;
  };
};

const describeUnless = (problem: string | undefined, title: string, suite: () => void): void => {
  if (problem === undefined) {
    describe(title, suite);
    return;
  }
  if (isContinuousIntegration()) {
    describe(title, () => {
      it('must run in CI', () => expect.fail(problem));
    });
    return;
  }
  process.stderr.write(`NOT RUN: ${title}: ${problem}\n`);
  describe.skip(`${title} (not run: ${problem})`, suite);
};

const bedProblem = await unavailability();
const toolchainProblem = await goProblem(await readGoModule());

/** A suite with one test bed of its own. */
export const describeWithTestbed = (
  title: string,
  options: TestbedOptions,
  suite: (bed: () => Testbed) => void,
): void => describeUnless(bedProblem, title, () => suite(sharedTestbed(options)));

/** A suite that uses the programs of a test bed, such as kubectl, without a bed. */
export const describeWithBinaries = (title: string, suite: () => void): void =>
  describeUnless(bedProblem, title, suite);

/** A suite that asks programs of `tools/testbed/oracle`. */
export const describeWithGo = (title: string, suite: () => void): void =>
  describeUnless(toolchainProblem, title, suite);
