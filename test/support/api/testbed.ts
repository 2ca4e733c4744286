/**
 * Suites that need a real API server, or Go.
 *
 * Promises: a suite whose operators were refused for lack of a right fails, and one that shows what
 * rights are for fails when they were not used (`../rights`). Where the machine lacks what a suite
 * needs, the suite is reported as not run, with the reason, never as passed; in CI (`CI=true`) it
 * fails instead.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unavailability } from '../../../tools/testbed/binaries.ts';
import { isContinuousIntegration } from '../../../tools/testbed/environment.ts';
import {
  goProblem,
  type Print,
  printOnStderr,
  readGoModule,
} from '../../../tools/testbed/go-builds.ts';
import { observabilityProblem } from '../../../tools/testbed/observability.ts';
import { startTestbed, type Testbed, type TestbedOptions } from '../../../tools/testbed/testbed.ts';
import { forgetAccounts } from '../rights/role-account.ts';
import { expectRights } from '../rights/used-rights.ts';

export type { Testbed, TestbedOptions } from '../../../tools/testbed/testbed.ts';

/** From asking for a test bed to its end; the first one on a machine is built for minutes. */
const START_TIMEOUT_MS = 20 * 60 * 1000;
const STOP_TIMEOUT_MS = 60_000;

/** What a suite wants of its bed. */
export interface SuiteBed extends TestbedOptions {
  /** A new bed, which ends with the suite: for what a bed keeps, such as its kinds and flags. */
  readonly own?: boolean;
}

/** Beds of this process that no suite uses, paused, by what runs in them. */
const idle = new Map<string, Testbed>();

const kindOf = ({ controllers, scheduler, kwok }: TestbedOptions): string =>
  JSON.stringify([controllers === true, scheduler === true, kwok === true]);

const isOwn = ({ own, controllers, apiServerFlags, nodeGrace }: SuiteBed): boolean =>
  own === true || Array.isArray(controllers) || apiServerFlags !== undefined ||
  nodeGrace !== undefined;

/** The bed of an earlier suite as it was when it was new; nothing when there is none. */
const renewed = async (options: SuiteBed): Promise<Testbed | undefined> => {
  const bed = idle.get(kindOf(options));
  if (bed === undefined) return undefined;
  idle.delete(kindOf(options));
  bed.resume();
  try {
    await bed.renew(options);
    return bed;
  } catch (problem) {
    process.stderr.write(`testbed: a new one, because the one before is spoilt: ${problem}\n`);
    await bed.stop();
    return undefined;
  }
};

/** Leaves out that a bed starts and is ready; says what is built for minutes, and what ended. */
const printProblems: Print = (line) => {
  if (!/^(?:starting|ready) /.test(line)) printOnStderr(line);
};

const taken = async (suite: SuiteBed): Promise<Testbed> => {
  const options = { print: printProblems, ...suite };
  if (isOwn(options)) return await startTestbed(options);
  const before = await renewed(options);
  if (before !== undefined) return before;
  const bed = await startTestbed(options);
  await bed.settle();
  return bed;
};

const returned = async (bed: Testbed, options: SuiteBed): Promise<void> => {
  if (isOwn(options) || idle.has(kindOf(options))) return await bed.stop();
  bed.pause();
  idle.set(kindOf(options), bed);
};

/** One test bed for all tests of the calling suite. Returns its accessor. */
const sharedTestbed = (options: SuiteBed = {}): () => Testbed => {
  let bed: Testbed | undefined;
  beforeAll(async () => {
    bed = await taken(options);
  }, START_TIMEOUT_MS);
  // deno-lint-ignore no-empty-pattern -- vitest takes no other pattern for what is not used.
  afterAll(async ({}, suite) => {
    if (bed === undefined) return;
    try {
      await expectRights(bed, suite);
    } finally {
      forgetAccounts(bed);
      await returned(bed, options);
      bed = undefined;
    }
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
const receiversProblem = await observabilityProblem();

/**
 * A suite with a test bed, which is as new and has the CRDs. The suites of one process use the same
 * one, one after another.
 */
export const describeWithTestbed = (
  title: string,
  options: SuiteBed,
  suite: (bed: () => Testbed) => void,
): void => describeUnless(bedProblem, title, () => suite(sharedTestbed(options)));

/** A suite that uses the programs of a test bed, such as kubectl, without a bed. */
export const describeWithBinaries = (title: string, suite: () => void): void =>
  describeUnless(bedProblem, title, suite);

/** A suite that asks programs of `tools/testbed/oracle`. */
export const describeWithGo = (title: string, suite: () => void): void =>
  describeUnless(toolchainProblem, title, suite);

/** A suite that uses promtool, Prometheus or the Collector. */
export const describeWithReceivers = (title: string, suite: () => void): void =>
  describeUnless(receiversProblem, title, suite);
