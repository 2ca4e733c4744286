/** The page: machines on the left, the drawing in the middle, actors on the right. */
import { render } from 'preact';
import { ActorList } from './actor-list.tsx';
import { ActorPanel } from './actor-panel.tsx';
import { Chart } from './chart.tsx';
import { catalogue, connection, follow } from './feed.ts';
import { Kinds } from './kinds.tsx';
import { go, route } from './route.ts';

const CONNECTION_TEXT = {
  connecting: 'connecting',
  live: 'live',
  lost: 'no answer; reconnecting',
} as const;

const Head = () => (
  <header class='head'>
    <h1>{catalogue.value.title}</h1>
    <p class={`connection ${connection.value}`} role='status'>
      {CONNECTION_TEXT[connection.value]}
    </p>
  </header>
);

const Page = () => (
  <div class={route.value.actor === '' ? 'page' : 'page focused'}>
    <Head />
    <Kinds />
    <main>
      <Chart />
    </main>
    <ActorList />
    <ActorPanel />
  </div>
);

/** `/` focuses the search, Escape closes the panel. */
addEventListener('keydown', (event) => {
  if (event.target instanceof HTMLInputElement) return;
  if (event.key === '/') {
    event.preventDefault();
    document.querySelector<HTMLInputElement>('input[type=search]')?.focus();
  }
  if (event.key === 'Escape' && route.value.actor !== '') go({ actor: '' });
});

const place = document.querySelector('#page');
if (place !== null) render(<Page />, place);
void follow();
