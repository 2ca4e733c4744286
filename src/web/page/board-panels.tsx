/** The other parts of the drain board: health, evictions, budgets, machines by phase. */
import { listed } from '../../domain/text.ts';
import type { BudgetCard } from '../../view/board/budget-card.ts';
import type { EvictionCard } from '../../view/board/eviction-card.ts';
import type { PhaseMachines } from '../../view/board/drain-board.ts';
import type { HealthCard } from '../../view/board/health.ts';
import { duration } from '../../view/duration.ts';
import { CardHeader } from './card-header.tsx';
import { nowMs } from './feed.ts';
import { Name } from './name.tsx';
import { counted } from './names.ts';
import { addressWith } from './route.ts';
import { Command, VerdictLines } from './verdict-lines.tsx';
import { splitChange } from './names.ts';

const addressOf = (id: string): string =>
  addressWith({ kind: id.split('/')[0] ?? '', actor: id, search: '', state: '' });

/** The session and the lease in one line each. */
export const HealthStrip = ({ health }: { readonly health: readonly HealthCard[] }) => (
  <ul class='health' aria-label='Health'>
    {health.map(({ id, label, severity, status }) => (
      <li key={id} class={severity.toLowerCase()}>
        <a href={addressOf(id)}>
          <b>{label}</b> {status}
        </a>
      </li>
    ))}
  </ul>
);

/** Something all drains depend on that needs a person. */
export const HealthCardView = ({ card }: { readonly card: HealthCard }) => (
  <article class={`card ${card.severity.toLowerCase()}`}>
    <CardHeader
      href={addressOf(card.id)}
      item={card.id}
      text={card.label}
      command={card.command}
    >
      <span class='badge'>{card.status}</span>
      <span class='deadline'>for {duration(nowMs.value - card.sinceMs)}</span>
    </CardHeader>
    {card.verdict !== null && <VerdictLines verdict={card.verdict} />}
  </article>
);

const SOCKETS_MAX = 20;
const REQUESTERS_MAX = 3;

const Sockets = ({ slots, used }: Pick<BudgetCard, 'slots' | 'used'>) => (
  <div
    class='sockets'
    role='img'
    aria-label={`${slots - used} of ${counted(slots, 'slot')} free`}
  >
    {slots === 0 && <i class='socket never' title='no slot, ever' />}
    {Array.from(
      { length: Math.min(slots, SOCKETS_MAX) },
      (_, at) => <i key={at} class={at < used ? 'socket used' : 'socket'} />,
    )}
    {slots > SOCKETS_MAX && <span class='more'>+{slots - SOCKETS_MAX}</span>}
  </div>
);

const Queue = ({ card }: { readonly card: BudgetCard }) => (
  <div class='dots' role='img' aria-label={`Queue: ${counted(card.queued, 'pod')}`}>
    {card.queue.map(({ key, node }) => (
      <i
        key={key}
        class={card.severity === 'Blocked' ? 'dot blocked' : 'dot waiting'}
        title={`${key} on ${node}`}
      />
    ))}
    {card.queued > card.queue.length && <span class='more'>+{card.queued - card.queue.length}
    </span>}
  </div>
);

const queueText = ({ queued, queuedNodes }: BudgetCard): string =>
  queued === 0
    ? 'no pod waits'
    : `${counted(queued, 'pod')} of ${counted(queuedNodes, 'node')} wait`;

/** A budget: its slots as sockets, its queue as pods. */
export const BudgetCardView = ({ card }: { readonly card: BudgetCard }) => {
  const { command } = splitChange(card.change);
  return (
    <article class={`card small ${card.severity.toLowerCase()}`}>
      <CardHeader
        href={addressOf(card.id)}
        item={card.key}
        text={card.key}
        command={card.command}
      >
        <span class='deadline'>{card.healthy} healthy, {card.required} required</span>
      </CardHeader>
      <div class='slots'>
        <Sockets slots={card.slots} used={card.used} />
        <Queue card={card} />
      </div>
      <p class='count'>
        {card.slots === 0
          ? 'no slot'
          : `${card.slots - card.used} of ${counted(card.slots, 'slot')} free`}
        {', '}
        {queueText(card)}
      </p>
      {card.sentence !== '' && <p class='sentence'>{card.sentence}</p>}
      {command !== '' && <Command text={command} />}
    </article>
  );
};

const turnText = ({ active, next, requesters }: EvictionCard): string =>
  [
    ...(active === null ? [] : [`asked: ${active}`]),
    ...(next === null ? [] : [`next: ${next}`]),
    `requested by ${listed(requesters, REQUESTERS_MAX)}`,
  ].join(', ');

/** An open EvictionRequest: who is asked, who is next, and when the hand-over comes. */
export const EvictionCardView = ({ card }: { readonly card: EvictionCard }) => (
  <article class={`card ${card.severity.toLowerCase()}`}>
    <CardHeader
      href={addressOf(card.id)}
      item={card.key}
      text={card.key}
      command={card.command}
    >
      <span class='badge'>{card.situation}</span>
      <span class='deadline'>
        {card.handOverMs === null
          ? `for ${duration(nowMs.value - card.sinceMs)}`
          : `hand-over in ${duration(card.handOverMs - nowMs.value)}`}
      </span>
    </CardHeader>
    <VerdictLines verdict={card.verdict} />
    <p class='count'>{turnText(card)}</p>
  </article>
);

const isEmpty = ({ count }: PhaseMachines): boolean => count === 0;

/** Machines by phase, in the order of their life. Those at rest have no actor after a restart. */
export const Phases = ({ machines }: { readonly machines: readonly PhaseMachines[] }) =>
  machines.every(isEmpty)
    ? <p class='more'>No machine has changed lately.</p>
    : <PhaseList machines={machines} />;

const PhaseList = ({ machines }: { readonly machines: readonly PhaseMachines[] }) => (
  <ol class='phases'>
    {machines.map(({ phase, count, names }) => (
      <li key={phase} class={count === 0 ? 'none' : phase.toLowerCase()}>
        <span class='phase'>{phase}</span>
        <span class='number'>{count.toLocaleString('en')}</span>
        {count > 0 && (
          <span class='names'>
            {names.map((name) => (
              <a key={name} href={addressOf(`upcomingNode/${name}`)}>
                <Name text={name} />
              </a>
            ))}
            {count > names.length && <span class='more'>and {count - names.length} more</span>}
          </span>
        )}
      </li>
    ))}
  </ol>
);
