/**
 * The drain board: what is stuck, why, and who can act, on the first screen.
 *
 * Promises: what needs a person comes first; the window's title and icon follow it.
 */
import type { ComponentChildren } from 'preact';
import { effect } from '@preact/signals';
import type { DrainBoard } from '../../view/board/drain-board.ts';
import {
  BudgetCardView,
  EvictionCardView,
  HealthCardView,
  HealthStrip,
  Phases,
} from './board-panels.tsx';
import { catalogue, connection, home, liveHome } from './feed.ts';
import { counted, severityIcon, windowTitle } from './names.ts';
import { NodeCardView } from './node-card.tsx';

const Section = ({ title, class: name = '', children }: {
  readonly title: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}) => (
  <section class={`part ${name}`}>
    <h2>{title}</h2>
    <div class='cards'>{children}</div>
  </section>
);

const isUrgent = ({ severity }: { readonly severity: string }): boolean =>
  severity === 'Blocked' || severity === 'Failed';

const headline = ({ needsPerson, draining }: DrainBoard): string => {
  const moving = draining === 0
    ? 'No node drains'
    : `${counted(draining, 'node')} ${draining === 1 ? 'drains' : 'drain'}`;
  return needsPerson === 0
    ? `${moving}. No action needed.`
    : `${counted(needsPerson, 'problem')} ${needsPerson === 1 ? 'needs' : 'need'} a person. ` +
      `${moving}.`;
};

/** What drains, and what has drained. */
const Drains = ({ board }: { readonly board: DrainBoard }) => {
  const urgent = board.drains.filter(isUrgent);
  const moving = board.drains.filter((card) => !isUrgent(card));
  const problems = board.health.filter(isUrgent);
  const stuck = board.evictions.filter(isUrgent);
  const asked = board.evictions.filter((card) => !isUrgent(card));
  return (
    <div class='column'>
      {urgent.length + problems.length + stuck.length > 0 && (
        <Section title='Needs a person' class='urgent'>
          {problems.map((card) => <HealthCardView key={card.id} card={card} />)}
          {urgent.map((card) => <NodeCardView key={card.id} card={card} />)}
          {stuck.map((card) => <EvictionCardView key={card.id} card={card} />)}
        </Section>
      )}
      {moving.length > 0 && (
        <Section title='Draining'>
          {moving.map((card) => <NodeCardView key={card.id} card={card} />)}
        </Section>
      )}
      {board.drainsLeftOut > 0 && (
        <p class='more'>and {counted(board.drainsLeftOut, 'more drain')}</p>
      )}
      {asked.length > 0 && (
        <Section title='Requested evictions'>
          {asked.map((card) => <EvictionCardView key={card.id} card={card} />)}
        </Section>
      )}
      {board.evictionsLeftOut > 0 && (
        <p class='more'>and {counted(board.evictionsLeftOut, 'more requested eviction')}</p>
      )}
      {board.ended.length > 0 && (
        <Section title='Ended' class='dense'>
          {board.ended.map((card) => <NodeCardView key={card.id} card={card} brief />)}
        </Section>
      )}
    </div>
  );
};

/** What the drains share: budgets, and the machines. */
const Shared = ({ board }: { readonly board: DrainBoard }) => (
  <div class='column'>
    {board.budgets.length > 0 && (
      <Section title='Budgets' class='dense'>
        {board.budgets.map((card) => <BudgetCardView key={card.id} card={card} />)}
      </Section>
    )}
    {board.budgetsLeftOut > 0 && (
      <p class='more'>and {counted(board.budgetsLeftOut, 'more budget')}</p>
    )}
    <section class='part'>
      <h2>Machines that changed lately</h2>
      <Phases machines={board.machines} />
    </section>
  </div>
);

/** The first page. */
export const Home = () => {
  const board = home.value;
  if (board === undefined) return <p class='board' aria-busy='true'>Connecting …</p>;
  const hasDrains = board.drains.length + board.ended.length + board.evictions.length > 0 ||
    board.health.some(isUrgent);
  return (
    <div class='board'>
      <p class={`headline ${board.severity.toLowerCase()}`} role='status'>{headline(board)}</p>
      <HealthStrip health={board.health} />
      <div class={hasDrains ? 'columns' : 'columns single'}>
        {hasDrains && <Drains board={board} />}
        <Shared board={board} />
      </div>
    </div>
  );
};

/** Keeps the title and the icon of the window current. */
export const followSeverity = (): void => {
  effect(() => {
    document.title = windowTitle(catalogue.value.title, liveHome.value?.needsPerson ?? 0);
  });
  effect(() => {
    const severity = connection.value === 'live' ? liveHome.value?.severity ?? '' : '';
    document.querySelector<HTMLLinkElement>('link[rel=icon]')?.setAttribute(
      'href',
      severityIcon(severity),
    );
  });
};
