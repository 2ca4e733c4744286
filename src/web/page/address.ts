/**
 * The current view as an address: `#/nodeDrain`, `#/nodeDrain/node-1`,
 * `#/nodeDrain?search=node&state=work.drained`.
 */

/** The current view. */
export interface Route {
  /** A machine of the catalogue; empty for all of them. */
  readonly kind: string;
  /** An actor by its id; empty for none. */
  readonly actor: string;
  readonly search: string;
  /** Only actors in this state; empty for any. */
  readonly state: string;
}

/** The route of an address. */
export const routeIn = (hash: string): Route => {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  const asked = new URLSearchParams(query);
  const [kind = '', ...name] = path.split('/').map(decodeURIComponent);
  const single = asked.has('actor');
  return {
    kind,
    actor: name.length > 0 ? `${kind}/${name.join('/')}` : single ? kind : '',
    search: asked.get('search') ?? '',
    state: asked.get('state') ?? '',
  };
};

/** The address of a route. */
export const addressOf = ({ kind, actor, search, state }: Route): string => {
  const asked = new URLSearchParams();
  if (search !== '') asked.set('search', search);
  if (state !== '') asked.set('state', state);
  if (actor !== '' && !actor.includes('/')) asked.set('actor', '');
  const path = (actor === '' ? kind : actor).split('/').map(encodeURIComponent).join('/');
  const query = asked.toString().replace(/=(?=&|$)/g, '');
  return `#/${path}${query === '' ? '' : `?${query}`}`;
};
