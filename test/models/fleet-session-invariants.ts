/**
 * What each event means to the session with the shard, told by the wire and not by its statechart.
 *
 * Promises: holds on every step of the pure statechart and of the live actor.
 */
import { valueAt } from '../../src/domain/json.ts';
import type { FleetSessionContext } from '../../src/machines/fleet-session-context.ts';
import type { Step } from './harness/interpreter.ts';
import { follows, isTimer, type Line, must } from './harness/step-invariants.ts';

type Condition = NonNullable<Line['when']>;

const knows = (holds: (context: FleetSessionContext) => boolean): Condition => ({ after }) =>
  holds(after.context);
const isUsable = knows(({ credentials }) =>
  credentials === 'Unneeded' || credentials === 'Accepted'
);
const isRefused = knows(({ credentials }) => credentials === 'Refused');
const RENEWING = 'connected.renewing';
const isListed = knows(({ demandListed }) => demandListed);

const STREAMING = 'connected.streaming';
const AWAITING = `${STREAMING}.rollup.awaitingAck`;
const REPLAYING = `${STREAMING}.resync.replaying`;
const GAP = `${STREAMING}.resync.replayGap`;
const DIALS = { to: 'connected.dialling', does: ['invoke:holdStream'] };
const REDIALS = { to: 'connected.redialling', does: ['invoke:holdStream'] };
const GIVES_UP = { to: 'refused', does: ['recordEnding', 'recordRefused'] };

const OUTAGE_MS = 30_000;
const OUTAGES: ReadonlySet<string> = new Set([
  ...['Unreachable', 'EndedByShard', 'DialOverdue', 'HelloOverdue'],
]);
/** The waits of this term add up to an outage, and the last end is one of the network. */
const isOutage = knows(({ ending: last, waitedMs }) =>
  last !== null && OUTAGES.has(last.why) && waitedMs >= OUTAGE_MS
);
const both = (left: Condition, right: Condition): Condition => (step) => left(step) && right(step);

/** Who may dial does: with usable credentials, and not with refused ones. */
const dialling = (on: string, from: readonly string[]): readonly Line[] => [
  { on, from, when: both(isUsable, isOutage), ...REDIALS },
  { on, from, when: isUsable, ...DIALS },
  { on, from, when: isRefused, ...GIVES_UP },
  { on, from, to: 'waitingForCredentials' },
];

/** The end is published where a stream was dialled, and where it was open. */
const ENDED = 'publishStreamEnded';

/** The end of a stream that is renewed is no failure: the next dial follows at once. */
const renewal = (on: string): readonly Line[] =>
  dialling(on, [RENEWING]).map((line) => ({ ...line, does: [ENDED, ...line.does ?? []] }));

/** A stream that ended is dialled again after a backoff; an outage is recorded. */
const backsOff = (
  line: Omit<Line, 'to' | 'does'>,
  does: readonly string[] = [],
): readonly Line[] => [
  {
    ...line,
    when: isOutage,
    to: 'unreachable',
    does: [...does, 'recordEnding', 'recordUnreachable'],
  },
  { ...line, to: 'backingOff', does: [...does, 'recordEnding'] },
];

/** What leads out of a stream, or out of the part of it that sends roll-ups. */
const ending = (line: Line, leaves = true): readonly Line[] => {
  const { does = [] } = line;
  const left = leaves ? [ENDED] : [];
  const inside = (line.from ?? ['connected']).filter((state) => state.startsWith('connected'));
  return [
    { ...line, from: [STREAMING], does: [...left, ...does] },
    { ...line, from: inside, does: [...left, ...does] },
    line,
  ];
};

const acknowledged = (resync: string, to: string, further: readonly string[]): Line => ({
  on: 'rollup.acknowledged',
  from: [AWAITING],
  when: ({ before }) => before.matches(resync),
  to,
  does: ['recordRollupAcknowledged', ...further, 'requestRollup'],
});

const needsPerson: Condition = ({ event }) => valueAt(event['output'], 'why') === 'RefusedByShard';

