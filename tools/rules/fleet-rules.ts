/** What the stand-in fleet plays. */
import type { RuleChapter } from './rule.ts';

const fleet: RuleChapter = {
  title: 'What the stand-in fleet plays',
  intro: 'The behaviours of the real shard that everything above is tested against.',
  rules: [
    {
      id: 'FLT-01',
      text: 'A stream that does not begin with `Hello` is refused; a live frame may precede ' +
        'its acknowledgement; every machine of the cluster is replayed before the shard ' +
        'reads on.',
      shownBy: [
        'refuses a stream that does not begin with hello',
        'may send a live frame',
        'acks hello, replays every machine',
      ],
    },
    {
      id: 'FLT-02',
      text: 'Roll-ups: a rejected or superseded one gets no answer; a sudden fall below a ' +
        'tenth is believed the third time in a row.',
      shownBy: ['packages/stand-in-fleet/test/rollups.test.ts'],
    },
    {
      id: 'FLT-03',
      text: 'A second session of a cluster mutes the first without telling it.',
      shownBy: ['that comes second mutes the first'],
    },
    {
      id: 'FLT-04',
      text: 'A bootstrap pull waits 30 s: an error fails the machine, silence makes it idle ' +
        'and a new pull follows.',
      shownBy: ['whose pull is'],
    },
    {
      id: 'FLT-05',
      text: 'Reclaim names one machine, once, with 600 s, or less by priority gap for ' +
        'preemption; the drain starts at once and no acknowledgement is waited for.',
      shownBy: ['reclaims what shrunken demand', 'begins the drain at once', 'preempts'],
    },
    {
      id: 'FLT-06',
      text: 'A certificate without exactly one matching URI is refused.',
      shownBy: [
        'serves the cluster that its certificate names',
        'serves nobody without a certificate',
      ],
    },
    {
      id: 'FLT-07',
      text: 'It writes frames in step: a reader that stalls holds up its decisions.',
      shownBy: ['that stalls holds up'],
    },
    {
      id: 'FLT-08',
      text: 'It keeps its bindings in a file and comes back from a kill with them.',
      shownBy: ['outlive a killed fleet', 'comes back with its machines'],
    },
    {
      id: 'FLT-09',
      text: 'Its reading of the contract is its own, and agrees with the operator’s.',
      shownBy: ['test/unit/proto/two-readings.test.ts'],
    },
    {
      id: 'FLT-10',
      text: 'What it accepted can be asked with `InspectNeeds`.',
      shownBy: ['that is good counts, is acked, and shows in InspectNeeds'],
    },
  ],
};

/** Chapters of the reference page. */
export const fleetChapters: readonly RuleChapter[] = [fleet];
