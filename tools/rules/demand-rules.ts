/** The rules of demand and bootstrap. */
import type { RuleChapter } from './rule.ts';

const demand: RuleChapter = {
  title: 'Demand',
  intro: 'The contents of a roll-up.',
  rules: [
    {
      id: 'DEM-01',
      text: 'Quantities are added exactly and printed as Kubernetes prints them; a sum has ' +
        'the format of its first operand that is not zero; values finer than a nano are ' +
        'rounded away from zero.',
      testedBy: ['quantity:'],
    },
    {
      id: 'DEM-02',
      text: 'A penalty in dollars is rounded up to its bucket. No penalty is bucket 0, which ' +
        'is not the bucket of $0; more than $8,388,608 is pinned; a negative one is ' +
        'invalid.',
      testedBy: ['penalty:'],
    },
    {
      id: 'DEM-03',
      text: 'Requests are added up per requirements, priority, spread, both buckets and ' +
        'group: the sum in `aggregate_resources`, the largest of each resource in ' +
        '`min_unit`.',
      testedBy: ['demand:'],
    },
    {
      id: 'DEM-04',
      text: 'Co-located requests of one namespace with the same topology key and selector ' +
        'share a group and get one `Same` requirement; other groups stay apart.',
      testedBy: ['group:'],
    },
    {
      id: 'DEM-05',
      text: 'ScheduleAnyway spread constraints are dropped.',
      testedBy: ['spread:'],
    },
    {
      id: 'DEM-06',
      text: 'An invalid request is excluded (or keeps its last valid version), counted, and gets ' +
        'one Warning that names the field and the remedy; all others are reported.',
      testedBy: [
        'reading:',
        'wire 2: an invalid request is excluded, counted and recorded once',
        'wire 2: excludes invalid requests with a Warning each, and reports the others',
      ],
    },
    {
      id: 'DEM-07',
      text: 'Incrementally maintained demand equals recomputed demand.',
      testedBy: ['demand: after any sequence it equals demand computed from scratch'],
    },
    {
      id: 'DEM-08',
      text: 'Requests of an acknowledged roll-up whose phase is empty or Pending become ' +
        'Acknowledged, with one patch each and limited concurrency, never twice, and without ' +
        'delaying the next roll-up; a deleted request is ignored. The condition `Acknowledged` ' +
        'is in the same patch; after a change of the spec one more patch renews its ' +
        'generation. One that stays without a phase for a roll-up interval becomes Pending, ' +
        'two at once, with a precondition on its version, so that an acknowledgement is never ' +
        'replaced. An upgrade writes no condition by itself.',
      testedBy: [
        'wire 2: requests become Acknowledged',
        'no request is acknowledged twice',
        'the concurrency is limited, and roll-ups continue meanwhile',
        'a request that is gone',
        'becomes Pending',
        'a changed request is acknowledged again',
        'an upgrade writes no request',
        'the condition Acknowledged',
      ],
    },
    {
      id: 'DEM-09',
      text: 'The key of free capacity is the fingerprint of its profile.',
      testedBy: ['fingerprint:', 'of a GPU profile is the golden one'],
    },
    {
      id: 'DEM-10',
      text: 'The size of a CapacityRequest is bounded: 64 resources, 100 requirements of 1,000 ' +
        'values, 100 labels, 32 spreads, texts of 317 characters, quantities of 64, and 128 KiB ' +
        'in all. A larger one is not read, and its own Event says so.',
      testedBy: ['may reach the bound of', 'wire 2: a request that is too large'],
    },
  ],
};

const bootstrap: RuleChapter = {
  title: 'Bootstrap',
  intro: 'The bootstrap data with which a machine joins the cluster.',
  rules: [
    {
      id: 'BOOT-01',
      text: 'The template has the syntax and functions of Go’s `text/template`; output and ' +
        'errors are those of Go’s own engine, line included.',
      testedBy: ['packages/go-template/test/corpus.test.ts', 'test/integration/templates.test.ts'],
    },
    {
      id: 'BOOT-02',
      text: 'A template cannot hang the operator: depth, work and output have limits.',
      testedBy: [
        'packages/go-template/test/limits.test.ts',
        'packages/go-template/test/fuzz.test.ts',
      ],
    },
    {
      id: 'BOOT-03',
      text: 'Without a file the answer is a `#cloud-config` stub; a render error is sent in ' +
        '`error`.',
      testedBy: ['test/unit/domain/bootstrap.test.ts'],
    },
    {
      id: 'BOOT-04',
      text: 'An invalid template at start is an error with line and column. The file is reloaded ' +
        'when it changes; an invalid one keeps the last valid one.',
      testedBy: ['bootstrap file:'],
    },
  ],
};

/** Chapters of the reference page. */
export const demandChapters: readonly RuleChapter[] = [demand, bootstrap];
