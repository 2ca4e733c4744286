/** The rules of the stream and its messages. */
import type { RuleChapter } from './rule.ts';

const stream: RuleChapter = {
  title: 'The stream',
  intro: 'One bidirectional stream to the shard; nothing in the cluster listens for it.',
  rules: [
    {
      id: 'WIRE-01',
      text: 'The operator dials. `Hello`, with the cluster id and protocol version ' +
        '`v1alpha1`, is the first frame of every stream. Frames that arrive before its ' +
        'acknowledgement are processed.',
      testedBy: ['wire 1:'],
    },
    {
      id: 'WIRE-02',
      text: 'A roll-up is the complete demand of the cluster. A newer one replaces an older ' +
        'one that was not sent yet; one is outstanding at a time, so that an ' +
        'acknowledgement, which names nothing, belongs to exactly one; without an ' +
        'acknowledgement for three intervals the stream is closed, reported, and dialled ' +
        'again; until the replay is complete, each frame starts the three intervals anew. An ' +
        'invalid CapacityRequest is never part of it.',
      testedBy: ['wire 2:'],
    },
    {
      id: 'WIRE-03',
      text: 'Replies wait in a queue of 256; when it is full the newest is dropped and ' +
        'counted. Roll-ups and replies never wait behind one another. Replies of an ended ' +
        'stream are dropped.',
      testedBy: ['wire 3:'],
    },
    {
      id: 'WIRE-04',
      text: 'The latest frame of a machine counts; there is never more than one write in ' +
        'flight for a machine, and 32 machines are written concurrently.',
      testedBy: ['wire 4:'],
    },
    {
      id: 'WIRE-05',
      text: 'The shard is never sent less demand than the cluster wants. In each term nothing is ' +
        'dialled before the CapacityRequests were listed since the lease was won, and, with the ' +
        'pod controller in the process, pods and namespaces after them, before the watches that ' +
        'continue these lists are open, and before every pod in those lists has its request, ' +
        'needs none or cannot get one (for a minute at most). The same holds after every failed list or watch of one of them: until then the demand from ' +
        'before the failure is sent, and no request of a pod is written; `/readyz?verbose` shows ' +
        'why, with the collection. When the API server ' +
        'answers for one collection again, all that wait to retry do so at once. While the API ' +
        'server is away the last known demand is sent for as long as this process may lead; after ' +
        'that leadership is unknown, the session is closed, and the shard keeps the last demand. ' +
        'A valid request that becomes invalid keeps its last valid version until it is deleted. A ' +
        'new process does not know that version and leaves the request out; the Warning says so.',
      testedBy: ['wire 5:'],
    },
    {
      id: 'WIRE-06',
      text: 'Keepalive pings are further apart than a Go server’s minimum (five minutes). A ' +
        'dead peer is detected by a missing acknowledgement.',
      testedBy: ['wire 6:', 'throws a client out that pings more often'],
    },
    {
      id: 'WIRE-07',
      text: 'Reconnects back off with jitter from 500 ms to 30 s; the first acknowledged ' +
        'roll-up of a stream resets the backoff. When the waits of a term add up to half a ' +
        'minute, the outage is one Event `ShardUnreachable` on the Lease; a refusal is one Event ' +
        '`SessionRefused` at once. Either is repeated while it lasts, and that first ' +
        'acknowledgement is its end. The operator stays ready meanwhile, and `/readyz?verbose` ' +
        'shows the outage.',
      testedBy: ['wire 7:'],
    },
    {
      id: 'WIRE-08',
      text: 'With all three certificate flags the session is mutual TLS 1.3; without them the ' +
        'operator starts only with `--insecure-plaintext`, and reports that. Our certificate ' +
        'must have exactly one `bigfleet://` URI, which is `bigfleet://cluster/<cluster id>`, ' +
        'checked before dialling. Files are reloaded when they change; a half-written rotation ' +
        'keeps the pair before it; a new pair is in use within two minutes: the running stream ' +
        'is closed in order and dialled again with it. Some of the flags without the others ' +
        'are an error at start.',
      testedBy: ['wire 8:'],
    },
    {
      id: 'WIRE-09',
      text: 'A bootstrap pull is answered on arrival, before the next frame is processed and ' +
        'without waiting for a write to the API server.',
      testedBy: ['wire 9:'],
    },
    {
      id: 'WIRE-10',
      text: 'Only the acknowledgements `hello` and `rollup` exist; their term and epoch are ' +
        'logged and never acted on. The first `rollup` acknowledgement of a stream proves ' +
        'that its replay is complete.',
      testedBy: [
        'a stream completes a resync only with its first rollup ack',
        'after a cut the replay precedes the completed resync',
      ],
    },
    {
      id: 'WIRE-11',
      text: 'The session never stops reading, even while its writes are blocked; a flood of ' +
        'frames leaves turns of the event loop to everything else.',
      testedBy: [
        '20,000 frames are read while the shard reads nothing',
        'a flood of frames leaves turns',
      ],
    },
    {
      id: 'WIRE-12',
      text: 'A stop half-closes the stream, waits for the shard for less than half a second, ' +
        'and is final.',
      testedBy: ['a stop half-closes'],
    },
    {
      id: 'WIRE-13',
      text:
        'A reclaim instruction is published and counted; the session itself does not acknowledge ' +
        'it: the acknowledgement follows the cordons of its nodes (DR-11).',
      testedBy: ['a reclaim instruction is published, counted and not acked', 'DR-11'],
    },
    {
      id: 'WIRE-14',
      text:
        'Everything that the shard sends has a limit ([limits](reference/limits.md)): what is ' +
        'beyond it is left out, logged and counted, and costs nothing else. An oversized frame is ' +
        'not decoded, and a machine that it names stays bound.',
      testedBy: ['limits:'],
    },
  ],
};

const messages: RuleChapter = {
  title: 'The messages',
  intro: 'Package `bigfleet.v1alpha1`, read and written by code that is generated from `proto/`.',
  rules: [
    {
      id: 'MSG-01',
      text: 'Every message is read from and written to the bytes of another implementation of ' +
        'Protocol Buffers; unknown fields and values of a newer contract are tolerated.',
      testedBy: ['test/unit/proto/golden.test.ts'],
    },
    {
      id: 'MSG-02',
      text: 'Malformed messages, unknown enum values, empty machine ids and oversized label maps ' +
        'neither crash nor block the session; each is logged and counted.',
      testedBy: [
        'test/unit/session/frames.test.ts',
        'malformed frames neither crash nor block the session',
        'survives every malformed frame in one session, which continues to be acknowledged',
      ],
    },
    {
      id: 'MSG-03',
      text: 'A machine whose replayed frame was malformed is not collected as stale.',
      testedBy: [
        'test/unit/session/malformed-frames.test.ts',
        'a replay with a malformed frame completes no resync; the next stream may',
      ],
    },
    {
      id: 'MSG-04',
      text: 'Frames of up to 256 MiB pass in both directions; a roll-up above it is not sent ' +
        'and is reported with its size and the largest contributors.',
      testedBy: [
        'wire 2: a frame of 256 MiB is received',
        'wire 2: a frame of more than 256 MiB',
        'a roll-up over the frame limit',
      ],
    },
  ],
};

/** Chapters of the reference page. */
export const streamChapters: readonly RuleChapter[] = [stream, messages];
