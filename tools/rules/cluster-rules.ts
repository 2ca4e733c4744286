/** The rules of reading and writing the cluster. */
import type { RuleChapter } from './rule.ts';

const cluster: RuleChapter = {
  title: 'The cluster',
  intro: 'How the API server is read and written.',
  rules: [
    {
      id: 'CLU-01',
      text:
        'Caches list in pages and publish complete lists only; they keep bookmarks, resume after ' +
        'the end of a stream without a list, list again after 410, detect idle watches and back ' +
        'off with jitter.',
      testedBy: [
        'test/unit/actors/reflector.test.ts',
        'test/unit/effects/watches.test.ts',
        'test/integration/reflector.test.ts',
      ],
    },
    {
      id: 'CLU-02',
      text: 'Only the holder of the Lease writes. No request is sent after the renew deadline; ' +
        'the lease is released on SIGTERM and a standby starts at once; a process that loses it ' +
        'becomes a candidate again.',
      testedBy: ['DR-15'],
    },
    {
      id: 'CLU-03',
      text: 'All writes share one budget with priority classes; a higher class goes first.',
      testedBy: [
        'DR-36: a higher class goes first, and a class is FIFO',
        'DR-36: a storm of phases leaves every fourth write to evictions',
        'lets a burst through at once',
      ],
    },
    {
      id: 'CLU-04',
      text: 'A cluster older than Kubernetes 1.31 is an error at start.',
      testedBy: [
        'is refused with one sentence when it is older',
        'exits with 1 and one sentence on a cluster older than 1.31, and sends nothing more',
      ],
    },
    {
      id: 'CLU-05',
      text:
        'Flags are a superset of those of BigFleet’s operator and pod controller; an invalid one ' +
        'exits with 2 and one line; flags without a command mean `operator`.',
      testedBy: [
        'test/unit/settings/settings.test.ts',
        'its metrics have the port of the Go pod controller',
        'flags without a command mean the operator, as an image swap requires',
        'exit code 2',
      ],
    },
    {
      id: 'CLU-06',
      text:
        'Probes work without metrics; `/readyz` names what is not ready. A collection that the ' +
        'API server refuses later is one Event on the Lease for each incident.',
      testedBy: [
        'test/unit/observability/servers.test.ts',
        'records on the Lease that a collection is refused, once per incident and as leader',
      ],
    },
  ],
};

/** Chapters of the reference page. */
export const clusterChapters: readonly RuleChapter[] = [cluster];
