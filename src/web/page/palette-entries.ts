/** What the command palette offers for a text: views first, then actors. */

/** A place to go. */
export interface PaletteEntry {
  readonly label: string;
  /** What kind of thing it is. */
  readonly kind: string;
  /** The lifecycle; empty for the drain board. */
  readonly lifecycle: string;
  /** The id of the actor; empty for a view. */
  readonly actor: string;
}

/** An actor to find. */
export interface FindableActor {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly status: string;
}

const ENTRIES_MAX = 12;

const wordsOf = (query: string): readonly string[] =>
  query.toLowerCase().split(/\s+/).filter((word) => word !== '');

/** The entries for a text; each word must be in the label or the kind. */
export const paletteEntries = (
  query: string,
  lifecycles: readonly { readonly name: string; readonly label: string }[],
  actors: Iterable<FindableActor>,
): readonly PaletteEntry[] => {
  const words = wordsOf(query);
  const fits = (text: string): boolean => words.every((word) => text.toLowerCase().includes(word));
  const views: readonly PaletteEntry[] = [
    { label: 'Drain board', kind: 'view', lifecycle: '', actor: '' },
    ...lifecycles.map(({ name, label }) => ({
      label,
      kind: 'lifecycle',
      lifecycle: name,
      actor: '',
    })),
  ];
  const found = views.filter(({ label, kind }) => fits(`${kind} ${label}`));
  if (words.length === 0) return found;
  for (const { id, kind, name, status } of actors) {
    if (found.length >= ENTRIES_MAX) break;
    if (status !== 'active' || !fits(`${kind} ${name}`)) continue;
    const label = lifecycles.find((one) => one.name === kind)?.label ?? kind;
    found.push({ label: name, kind: label, lifecycle: kind, actor: id });
  }
  return found.slice(0, ENTRIES_MAX);
};
