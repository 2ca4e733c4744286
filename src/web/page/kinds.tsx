/** The drain board, and the lifecycles of the process, each with its number of actors. */
import { computed } from '@preact/signals';
import { catalogue, home, rows } from './feed.ts';
import { addressWith, route } from './route.ts';
import { spoken } from './words.ts';

const counts = computed(() => {
  const active = new Map<string, number>();
  for (const { kind, status } of rows.value) {
    if (status === 'active') active.set(kind, (active.get(kind) ?? 0) + 1);
  }
  return active;
});

const Kind = ({ name, label, count }: {
  readonly name: string;
  readonly label: string;
  readonly count: number;
}) => (
  <li>
    <a
      href={addressWith({ kind: name, actor: '', state: '' })}
      aria-current={route.value.kind === name ? 'page' : undefined}
      class={count === 0 ? 'kind idle' : 'kind'}
    >
      <span>{label}</span>
      <span class='count'>{count.toLocaleString('en')}</span>
    </a>
  </li>
);

const HomeLink = () => {
  const urgent = home.value?.needsPerson ?? 0;
  return (
    <a
      href={addressWith({ kind: '', actor: '', search: '', state: '' })}
      aria-current={route.value.kind === '' ? 'page' : undefined}
      class='kind'
    >
      <span>Drain board</span>
      {urgent > 0 && <span class='count urgent'>{urgent}</span>}
    </a>
  );
};

/** The list on the left. */
export const Kinds = () => (
  <nav class='kinds' aria-label='Views'>
    <HomeLink />
    <h2 id='lifecycles'>Lifecycles</h2>
    <ul aria-labelledby='lifecycles'>
      {Object.keys(catalogue.value.machines).map((name) => (
        <Kind key={name} name={name} label={spoken(name)} count={counts.value.get(name) ?? 0} />
      ))}
    </ul>
  </nav>
);
