/** The page: views on the left, the drain board or a chart beside them, actors on the right. */
import { render } from 'preact';
import { ActorList, SearchField } from './actor-list.tsx';
import { ActorPanel } from './actor-panel.tsx';
import { Chart } from './chart.tsx';
import { notice } from './clipboard.ts';
import { catalogue, connection, follow } from './feed.ts';
import { followPast } from './history.ts';
import { followSeverity, Home } from './home.tsx';
import { Kinds } from './kinds.tsx';
import { Palette } from './palette.tsx';
import { past } from './past.ts';
import { addressWith, route } from './route.ts';
import { Scrubber } from './scrubber.tsx';
import { followKeys } from './shortcuts.ts';

const CONNECTION_TEXT = {
  connecting: 'connecting',
  live: 'live',
  lost: 'no answer; reconnecting',
} as const;

const connectionText = (): string =>
  past.value === undefined || connection.value === 'lost'
    ? CONNECTION_TEXT[connection.value]
    : 'in the past';

const Head = () => (
  <header class='head'>
    <h1>
      <a href={addressWith({ kind: '', actor: '', search: '', state: '' })}>
        {catalogue.value.title}
      </a>
    </h1>
    <p class={`connection ${connection.value}`} role='status'>
      {connectionText()}
    </p>
    <SearchField />
    <Scrubber />
  </header>
);

const Notice = () => <p class='notice' role='status'>{notice.value}</p>;

const layout = (): string => {
  const { kind, actor, search, state } = route.value;
  const isHome = kind === '' && actor === '';
  const hasList = !isHome || search !== '' || state !== '';
  return ['page', isHome ? 'at-home' : '', hasList ? 'listed' : '', actor === '' ? '' : 'focused']
    .filter((name) => name !== '').join(' ');
};

const Page = () => {
  const name = layout();
  return (
    <div class={name}>
      <Head />
      <Kinds />
      <main>{name.includes('at-home') ? <Home /> : <Chart />}</main>
      {name.includes('listed') && <ActorList />}
      <ActorPanel />
      <Notice />
      <Palette />
    </div>
  );
};

const place = document.querySelector('#page');
if (place !== null) render(<Page />, place);
followKeys();
followSeverity();
followPast();
follow();
