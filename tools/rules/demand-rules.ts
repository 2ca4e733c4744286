/** The rules of demand and bootstrap. */
import type { RuleChapter } from './rule.ts';

const demand: RuleChapter = {
  title: 'Demand',
  intro: 'What a roll-up is made of.',
  rules: [
    {
      id: 'DEM-01',
      text: 'Quantities are added exactly and printed as Kubernetes prints them; a sum has ' +
        'the format of its first operand that is not zero; what is finer than a nano is ' +
        'rounded away from zero.',
      shownBy: ['quantity:'],
    },
    {
      id: 'DEM-02',
      text: 'A penalty in dollars is rounded up to its bucket. No penalty is bucket 0, which ' +
        'is not the bucket of $0; more than $8,388,608 is pinned; a negative one is ' +
        'unreadable.',
      shownBy: ['penalty:'],
    },
    {
      id: 'DEM-03',
      text: 'Requests are added up per requirements, priority, spread, both buckets and ' +
        'group: the sum in `aggregate_resources`, the largest of each resource in ' +
        '`min_unit`.',
      shownBy: ['demand:'],
    },
    {
      id: 'DEM-04',
      text: 'Co-located requests of one namespace with the same topology key and selector ' +
        'share a group and get one `Same` requirement; other groups stay apart.',
      shownBy: ['group:'],
    },
    {
      id: 'DEM-05',
      text: 'Spread that says ScheduleAnyway is dropped.',
      shownBy: ['spread:'],
    },
    {
      id: 'DEM-06',
      text: 'A request that cannot be read is left out (or keeps its last good reading), ' +
        'counted, and gets one Warning that names the field and the remedy; all others go ' +
        'up.',
      shownBy: [
        'reading:',
        'wire 2: a request that cannot be read',
        'wire 2: leaves bad requests out',
      ],
    },
    {
      id: 'DEM-07',
      text: 'Demand that is kept as requests change is the demand that a recomputation gives.',
      shownBy: ['demand: after any story'],
    },
    {
      id: 'DEM-08',
      text: 'Requests of an acknowledged roll-up whose phase is empty or Pending become ' +
        'Acknowledged, one patch each, so many at once, never twice, never in the way of ' +
        'the next roll-up; one that is gone is nobody’s business.',
      shownBy: [
        'wire 2: requests become Acknowledged',
        'no request is acknowledged twice',
        'as many as allowed go at once',
        'a request that is gone',
      ],
    },
    {
      id: 'DEM-09',
      text: 'The key of free capacity is the fingerprint of its profile.',
      shownBy: ['fingerprint:', 'of a GPU profile is the golden one'],
    },
  ],
};

const bootstrap: RuleChapter = {
  title: 'Bootstrap',
  intro: 'What a machine is given to join the cluster.',
  rules: [
    {
      id: 'BOOT-01',
      text: 'The template has the syntax and functions of Go’s `text/template`; output and ' +
        'errors are those of Go’s own engine, line included.',
      shownBy: ['packages/go-template/test/corpus.test.ts', 'test/integration/templates.test.ts'],
    },
    {
      id: 'BOOT-02',
      text: 'A template cannot hang the operator: depth, work and output have limits.',
      shownBy: [
        'packages/go-template/test/limits.test.ts',
        'packages/go-template/test/fuzz.test.ts',
      ],
    },
    {
      id: 'BOOT-03',
      text: 'Without a file a `#cloud-config` stub is given; a render error goes into ' +
        '`error`.',
      shownBy: ['test/unit/domain/bootstrap.test.ts'],
    },
    {
      id: 'BOOT-04',
      text: 'A bad template at start is an error with line and column. The file is read again ' +
        'when it changes, and a bad one keeps the last good one.',
      shownBy: ['bootstrap file:'],
    },
  ],
};

/** Chapters of the reference page. */
export const demandChapters: readonly RuleChapter[] = [demand, bootstrap];
