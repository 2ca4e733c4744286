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

/** The chapters of the reference page. */
export const wireChapters: readonly RuleChapter[] = [stream];
