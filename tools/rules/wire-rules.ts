/** The rules of the protocol and of the custom resources. */
import type { RuleChapter } from './rule.ts';

const stream: RuleChapter = {
  title: 'The stream',
  intro: 'One bidirectional stream to the shard; nothing in the cluster listens for it.',
  rules: [
    {
      id: 'WIRE-01',
      says:
        'The operator dials. `Hello` with the cluster id and protocol version `v1alpha1` is the ' +
        'first frame of every stream.',
      shownBy: ['wire 1:'],
    },
    {
      id: 'WIRE-02',
      says: 'A roll-up is the complete demand of the cluster. A newer one replaces an older one ' +
        'that was not sent yet; one is outstanding at a time, so that an acknowledgement, which ' +
        'names nothing, belongs to exactly one.',
      shownBy: ['wire 2:'],
    },
    {
      id: 'WIRE-03',
      says: 'Replies wait in a queue of 256; when it is full the newest is dropped and counted. ' +
        'Roll-ups and replies never wait behind one another. Replies of an ended stream are gone.',
      shownBy: ['wire 3:'],
    },
    {
      id: 'WIRE-04',
      says:
        'The latest `NodeStateUpdate` of a machine counts; there is never more than one write ' +
        'under way for a machine.',
      shownBy: ['wire 4:'],
    },
    {
      id: 'WIRE-05',
      says:
        'Nothing is dialled before the list of CapacityRequests is complete, because an early ' +
        'roll-up would be an authoritative “nothing wanted”. While the API server is away the last ' +
        'known demand is sent on. A request that was good and turns bad keeps its last good ' +
        'reading until it is deleted.',
      shownBy: ['wire 5:'],
    },
    {
      id: 'WIRE-06',
      says: 'Keepalive pings are at least five minutes apart. A dead peer is noticed by the ' +
        'acknowledgement that does not come: after three intervals the stream is given up.',
      shownBy: ['wire 6:'],
    },
    {
      id: 'WIRE-07',
      says: 'Reconnects back off exponentially with jitter from 500 ms to 30 s; the first ' +
        'acknowledged roll-up of a stream resets the backoff.',
      shownBy: ['wire 7:'],
    },
    {
      id: 'WIRE-08',
      says: 'Without certificate flags the session is plaintext; with all three it is mutual TLS ' +
        '1.3 with exactly one `bigfleet://cluster/<cluster id>` URI in our certificate, checked ' +
        'before dialling. Files are read again when they change; a half-written rotation keeps the ' +
        'pair before it. Some flags without the others are an error at start.',
      shownBy: ['wire 8:'],
    },
    {
      id: 'WIRE-09',
      says: 'A bootstrap pull is answered on arrival, behind no write to the API server.',
      shownBy: ['wire 9:'],
    },
  ],
};

const messages: RuleChapter = {
  title: 'The messages',
  intro: 'Package `bigfleet.v1alpha1`, read and written by code generated from `proto/`.',
  rules: [
    {
      id: 'MSG-01',
      says: 'Every message is encoded and decoded to the byte as another implementation of ' +
        'Protocol Buffers does it.',
      shownBy: ['golden:'],
    },
    {
      id: 'MSG-02',
      says: 'Field numbers, names and types never change: the committed baseline is ' +
        'compared at each check.',
      shownBy: ['proto:'],
    },
    {
      id: 'MSG-03',
      says: 'Bytes that are no message, unknown enum values, empty machine ids and ' +
        'oversized label maps neither crash nor wedge the session; what was wrong is ' +
        'logged and counted.',
      shownBy: ['frames:'],
    },
    {
      id: 'MSG-04',
      says: 'Frames of up to 256 MiB pass in both directions; a roll-up above it is not ' +
        'sent and is reported with its size and what made it big.',
      shownBy: ['rollup frame:'],
    },
  ],
};

const demand: RuleChapter = {
  title: 'Demand',
  intro: 'What a roll-up is made of.',
  rules: [
    {
      id: 'DEM-01',
      says: 'Quantities are added exactly and printed as Kubernetes prints them; the sum ' +
        'has the format of its first operand that is not zero; parsing rounds up to ' +
        'nano.',
      shownBy: ['quantity:'],
    },
    {
      id: 'DEM-02',
      says: 'A penalty in dollars is rounded up to its bucket; no penalty is bucket 0, ' +
        'which is not the bucket of $0; more than $8,388,608 is pinned; a negative one ' +
        'is unreadable.',
      shownBy: ['penalty:'],
    },
    {
      id: 'DEM-03',
      says: 'Requests are added up per requirements, priority, spread, both buckets and ' +
        'group: the sum in `aggregate_resources`, the largest of each resource in ' +
        '`min_unit`.',
      shownBy: ['demand:'],
    },
    {
      id: 'DEM-04',
      says: 'Co-located requests of one namespace with the same topology key and selector ' +
        'share a group and get one `Same` requirement; other groups stay apart.',
      shownBy: ['group:'],
    },
    {
      id: 'DEM-05',
      says: 'Spread that says ScheduleAnyway is dropped.',
      shownBy: ['spread:'],
    },
    {
      id: 'DEM-06',
      says: 'A request that cannot be read is left out (or keeps its last good reading), ' +
        'counted, and gets one Warning that names the field; all others go up.',
      shownBy: ['reading:', 'unreadable:'],
    },
    {
      id: 'DEM-07',
      says: 'Requests of an acknowledged roll-up whose phase is empty or Pending become ' +
        'Acknowledged, with the time in the same patch, one patch each, never twice, ' +
        'never in the way of the next roll-up.',
      shownBy: ['acknowledgements:'],
    },
  ],
};

