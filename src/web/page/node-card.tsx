/** The card of a node on the drain board. */
import { DOT_STATES, type NodeCard, type PodDot } from '../../view/board/node-card.ts';
import { duration } from '../../view/duration.ts';
import { CardHeader } from './card-header.tsx';
import { nowMs } from './feed.ts';
import { counted } from './names.ts';
import { addressWith } from './route.ts';
import { VerdictLines } from './verdict-lines.tsx';

const HUNDRED = 100;

const podsText = ({ pods }: NodeCard): string =>
  DOT_STATES.filter((state) => pods[state] > 0).map((state) => `${pods[state]} ${state}`)
    .join(', ') || 'no pods must leave';

const left = ({ pods }: NodeCard): number => pods.blocked + pods.waiting + pods.terminating;

const dotTitle = ([key, state, reason]: PodDot): string =>
  `${key === '' ? 'a pod of a tier that waits' : key}: ${state}${
    reason === '' ? '' : `, ${reason}`
  }`;

const Dots = ({ card }: { readonly card: NodeCard }) => {
  const all = DOT_STATES.reduce((sum, state) => sum + card.pods[state], 0);
  const more = all - card.dots.length;
  if (all === 0) return null;
  return (
    <div class='dots' role='img' aria-label={`Pods: ${podsText(card)}`}>
      {card.dots.map((dot, at) => <i key={at} class={`dot ${dot[1]}`} title={dotTitle(dot)} />)}
      {more > 0 && <span class='more'>+{more.toLocaleString('en')}</span>}
    </div>
  );
};

/** How much of its time has passed, in percent. */
const passed = ({ startedMs, deadlineMs }: NodeCard, now: number): number =>
  deadlineMs === null || deadlineMs <= startedMs
    ? 0
    : Math.min(HUNDRED, Math.max(0, (now - startedMs) / (deadlineMs - startedMs) * HUNDRED));

const Deadline = ({ card }: { readonly card: NodeCard }) => {
  const now = nowMs.value;
  const { deadlineMs, endedMs, startedMs } = card;
  if (endedMs !== null) {
    return (
      <span class='deadline'>
        {duration(now - endedMs)} ago, after {duration(endedMs - startedMs)}
      </span>
    );
  }
  if (deadlineMs === null) {
    return <span class='deadline'>no deadline; for {duration(now - startedMs)}</span>;
  }
  return (
    <span class='deadline' title={new Date(deadlineMs).toISOString()}>
      {now < deadlineMs
        ? `${duration(deadlineMs - now)} left`
        : `deadline passed ${duration(now - deadlineMs)} ago`}
    </span>
  );
};

const TimeBar = ({ card }: { readonly card: NodeCard }) =>
  card.deadlineMs === null || card.endedMs !== null
    ? null
    : (
      <div class='time-bar' aria-hidden='true'>
        <svg viewBox='0 0 100 1' preserveAspectRatio='none'>
          <rect width={passed(card, nowMs.value)} height='1' />
        </svg>
      </div>
    );

/** A node that is drained; `brief` without its verdict. */
export const NodeCardView = ({ card, brief = false }: {
  readonly card: NodeCard;
  readonly brief?: boolean;
}) => (
  <article class={`card ${card.severity.toLowerCase()}`}>
    <CardHeader
      href={addressWith({ kind: 'nodeDrain', actor: card.id })}
      item={card.node}
      text={card.node}
      command={card.command}
    >
      <span class='badge'>{card.severity === 'Blocked' ? 'Blocked' : card.situation}</span>
      <Deadline card={card} />
    </CardHeader>
    {!brief && <TimeBar card={card} />}
    <Dots card={card} />
    <p class='count'>
      {left(card) === 0 && card.endedMs !== null
        ? podsText(card)
        : `${counted(left(card), 'pod')} left: ${podsText(card)}`}
    </p>
    {brief
      ? <p class='sentence'>{card.verdict.sentence}.</p>
      : <VerdictLines verdict={card.verdict} />}
  </article>
);
