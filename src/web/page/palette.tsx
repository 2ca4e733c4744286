/** The command palette: Control-K, a few letters, Enter. */
import { computed, signal, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { catalogue, rows } from './feed.ts';
import { Name } from './name.tsx';
import { nextPlace } from './names.ts';
import { paletteEntries, type PaletteEntry } from './palette-entries.ts';
import { go } from './route.ts';
import { spoken } from './words.ts';

const isOpen = signal(false);
const query = signal('');
const place = signal(0);

const entries = computed((): readonly PaletteEntry[] => {
  if (!isOpen.value) return [];
  const lifecycles = Object.keys(catalogue.value.machines)
    .map((name) => ({ name, label: spoken(name) }));
  return paletteEntries(query.value, lifecycles, rows.value);
});

/** Opens the palette. */
export const openPalette = (): void => {
  query.value = '';
  place.value = 0;
  isOpen.value = true;
};

const choose = (entry: PaletteEntry | undefined): void => {
  isOpen.value = false;
  if (entry === undefined) return;
  const { lifecycle, actor } = entry;
  go({ kind: lifecycle, actor, search: '', state: '' });
};

const onKey = (event: KeyboardEvent): void => {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : undefined;
  if (step === undefined && event.key !== 'Enter') return;
  event.preventDefault();
  if (step === undefined) choose(entries.value[place.value]);
  else place.value = nextPlace(entries.value.length, place.value, step);
  document.querySelector(`#palette-${place.value}`)?.scrollIntoView({ block: 'nearest' });
};

const Options = () => (
  <ul id='palette-entries' role='listbox' aria-label='Places'>
    {entries.value.map((entry, at) => (
      <li
        key={`${entry.lifecycle} ${entry.actor}`}
        id={`palette-${at}`}
        role='option'
        aria-selected={at === place.value}
        onClick={() => choose(entry)}
      >
        <Name text={entry.label} /> <span class='of'>{entry.kind}</span>
      </li>
    ))}
  </ul>
);

const Hints = () => (
  <p class='hints'>
    {entries.value.length === 0 ? 'Nothing has this name. ' : (
      <>
        <kbd>↑</kbd> <kbd>↓</kbd> choose, <kbd>Enter</kbd> opens,{' '}
      </>
    )}
    <kbd>Esc</kbd> closes
  </p>
);

/** The palette, invisible until it is opened. */
export const Palette = () => {
  const dialog = useRef<HTMLDialogElement>(null);
  useSignalEffect(() => {
    if (isOpen.value) dialog.current?.showModal();
    else dialog.current?.close();
  });
  return (
    <dialog
      class='palette'
      ref={dialog}
      aria-label='Go to'
      onClose={() => {
        isOpen.value = false;
      }}
    >
      <input
        type='text'
        role='combobox'
        aria-label='A view, or the name of an actor'
        placeholder='A view, or the name of an actor'
        aria-controls='palette-entries'
        aria-expanded='true'
        aria-activedescendant={`palette-${place.value}`}
        value={query.value}
        onKeyDown={onKey}
        onInput={({ currentTarget }) => {
          query.value = currentTarget.value;
          place.value = 0;
        }}
      />
      <Options />
      <Hints />
    </dialog>
  );
};