const machines: RuleChapter = {
  title: 'Machines',
  intro: 'One UpcomingNode for each machine of ours, and one writer for each UpcomingNode.',
  rules: [
    {
      id: 'UPN-01',
      says: 'Each state of a machine has its phase.',
      shownBy: ['wire phases:'],
    },
    {
      id: 'UPN-02',
      says: 'What was not replayed by the first acknowledged roll-up of a stream is stale ' +
        'and deleted then; never on silence, never before.',
      shownBy: ['wire resync:'],
    },
    {
      id: 'UPN-03',
      says: "The Node of a machine is found by provider id, then by the machine's name, " +
        'then by label, then by the name in the entry; `nodeRef` is ours to fill.',
      shownBy: ['node matching:'],
    },
    {
      id: 'UPN-04',
      says: '`UpcomingNode` is named `un-<machine id>`, or by a hash when that is no DNS ' +
        'name; the annotation `bigfleet.lucy.sh/machine-id` holds the id.',
      shownBy: ['names:'],
    },
    {
      id: 'UPN-05',
      says: 'Nothing is written when nothing changed, `provisioningStartTime` is set once, ' +
        'and a write that fails is retried until it lands or a newer frame replaces it.',
      shownBy: ['upcomingNodes:'],
    },
    {
      id: 'UPN-06',
      says: 'The latest frame of each machine is written, 32 machines at a time, and the ' +
        'end of a burst is never lost.',
      shownBy: ['latestPerKey:'],
    },
    {
      id: 'AVC-01',
      says: '`AvailableCapacity` is named by the hash of its key, carries its cost, and is ' +
        'deleted when nothing is left and the confidence is none.',
      shownBy: ['availableCapacities:'],
    },
    {
      id: 'REC-01',
      says: 'A reclaim instruction is logged and counted; it is not acknowledged yet.',
      shownBy: ['reclaim:'],
    },
  ],
};

const bootstrap: RuleChapter = {
  title: 'Bootstrap',
  intro: 'What a machine is given to join the cluster.',
  rules: [
    {
      id: 'BOOT-01',
      says: "The template has the syntax and functions of Go's `text/template`; output and " +
        "errors are those of Go's own engine, line included.",
      shownBy: ['template:'],
    },
    {
      id: 'BOOT-02',
      says: 'Without a file a stub is given; a render error goes into `error`; the blob ' +
        'lives 600 seconds.',
      shownBy: ['bootstrap:'],
    },
    {
      id: 'BOOT-03',
      says: 'A bad template at start is an error with line and column. The file is read ' +
        'again when it changes, and a bad one keeps the last good one.',
      shownBy: ['bootstrap file:'],
    },
  ],
};

const resources: RuleChapter = {
  title: 'Custom resources',
  intro: 'Group `bigfleet.lucy.sh`, version `v1alpha1`.',
  rules: [
    {
      id: 'CRD-01',
      says: 'The manifests are made from the schemas and accepted by the API server, with ' +
        'their scopes, short names, columns, category and status subresource.',
      shownBy: ['crd:'],
    },
    {
      id: 'CRD-02',
      says: 'CapacityRequests can be selected by `status.phase`.',
      shownBy: ['crd selectable:'],
    },
  ],
};

const cluster: RuleChapter = {
  title: 'The cluster',
  intro: 'How the API server is read and written.',
  rules: [
    {
      id: 'CLU-01',
      says: 'Caches page their lists, keep bookmarks, resume after an end of stream without ' +
        'a list, list again after 410, notice idleness themselves and back off with ' +
        'full jitter.',
      shownBy: ['reflector:'],
    },
    {
      id: 'CLU-02',
      says: 'Only the holder of the Lease writes. Nothing leaves after the renew deadline; ' +
        'the lease is released on SIGTERM and a standby starts at once.',
      shownBy: ['DR-15'],
    },
    {
      id: 'CLU-03',
      says: 'All writes share one budget in classes; a higher class never waits behind a ' +
        'lower one.',
      shownBy: ['write budget:'],
    },
  ],
};

const shard: RuleChapter = {
  title: 'What the stand-in fleet plays',
  intro: 'The behaviours of the real shard that the tests run against.',
  rules: [
    {
      id: 'FLT-01',
      says: 'It acks `hello` and `rollup` only; a rejected or superseded roll-up gets no ' +
        'answer; a sudden drop of demand is believed after three roll-ups in a row.',
      shownBy: ['fleet rollup:'],
    },
    {
      id: 'FLT-02',
      says: 'On connect it replays every machine bound to the cluster before it reads on.',
      shownBy: ['fleet resync:'],
    },
    {
      id: 'FLT-03',
      says: 'A second session of the same cluster mutes the first.',
      shownBy: ['fleet sessions:'],
    },
    {
      id: 'FLT-04',
      says: 'A bootstrap pull waits up to 30 s: an error fails the machine, silence rolls ' +
        'it back.',
      shownBy: ['fleet bootstrap:'],
    },
    {
      id: 'FLT-05',
      says: 'Reclaim names one machine id, is never repeated, and its ack is not waited ' +
        'for.',
      shownBy: ['fleet reclaim:'],
    },
    {
      id: 'FLT-06',
      says: 'A certificate without exactly one matching URI is refused.',
      shownBy: ['fleet tls:'],
    },
  ],
};

/** The chapters of the reference page. */
export const wireChapters: readonly RuleChapter[] = [
  stream,
  messages,
  demand,
  machines,
  bootstrap,
  resources,
  cluster,
  shard,
];
