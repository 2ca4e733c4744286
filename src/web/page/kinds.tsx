/** The machines of the process, each with its number of actors. */
import { computed } from '@preact/signals';
import { catalogue, rows } from './feed.ts';
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

/** The list on the left. */
export const Kinds = () => {
  const names = Object.keys(catalogue.value.machines);
  const all = [...counts.value.values()].reduce((sum, count) => sum + count, 0);
  return (
    <nav class='kinds' aria-label='Machines'>
      <ul>
        <Kind name='' label='everything' count={all} />
        {names.map((name) => (
          <Kind key={name} name={name} label={spoken(name)} count={counts.value.get(name) ?? 0} />
        ))}
      </ul>
    </nav>
  );
};
