/** The rules of the stand-in fleet. */
import type { RuleChapter } from './rule.ts';

const fleet: RuleChapter = {
  title: 'The stand-in fleet',
  intro: 'The behaviour of the real shard, which the tests of all rules above rely on.',
  rules: [
    {
      id: 'FLT-01',
      text: 'A stream that does not begin with `Hello` is refused; a live frame may precede ' +
        'its acknowledgement; every machine of the cluster is replayed before the shard ' +
        'reads on.',
      testedBy: [
        'refuses a stream that does not begin with hello',
        'may send a live frame',
        'acks hello, replays every machine',
      ],
    },
    {
      id: 'FLT-02',
      text: 'Roll-ups: a rejected or superseded one gets no answer; a sudden drop below a ' +
        'tenth is accepted the third time in a row.',
      testedBy: ['packages/stand-in-fleet/test/rollups.test.ts'],
    },
    {
      id: 'FLT-03',
      text: 'A second session of a cluster mutes the first without a frame.',
      testedBy: ['that comes second mutes the first'],
    },
    {
      id: 'FLT-04',
      text: 'A bootstrap pull waits 30 s: an error fails the machine, a timeout makes it idle ' +
        'and a new pull follows.',
      testedBy: ['whose pull is'],
    },
    {
      id: 'FLT-05',
      text: 'Reclaim names one machine, once, with 600 s, or less by priority gap for ' +
        'preemption; the drain starts at once, without waiting for an acknowledgement.',
      testedBy: ['reclaims what shrunken demand', 'begins the drain at once', 'preempts'],
    },
    {
      id: 'FLT-06',
      text: 'A certificate without exactly one matching URI is refused.',
      testedBy: [
        'serves the cluster that its certificate names',
        'refuses clients without a certificate',
      ],
    },
    {
      id: 'FLT-07',
      text: 'It writes frames synchronously: a stalled reader delays its decisions.',
      testedBy: ['that stalls holds up'],
    },
    {
      id: 'FLT-08',
      text: 'It keeps its bindings in a file and restores them after a kill.',
      testedBy: ['outlive a killed fleet', 'restores its machines'],
    },
    {
      id: 'FLT-09',
      text: 'Its implementation of the contract is independent, and agrees with the operator’s.',
      testedBy: ['test/unit/proto/two-readings.test.ts'],
    },
    {
      id: 'FLT-10',
      text: '`InspectNeeds` returns the accepted demand.',
      testedBy: ['that is good counts, is acked, and shows in InspectNeeds'],
    },
  ],
};

/** Chapters of the reference page. */
export const fleetChapters: readonly RuleChapter[] = [fleet];