const transitions = follows([
  { on: 'xstate.init', to: 'standby' },
  ...dialling('leadership.won', ['standby'])
    .map((line): Line => ({
      ...line,
      when: (step) => isListed(step) && line.when?.(step) !== false,
    })),
  { on: 'leadership.won', from: ['standby'], to: 'waitingForDemand' },
  ...dialling('demand.listed', ['waitingForDemand']),
  { on: 'credentials.accepted', from: ['refused'], when: isOutage, ...REDIALS },
  { on: 'credentials.accepted', from: ['waitingForCredentials', 'refused'], ...DIALS },
  { on: 'credentials.refused', from: ['waitingForCredentials', 'refused'], ...GIVES_UP },
  { on: 'leadership.lost', from: ['connected.stopping'] },
  ...ending({ on: 'leadership.lost', to: 'standby' }),
  { on: 'stop.requested', from: ['connected.stopping'] },
  { on: 'stop.requested', from: [RENEWING], to: 'connected.stopping', does: ['closeSending'] },
  {
    on: 'stop.requested',
    from: ['connected.dialling', 'connected.redialling'],
    to: 'stopped',
    does: [ENDED],
  },
  ...ending({
    on: 'stop.requested',
    from: ['connected.streaming', 'connected.greeting'],
    to: 'connected.stopping',
    does: ['closeSending'],
  }, false),
  { on: 'stop.requested', to: 'stopped' },
  { on: 'credentials.accepted', from: [STREAMING], to: `${STREAMING}.keyPair.replaced` },
  {
    on: 'after renewalDelay',
    from: [`${STREAMING}.keyPair.replaced`],
    to: RENEWING,
    does: ['recordRenewal', 'closeSending'],
  },
  ...renewal('xstate.done.actor.holdStream'),
  ...renewal('xstate.error.actor.holdStream'),
  ...renewal('after stopGrace'),
  {
    on: 'xstate.done.actor.holdStream',
    from: ['connected.stopping'],
    to: 'stopped',
    does: [ENDED],
  },
  {
    on: 'xstate.error.actor.holdStream',
    from: ['connected.stopping'],
    to: 'stopped',
    does: [ENDED],
  },
  ...ending({ on: 'xstate.done.actor.holdStream', when: needsPerson, ...GIVES_UP }),
  ...backsOff({ on: 'xstate.done.actor.holdStream' }).flatMap((line) => ending(line)),
  ...ending({ on: 'xstate.error.actor.holdStream', to: 'backingOff', does: ['recordEnding'] }),
  ...backsOff({ on: 'after dialDeadline' }, [ENDED]),
  ...backsOff({ on: 'after helloDeadline' }, [ENDED]),
  {
    on: 'after rollupAckDeadline',
    to: 'overdue',
    does: [ENDED, 'recordRollupOverdue', 'recordEnding'],
  },
  { on: 'after stopGrace', to: 'stopped', does: [ENDED] },
  {
    on: 'stream.connected',
    from: ['connected.dialling', 'connected.redialling'],
    to: 'connected.greeting.intact',
    does: ['setConnected'],
  },
  {
    on: 'hello.acknowledged',
    from: ['connected.greeting.intact'],
    to: REPLAYING,
    does: ['publishOpened', 'requestRollup'],
  },
  {
    on: 'hello.acknowledged',
    from: ['connected.greeting.replayGap'],
    to: GAP,
    does: ['publishOpened', 'requestRollup'],
  },
  { on: 'frame.malformed', from: ['connected.greeting'], to: 'connected.greeting.replayGap' },
  { on: 'frame.malformed', from: [REPLAYING], to: GAP },
  { on: 'rollup.sent', from: [`${STREAMING}.rollup.idle`], to: AWAITING },
  acknowledged(REPLAYING, `${STREAMING}.resync.resynced`, ['recordReachable', 'publishResynced']),
  // WIRE-07: a replay with a gap proves no absence.
  acknowledged(GAP, `${STREAMING}.resync.unproven`, ['recordReachable', 'publishUnproven']),
  {
    on: 'rollup.acknowledged',
    from: [AWAITING],
    to: `${STREAMING}.rollup.idle`,
    does: ['recordRollupAcknowledged', 'requestRollup'],
  },
  ...dialling('after reconnectBackoff', ['backingOff', 'overdue', 'unreachable']),
  { on: 'after refusalBackoff', from: ['refused'], when: isUsable, ...DIALS },
  // Its Event expires, and nothing was tried that ended.
  { on: 'after refusalBackoff', from: ['refused'], to: 'refused', does: ['recordRefused'] },
]);

/** Events after which a fact is known. */
const FACTS: Readonly<Record<string, (context: FleetSessionContext) => boolean>> = {
  'leadership.won': ({ leading }) => leading,
  'leadership.lost': ({ leading, demandListed }) => !leading && !demandListed,
  'demand.listed': ({ demandListed }) => demandListed,
  'credentials.accepted': ({ credentials }) => credentials === 'Accepted',
  'credentials.refused': ({ credentials, ending: last }) =>
    credentials === 'Refused' && last?.why === 'CredentialsRefused',
};

/** Why a stream ended, by the event that ended it. */
const causeOf = (step: Step): unknown => {
  const { event } = step;
  if (step.before.matches(RENEWING)) return undefined;
  if (isTimer(step, 'dialDeadline')) return 'DialOverdue';
  if (isTimer(step, 'helloDeadline')) return 'HelloOverdue';
  if (isTimer(step, 'rollupAckDeadline')) return 'RollupOverdue';
  if (event.type === 'xstate.error.actor.holdStream') return 'Defect';
  return event.type === 'xstate.done.actor.holdStream'
    ? valueAt(event['output'], 'why')
    : undefined;
};

const remembers = (step: Step): void => {
  const { event, before, after, actions } = step;
  const context: FleetSessionContext = after.context;
  must(FACTS[event.type]?.(context) !== false, `"${event.type}" is known after it was received`);
  const cause = causeOf(step);
  if (cause !== undefined && after.status === 'active') {
    must(context.ending?.why === cause, 'an end has its cause');
    must(context.attempt === before.context.attempt + 1, 'every end makes the backoff longer');
  }
  if (actions.includes('publishResynced') || actions.includes('publishUnproven')) {
    must(context.attempt === 0, 'the first ack resets the backoff');
    must(context.waitedMs === 0, 'the first ack ends an outage');
  }
  if (event.type === 'leadership.lost') {
    must(context.waitedMs === 0, 'an outage is of one term');
    must(
      context.ending?.why !== 'RefusedByShard' || context.credentials === 'Refused',
      'a refusal too',
    );
  }
  if (isTimer(step, 'reconnectBackoff')) {
    must(context.waitedMs > before.context.waitedMs, 'a backoff counts as an outage');
  }
  const dials = actions.includes('invoke:holdStream');
  if (dials) must(!context.pairReplaced, 'a dial takes the newest key pair');
  else if (event.type === 'credentials.accepted') must(context.pairReplaced, 'a pair is replaced');
  must(context.stream === before.context.stream + (dials ? 1 : 0), 'each dial has a number');
  if (event.type === 'frames.received' && before.matches(AWAITING)) {
    const isReplaying = before.matches(REPLAYING) || before.matches(GAP);
    must(actions.includes('xstate.cancel') === isReplaying, 'a replay extends the deadline');
  }
};

/** The law of each step of a session. */
export const sessionMoves = (step: Step): void => {
  transitions(step);
  remembers(step);
};
