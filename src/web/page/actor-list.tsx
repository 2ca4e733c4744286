/**
 * The list of matching actors; only visible rows are drawn, so that ten thousand cost no more than
 * thirty.
 */
import { computed, signal } from '@preact/signals';
import { kubectlCommand } from '../../view/board/board-verdict.ts';
import { duration } from '../../view/duration.ts';
import { nowMs, reasonOf, type Row, rows } from './feed.ts';
import { Name } from './name.tsx';
import { addressWith, replaceRoute, route } from './route.ts';
import { span, spoken, statesText } from './words.ts';

const ROW_PX = 44;
const AROUND = 6;

type Order = 'newest' | 'longest' | 'name';

const order = signal<Order>('newest');
const scrolled = signal({ top: 0, height: 800 });

const ORDERS: Readonly<Record<Order, (left: Row, right: Row) => number>> = {
  newest: (left, right) => right.sinceMs - left.sinceMs,
  longest: (left, right) => left.sinceMs - right.sinceMs,
  name: (left, right) => (left.id < right.id ? -1 : 1),
};

const isOrder = (text: string): text is Order => Object.hasOwn(ORDERS, text);

/** True when the actor is in the state, or in a child of it. */
const isIn = ({ states }: Row, state: string): boolean =>
  states.some((path) => path === state || path.startsWith(`${state}.`));

const matches = ({ kind, state, search }: typeof route.value) => {
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== '');
  return (row: Row): boolean =>
    (kind === '' || row.kind === kind) && (state === '' || isIn(row, state)) &&
    words.every((word) =>
      row.id.toLowerCase().includes(word) || row.name.toLowerCase().includes(word) ||
      reasonOf(row).toLowerCase().includes(word) ||
      row.status === word || row.states.some((path) => path.toLowerCase().includes(word))
    );
};

const wanted = computed(() =>
  rows.value.filter(matches(route.value)).toSorted(ORDERS[order.value])
);

const Line = ({ row, at }: { readonly row: Row; readonly at: number }) => (
  <li class='line' style={{ top: `${at * ROW_PX}px` }}>
    <a
      href={addressWith({ actor: row.id, kind: row.kind })}
      aria-current={route.value.actor === row.id ? 'true' : undefined}
      data-item={row.name}
      data-command={kubectlCommand(row)}
      class={row.status === 'active' ? undefined : 'over'}
    >
      <span class='half'>
        <span class='name'>
          {route.value.kind === '' && <span class='of'>{spoken(row.kind)}</span>}
          <Name text={row.name} />
        </span>
        <span class='age'>{span(nowMs.value - row.sinceMs, duration)}</span>
      </span>
      <span class='half'>
        <span class='states' title={row.states.join(' ')}>
          {row.status === 'active' || row.status === 'done' ? '' : `${row.status} in `}
          {statesText(row.states)}
        </span>
        {reasonOf(row) !== '' && <span class='reason'>{reasonOf(row)}</span>}
      </span>
    </a>
  </li>
);

const Found = () => {
  const { top, height } = scrolled.value;
  const first = Math.max(0, Math.floor(top / ROW_PX) - AROUND);
  const visible = wanted.value.slice(first, first + Math.ceil(height / ROW_PX) + 2 * AROUND);
  return (
    <ul style={{ height: `${wanted.value.length * ROW_PX}px` }}>
      {visible.map((row, at) => <Line key={row.id} row={row} at={first + at} />)}
    </ul>
  );
};

/** The search over all actors, on every view. */
export const SearchField = () => (
  <form
    class='search'
    role='search'
    onSubmit={(event) => event.preventDefault()}
  >
    <input
      type='search'
      aria-label='Search by name, state or reason'
      placeholder='Name, state or reason ( / )'
      value={route.value.search}
      onInput={({ currentTarget }) => replaceRoute({ search: currentTarget.value })}
    />
  </form>
);

const Filters = () => (
  <div class='filters'>
    <select
      aria-label='Order'
      value={order.value}
      onChange={({ currentTarget: { value } }) => {
        if (isOrder(value)) order.value = value;
      }}
    >
      <option value='newest'>changed last</option>
      <option value='longest'>longest in its state</option>
      <option value='name'>by name</option>
    </select>
  </div>
);

/** The list with its search. */
export const ActorList = () => (
  <section class='actors' aria-label='Actors'>
    <Filters />
    <p class='found' role='status'>
      {wanted.value.length.toLocaleString('en')} {wanted.value.length === 1 ? 'actor' : 'actors'}
      {route.value.state !== '' && (
        <>
          {' in '}
          <b>{route.value.state}</b> <a href={addressWith({ state: '' })}>any state</a>
        </>
      )}
    </p>
    <div
      class='scroll'
      tabIndex={0}
      role='region'
      aria-label='Actors found'
      onScroll={({ currentTarget: { scrollTop, clientHeight } }) => {
        scrolled.value = { top: scrollTop, height: clientHeight };
      }}
    >
      <Found />
    </div>
  </section>
);
